// SPDX-License-Identifier: Apache-2.0
// Every model of the pack at a small size: it learns, and the same seed gives the same run.
#include "engine/observe/context.h"
#include "plugins/models/register.h"
#include "plugins/models/shapes_data.h"
#include "plugins/models/text_data.h"
#include "tests/engine/data/temp_file.h"

#include <cmath>
#include <gtest/gtest.h>
#include <map>

namespace tapescope::plugins {
namespace {

using namespace engine;
using Given = std::vector<std::pair<std::string, std::string>>;

struct Scalars final : RunLog {
    void scalar(std::string_view tag, std::int64_t, double value) override {
        values[std::string(tag)].push_back(value);
    }
    void histogram(std::string_view, std::int64_t, const Tensor&) override { ++histograms; }
    void text(std::string_view line) override { lines.emplace_back(line); }
    bool wantsHistograms(std::int64_t step) const override { return step == 1; }
    std::map<std::string, std::vector<double>> values;
    std::vector<std::string> lines;
    int histograms = 0;
};

const ModelRegistry& models() {
    static const ModelRegistry registry = [] {
        ModelRegistry r;
        registerModelPack(r);
        return r;
    }();
    return registry;
}

struct Small {
    std::string name;
    Given settings;
    std::int64_t steps;
    double falls;  ///< the last losses' mean over the first ones'
    std::string metric;
};

const Small kSmall[] = {
    {"lenet", {{"batch", "32"}}, 30, 0.8, "val/accuracy"},
    {"resnet18", {{"width", "4"}, {"image", "8"}, {"batch", "16"}}, 14, 0.95, "val/accuracy"},
    {"resnet50", {{"width", "4"}, {"image", "8"}, {"batch", "16"}}, 14, 0.98, "val/accuracy"},
    {"gpt",
     {{"layers", "2"}, {"width", "32"}, {"context", "16"}, {"batch", "8"}},
     40,
     0.9,
     "val/bits_per_letter"},
    {"lstm-lm", {{"width", "32"}, {"length", "16"}, {"batch", "8"}}, 40, 0.95, "val/perplexity"},
    {"bert", {{"layers", "1"}, {"length", "24"}, {"batch", "8"}}, 40, 0.95, "val/accuracy"},
    {"unet", {{"width", "4"}, {"image", "16"}, {"batch", "4"}}, 50, 0.8, "val/iou"},
    {"vae", {{"width", "32"}, {"latent", "4"}}, 40, 0.9, "val/rebuild"},
    {"gan", {{"width", "32"}}, 20, 10, "val/variety"},
    {"detector", {{"width", "4"}, {"image", "16"}, {"batch", "4"}}, 25, 0.8, "val/recall"},
};

Scalars run(const Small& small, std::uint64_t seed, std::int64_t steps) {
    Context context;
    const ContextScope scope(context);
    context.generator().manual_seed(seed);
    const ModelEntry& entry = models().find(small.name);
    const auto program =
        entry.create({.settings = Settings::resolve(entry.settings, small.settings),
                      .dataDir = {},
                      .steps = small.steps});
    Scalars log;
    for (std::int64_t step = 0; step < steps; ++step) program->trainStep(step, log);
    program->validate(steps - 1, log);
    program->trainStep(steps, log);  // as the validation left it
    return log;
}

double meanOf(const std::vector<double>& values, std::size_t from, std::size_t to) {
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) sum += values[i];
    return sum / static_cast<double>(to - from);
}

class Zoo : public ::testing::TestWithParam<Small> {};

TEST_P(Zoo, LossFalls) {
    const Small& small = GetParam();
    const Scalars log = run(small, 0, small.steps);
    const std::vector<double>& loss = log.values.at("train/loss");
    ASSERT_EQ(loss.size(), static_cast<std::size_t>(small.steps) + 1);
    for (const double value : loss) ASSERT_TRUE(std::isfinite(value));
    const double first = meanOf(loss, 0, 3);
    const double last = meanOf(loss, loss.size() - 4, loss.size());
    EXPECT_LT(last, small.falls * first);
    ASSERT_TRUE(log.values.contains(small.metric));
    EXPECT_TRUE(std::isfinite(log.values.at(small.metric)[0]));
    EXPECT_TRUE(log.values.contains("lr"));
    EXPECT_GT(log.histograms, 0);
}

TEST_P(Zoo, SameSeedSameRun) {
    const Scalars one = run(GetParam(), 7, 3);
    const Scalars two = run(GetParam(), 7, 3);
    const Scalars other = run(GetParam(), 8, 3);
    EXPECT_EQ(one.values, two.values);
    EXPECT_EQ(one.lines, two.lines);
    EXPECT_NE(one.values.at("train/loss"), other.values.at("train/loss"));
}

std::string testName(const ::testing::TestParamInfo<Small>& parameter) {
    std::string name = parameter.param.name;
    std::erase(name, '-');
    return name;
}
INSTANTIATE_TEST_SUITE_P(Models, Zoo, ::testing::ValuesIn(kSmall), testName);

TEST(ZooSizes, AreThePapers) {
    Context context;
    const ContextScope scope(context);
    const auto parametersOf = [](const char* name, const Given& settings) {
        const ModelEntry& entry = models().find(name);
        const auto program = entry.create(
            {.settings = Settings::resolve(entry.settings, settings), .dataDir = {}, .steps = 1});
        std::int64_t count = 0;
        for (const Tensor& parameter : program->model().parameters()) count += parameter.numel();
        return count;
    };
    // torchvision's 11,689,512 and 25,557,032 with one channel in, ten classes out.
    const Given paper{{"width", "64"}, {"stem", "imagenet"}};
    EXPECT_EQ(parametersOf("resnet18", paper), 11689512 - 2 * 3136 - 990 * 513);
    EXPECT_EQ(parametersOf("resnet50", paper), 25557032 - 2 * 3136 - 990 * 2049);
    EXPECT_EQ(parametersOf("lenet", {}), 61706);
    // Twelve layers of 768: BERT-base's 85,054,464 numbers, and letters instead of word pieces.
    const std::int64_t encoder = 85054464;
    const std::int64_t letters = 28 * 768 + 64 * 768 + 2 * 768;
    const std::int64_t head = 768 * 769 + 2 * 768 + 27 * 769;
    EXPECT_EQ(parametersOf("bert", {{"size", "base"}}), encoder + letters + head);
}

TEST(ZooErrors, NameTheRemedy) {
    const auto messageOf = [](const char* name, const Given& settings,
                              const std::optional<std::string>& dir = {}) {
        try {
            Context context;
            const ContextScope scope(context);
            const ModelEntry& entry = models().find(name);
            (void)entry.create({.settings = Settings::resolve(entry.settings, settings),
                                .dataDir = dir,
                                .steps = 1});
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string("nothing was thrown");
    };
    EXPECT_NE(messageOf("unet", {{"image", "18"}}).find("multiple of 4"), std::string::npos);
    EXPECT_NE(messageOf("resnet18", {{"image", "12"}}).find("multiple"), std::string::npos);
    EXPECT_NE(messageOf("gpt", {{"heads", "5"}}).find("choose a multiple"), std::string::npos);
    const data::TempFile few("words.txt", "only\ntwo\n");
    EXPECT_NE(messageOf("gpt", {}, few.dir()).find("only 2 words"), std::string::npos);
    const data::TempFile none("other.txt", "");
    EXPECT_NE(messageOf("bert", {}, none.dir()).find("words.txt.gz"), std::string::npos);
}

TEST(CharText, ReadsWordsAndKeepsATenthBack) {
    std::string words;
    for (int i = 0; i < 300; ++i)
        words += std::string(1, static_cast<char>('a' + i % 26)) + "Ma\nö\nx's\n";
    const data::TempFile file("words.txt", words);
    Generator generator(1);
    const CharText text = CharText::load(file.dir(), generator);
    EXPECT_EQ(text.size(), 300 * 4);
    const auto [input, target] = text.training(5, 8, generator);
    EXPECT_EQ(input.sizes(), (Dims{5, 8}));
    const auto in = input.to_vector<std::int64_t>();
    const auto out = target.to_vector<std::int64_t>();
    for (std::size_t i = 0; i + 1 < 8; ++i) EXPECT_EQ(out[i], in[i + 1]);
    EXPECT_EQ(text.heldBack(3, 8).input.to_vector(), text.heldBack(3, 8).input.to_vector());
    EXPECT_THROW(text.training(1, 5000, generator), DataError);
    EXPECT_EQ(CharText::decode({1, 26, 0, 2}), "az b");
}

TEST(Shapes, FillTheirBoxes) {
    Generator generator(4);
    const ShapeBatch shapes = drawShapes(6, 32, generator);
    const std::vector<std::int64_t> classes = shapes.classes.to_vector<std::int64_t>();
    for (std::size_t n = 0; n < 6; ++n) {
        ASSERT_FALSE(shapes.boxes[n].empty());
        for (const ShapeBox& box : shapes.boxes[n]) {
            const auto x = static_cast<std::size_t>((box.left + box.right) / 2);
            const auto y = static_cast<std::size_t>((box.top + box.bottom) / 2);
            EXPECT_EQ(classes[n * 1024 + y * 32 + x], box.kind);
            EXPECT_GE(box.left, 0);
            EXPECT_LE(box.bottom, 32);
        }
    }
    EXPECT_THROW(drawShapes(1, 8, generator), Error);
}

}  // namespace
}  // namespace tapescope::plugins
