// SPDX-License-Identifier: Apache-2.0
#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/op_def.h"
#include "plugins/models/datasets.h"
#include "plugins/models/embedded.h"
#include "plugins/models/register.h"
#include "tests/engine/data/temp_file.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sstream>

namespace tapescope::plugins {
namespace {

using namespace engine;
using engine::data::gzipped;
using engine::data::idxHeader;
using engine::data::TempFile;

struct Kept final : RunLog {
    void scalar(std::string_view tag, std::int64_t, double value) override {
        scalars[std::string(tag)].push_back(value);
    }
    void histogram(std::string_view tag, std::int64_t, const Tensor& values) override {
        histograms.insert(std::string(tag));
        EXPECT_GT(values.numel(), 0);
    }
    void text(std::string_view) override {}
    bool wantsHistograms(std::int64_t step) const override { return step == 1; }
    std::map<std::string, std::vector<double>> scalars;
    std::set<std::string> histograms;
};

const ModelEntry& entryOf(const std::string& name) {
    static const ModelRegistry registry = [] {
        ModelRegistry r;
        registerModelPack(r);
        return r;
    }();
    return registry.find(name);
}

std::unique_ptr<Program> make(const std::string& name,
                              std::vector<std::pair<std::string, std::string>> given,
                              std::int64_t steps, std::optional<std::string> dir = {}) {
    const ModelEntry& entry = entryOf(name);
    return entry.create({.settings = Settings::resolve(entry.settings, given),
                         .dataDir = std::move(dir),
                         .steps = steps});
}

class Models : public ::testing::Test {
protected:
    Context context;
    ContextScope scope{context};
};

TEST_F(Models, DigitsAreTheWholeSetScaledToOne) {
    const data::TensorDataset digits = loadDigits();
    EXPECT_EQ(digits.input().sizes(), (Dims{1797, 1, 8, 8}));
    const std::vector<float> pixels = digits.input().to_vector<float>();
    EXPECT_EQ(*std::min_element(pixels.begin(), pixels.end()), 0);
    EXPECT_EQ(*std::max_element(pixels.begin(), pixels.end()), 1);
    EXPECT_EQ(pixels[2], 5.0F / 16);  // the first line starts 0,0,5
    const std::vector<std::int64_t> labels = digits.target().to_vector<std::int64_t>();
    EXPECT_EQ(labels[0], 0);
    EXPECT_EQ(labels[1], 1);
    EXPECT_EQ(std::count(labels.begin(), labels.end(), 3), 183);
}

TEST_F(Models, CarryTheTextOfTheirSources) {
    for (const char* name : {"digits-mlp", "digits-cnn", "mnist-cnn"}) {
        const ModelEntry& entry = entryOf(name);
        ASSERT_FALSE(entry.sources.empty()) << name;
        for (const EmbeddedFile& file : entry.sources) {
            std::ifstream original(TAPESCOPE_SOURCE_DIR "/" + std::string(file.path),
                                   std::ios::binary);
            std::ostringstream text;
            text << original.rdbuf();
            EXPECT_EQ(file.text, text.str()) << file.path;
        }
    }
    EXPECT_THROW(embeddedFile("no/such/file"), Error);
}

TEST_F(Models, DigitsCnnHasTheModulesBreakpointsName) {
    const auto program = make("digits-cnn", {}, 10);
    const nn::Module& net = program->model();
    ASSERT_NE(net.find("conv2"), nullptr);
    EXPECT_EQ(net.find("conv1")->details(), "1→32, 3×3, padding 1");
    EXPECT_EQ(net.find("conv2")->details(), "32→64, 3×3, padding 1");
    EXPECT_EQ(net.find("conv2")->type_name(), "Conv2d");
    EXPECT_EQ(program->samplesPerStep(), 64);
}

TEST_F(Models, SitesAreLinesOfTheEmbeddedSource) {
    struct Sites final : Observer {
        void onOpEnd(const OpCall& call) override {
            if (call.op->name == "conv2d" && call.module)
                lines[call.module->path] = {call.site.file, call.site.line};
        }
        std::map<std::string, std::pair<std::string, std::uint32_t>> lines;
    } sites;
    const auto program = make("digits-cnn", {{"width", "4"}}, 1);
    Kept log;
    context.addObserver(sites);
    program->trainStep(0, log);
    context.removeObserver(sites);
    ASSERT_TRUE(sites.lines.contains("conv2"));
    EXPECT_EQ(sites.lines["conv2"].first, "plugins/models/digits_cnn.cpp");
    std::istringstream text(std::string(entryOf("digits-cnn").sources[0].text));
    std::string line;
    for (std::uint32_t i = 0; i < sites.lines["conv2"].second; ++i) std::getline(text, line);
    EXPECT_NE(line.find("conv2(x)"), std::string::npos) << line;
}

TEST_F(Models, DigitsCnnLearns) {
    const auto program = make("digits-cnn", {}, 60);
    Kept log;
    for (std::int64_t step = 0; step < 60; ++step) program->trainStep(step, log);
    program->validate(59, log);
    const std::vector<double>& loss = log.scalars["train/loss"];
    ASSERT_EQ(loss.size(), 60U);
    EXPECT_GT(loss[0], 1.5);
    EXPECT_LT(loss[59], 0.3);
    EXPECT_GT(log.scalars["val/accuracy"].at(0), 0.95);
    EXPECT_LT(log.scalars["val/loss"].at(0), 0.3);
    std::set<std::string> tags;
    for (const auto& [tag, values] : log.scalars) tags.insert(tag);
    EXPECT_EQ(tags, (std::set<std::string>{"train/loss", "train/accuracy", "val/loss",
                                           "val/accuracy", "lr"}));
    EXPECT_TRUE(log.histograms.contains("param/conv2.weight"));
    EXPECT_TRUE(log.histograms.contains("grad/conv2.weight"));
}

TEST_F(Models, ScheduleRunsFromTheSettingToZero) {
    Kept log;
    const auto cosine = make("digits-mlp", {{"lr", "0.01"}}, 10);
    for (std::int64_t step = 0; step < 10; ++step) cosine->trainStep(step, log);
    EXPECT_DOUBLE_EQ(log.scalars["lr"].front(), 0.01);
    EXPECT_NEAR(log.scalars["lr"][5], 0.005, 1e-12);
    Kept flat;
    const auto constant = make("digits-mlp", {{"lr", "0.01"}, {"schedule", "constant"}}, 3);
    for (std::int64_t step = 0; step < 3; ++step) constant->trainStep(step, flat);
    EXPECT_EQ(flat.scalars["lr"], (std::vector<double>(3, 0.01)));
}

TEST_F(Models, EveryOptimizerLearns) {
    for (const char* kind : {"adam", "adamw", "sgd"}) {
        const auto program =
            make("digits-mlp",
                 {{"optimizer", kind}, {"lr", kind == std::string("sgd") ? "0.1" : "0.003"}}, 40);
        Kept log;
        for (std::int64_t step = 0; step < 40; ++step) program->trainStep(step, log);
        EXPECT_LT(log.scalars["train/loss"].back(), 0.7 * log.scalars["train/loss"].front())
            << kind;
    }
}

TEST_F(Models, ValidationLeavesTrainingAlone) {
    const auto lossesOf = [&](bool validate) {
        context.generator().manual_seed(9);
        const auto program = make("digits-cnn", {{"width", "4"}}, 6);
        Kept log;
        for (std::int64_t step = 0; step < 6; ++step) {
            program->trainStep(step, log);
            if (validate) program->validate(step, log);
        }
        EXPECT_TRUE(program->model().is_training());
        return log.scalars["train/loss"];
    };
    EXPECT_EQ(lossesOf(true), lossesOf(false));
}

std::string fakeImages(std::uint32_t count) {
    return idxHeader(8, {count, 28, 28}) + std::string(count * 28 * 28, '\x11');
}
std::string fakeLabels(std::uint32_t count) {
    std::string text = idxHeader(8, {count});
    for (std::uint32_t i = 0; i < count; ++i) text += static_cast<char>(i % 10);
    return text;
}

TEST_F(Models, MnistTakesTheOriginalNamesPlainAndGzipped) {
    const TempFile images("train-images-idx3-ubyte", fakeImages(100));
    std::ofstream(images.dir() + "/train-labels-idx1-ubyte.gz", std::ios::binary)
        << gzipped(fakeLabels(100));
    const data::TensorDataset mnist = loadMnist(images.dir());
    EXPECT_EQ(mnist.input().sizes(), (Dims{100, 1, 28, 28}));
    EXPECT_FLOAT_EQ(mnist.input().to_vector<float>()[0], 17.0F / 255);
    EXPECT_EQ(mnist.target().to_vector<std::int64_t>()[13], 3);
    const auto program = make("mnist-cnn", {{"batch", "8"}, {"width", "2"}}, 1, images.dir());
    Kept log;
    program->trainStep(0, log);
    program->validate(0, log);
    EXPECT_EQ(log.scalars["val/accuracy"].size(), 1U);
}

TEST_F(Models, MnistNamesFilesThatDoNotFit) {
    struct Bad {
        const char* what;
        std::string images;
        std::string labels;
        const char* mention;
    };
    const std::vector<Bad> table{
        {"cut images", fakeImages(10).substr(0, 2000), fakeLabels(10),
         "mnist10k-images.idx3-ubyte: is cut off"},
        {"other images", idxHeader(8, {10, 2, 2}) + std::string(40, 'x'), fakeLabels(10),
         "[10, 2, 2]"},
        {"too few labels", fakeImages(10), fakeLabels(9), "10 labels were expected"},
        {"labels of another kind", fakeImages(10), idxHeader(8, {10}) + std::string(10, '\x30'),
         "outside 0 … 9"},
        {"swapped", fakeLabels(10), fakeImages(10), "images [N, 28, 28] were expected"},
    };
    for (const Bad& bad : table) {
        const TempFile images("mnist10k-images.idx3-ubyte", bad.images);
        std::ofstream(images.dir() + "/mnist10k-labels.idx1-ubyte", std::ios::binary) << bad.labels;
        try {
            loadMnist(images.dir());
            FAIL() << bad.what << " was taken";
        } catch (const DataError& e) {
            EXPECT_NE(std::string(e.what()).find(bad.mention), std::string::npos)
                << bad.what << ": " << e.what();
        }
    }
    const TempFile other("notes.txt", "hello");
    EXPECT_THROW(loadMnist(other.dir()), DataError);
    EXPECT_THROW(loadMnist(other.path()), DataError);
    EXPECT_THROW(loadMnist(other.dir() + "/none"), DataError);
}

}  // namespace
}  // namespace tapescope::plugins
