// SPDX-License-Identifier: Apache-2.0
// tests/data/safetensors/make_files.py wrote the file of Python's package.
#include "engine/nn/serialize/safetensors.h"

#include "engine/errors.h"
#include "engine/nn/nn.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "engine/optim/optim.h"
#include "tests/engine/data/temp_file.h"
#include "tests/engine/ops/message_of.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

namespace tapescope::engine::nn {
namespace {

using data::TempFile;
using test::messageOf;

const std::string kPython = TAPESCOPE_TEST_DATA "/safetensors/small.safetensors";

std::string bytesOf(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// A file with this header, however wrong, and so many bytes of data.
std::string fileOf(const std::string& json, std::size_t dataBytes) {
    std::string bytes;
    for (unsigned shift = 0; shift < 64; shift += 8)
        bytes += static_cast<char>(json.size() >> shift & 0xFFU);
    return bytes + json + std::string(dataBytes, '\1');
}

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets +
           "}";
}

TEST(Safetensors, ReadsWhatPythonWrote) {
    const SafetensorsFile file(kPython);
    EXPECT_EQ(file.entries().size(), 7U);
    EXPECT_EQ(file.metadata().at("note"), "line\nbreak");
    EXPECT_EQ(file.load("weight").to_vector<float>(),
              (std::vector<float>{-0.5F, -0.25F, 0, 0.25F, 0.5F, 0.75F}));
    EXPECT_EQ(file.load("weight").sizes(), (Dims{2, 3}));
    EXPECT_EQ(file.load("deep.bias").to_vector(), (std::vector<double>{1e300, -0.0, 2.5}));
    EXPECT_EQ(file.load("index").to_vector<std::int64_t>(),
              (std::vector<std::int64_t>{-1, std::int64_t{1} << 62}));
    EXPECT_EQ(file.load("mask").dtype(), DType::Bool);
    EXPECT_EQ(file.load("mask").to_vector(), (std::vector<double>{1, 0, 1}));
    EXPECT_EQ(file.load("scalar").sizes(), (Dims{}));
    EXPECT_EQ(file.load("scalar").item(), 7.25);
    EXPECT_EQ(file.load("empty").sizes(), (Dims{0, 4}));
    EXPECT_EQ(file.load("näme \"quoted\"").item(), 3);
    EXPECT_NE(messageOf<DataError>([&] { (void)file.load("wieght"); }).find("did you mean weight"),
              std::string::npos);
}

TEST(Safetensors, WritesWhatItReadInAsManyBytes) {
    const TempFile target("copy.safetensors", "old");
    save_file(load_file(kPython), target.path(), SafetensorsFile(kPython).metadata());
    const NamedTensors again = load_file(target.path());
    ASSERT_EQ(again.size(), 7U);
    for (const auto& [name, tensor] : load_file(kPython)) {
        const Tensor read = SafetensorsFile(target.path()).load(name);
        EXPECT_EQ(read.meta().toString(), tensor.meta().toString()) << name;
        EXPECT_EQ(read.to_vector(), tensor.to_vector()) << name;
    }
    EXPECT_EQ(bytesOf(target.path()).size(), bytesOf(kPython).size());
}

TEST(Safetensors, SavesViewsByTheirValues) {
    const TempFile target("view.safetensors", "");
    const Tensor x = reshape(arange(0, 6, 1, {.dtype = DType::F32}), {2, 3});
    save_file({{"t", transpose(x, 0, 1)}, {"part", narrow(x, 1, 1, 1)}}, target.path());
    const SafetensorsFile file(target.path());
    EXPECT_EQ(file.load("t").to_vector<float>(), (std::vector<float>{0, 3, 1, 4, 2, 5}));
    EXPECT_EQ(file.load("part").to_vector<float>(), (std::vector<float>{1, 4}));
}

TEST(Safetensors, AModelAndItsOptimizerComeBack) {
    Context context;
    const ContextScope scope(context);
    const TempFile weights("model.safetensors", "");
    const TempFile state("adam.safetensors", "");
    const auto net = [] { return make<Linear>(3, 2); };
    const auto one = net();
    optim::Adam first(one->parameters(), {.lr = 0.1, .amsgrad = true});
    const auto train = [](Linear& model, optim::Optimizer& optimizer) {
        optimizer.zero_grad();
        sum(square(model(ones({4, 3})))).backward();
        optimizer.step();
    };
    for (int i = 0; i < 3; ++i) train(*one, first);
    save_model(*one, weights.path());
    optim::save_optimizer(first, state.path());
    const auto two = net();
    load_model(*two, weights.path());
    optim::Adam second(two->parameters(), {});
    optim::load_optimizer(second, state.path());
    for (int i = 0; i < 3; ++i) {
        train(*one, first);
        train(*two, second);
    }
    EXPECT_EQ(one->weight.to_vector(), two->weight.to_vector());
    EXPECT_EQ(one->bias.to_vector(), two->bias.to_vector());
    EXPECT_THROW(optim::load_optimizer(second, weights.path()), DataError);
}

TEST(Safetensors, FailedWriteLeavesTheOldFileAndNoOther) {
    const TempFile target("model.safetensors", "old");
    EXPECT_THROW(save_file({{"a", zeros({1})}, {"a", zeros({1})}}, target.path()), DataError);
    EXPECT_THROW(save_file({{"a", Tensor()}}, target.path()), DataError);
    EXPECT_EQ(bytesOf(target.path()), "old");
    const std::string nowhere = target.dir() + "/no/such/model.safetensors";
    EXPECT_NE(messageOf<DataError>([&] { save_file({}, nowhere); }).find("check that the folder"),
              std::string::npos);
    // A folder stands where the file should go: the rename fails at the very end.
    std::filesystem::create_directories(target.dir() + "/folder/inside");
    EXPECT_THROW(save_file({{"a", zeros({1})}}, target.dir() + "/folder"), DataError);
    int files = 0;
    for (const auto& found : std::filesystem::directory_iterator(target.dir())) {
        ++files;
        EXPECT_EQ(found.path().string().find(".part-"), std::string::npos) << found.path();
    }
    EXPECT_EQ(files, 2);
}

TEST(Safetensors, RefusesHeadersThatCannotBeRight) {
    struct Bad {
        std::string bytes;
        const char* says;
    };
    const auto one = [](const std::string& body) { return R"({"a":)" + body + "}"; };
    const std::vector<Bad> all{
        {"", "only 0 bytes"},
        {std::string("\xff\xff\xff\xff\xff\xff\xff\x7f", 8), "more than the format allows"},
        {std::string("\x10\0\0\0\0\0\0\0{}", 10), "more than the file has"},
        {fileOf("", 0), "there is no {"},
        {fileOf("[]", 0), "there is no {"},
        {fileOf("{", 0), "there is no \""},
        {fileOf("{}x", 0), "something follows"},
        {fileOf("{}", 1), "behind the last tensor"},
        {fileOf(R"({"a":1})", 0), "there is no {"},
        {fileOf(one(entry("F8_E4M3", "[1]", "[0,1]")), 1), "convert it to F32"},
        {fileOf(one(entry("F32", "[2]", "[0,4]")), 4), "needs 8 bytes"},
        {fileOf(one(entry("F32", "[1]", "[4,0]")), 4), "data_offsets"},
        {fileOf(one(entry("F32", "[1]", "[0,4,8]")), 4), "data_offsets"},
        {fileOf(one(entry("F32", "[1]", "[0,4]")), 2), "cut off"},
        {fileOf(one(entry("F32", "[1]", "[8,12]")), 12), "no tensor holds"},
        {fileOf(one(entry("F32", "[-1]", "[0,4]")), 4), "whole number"},
        {fileOf(one(entry("F32", "[1.5]", "[0,4]")), 4), "there is no ]"},
        {fileOf(one(entry("F32", "[4294967296,4294967296,4294967296]", "[0,4]")), 4), "beyond"},
        {fileOf(one(entry("F32", "[0,4294967296,4294967296]", "[0,0]")), 0), "beyond"},
        {fileOf(one(entry("F32", "[99999999999999999999]", "[0,4]")), 4), "beyond 64 bits"},
        {fileOf(one(entry("F32", "[1,1,1,1,1,1,1,1,1]", "[0,4]")), 4), "9 dimensions"},
        {fileOf(one(R"({"dtype":"F32","shape":[1]})"), 4), "lacks"},
        {fileOf(one(R"({"dtype":"F32","dtype":"F32"})"), 4), "unexpected field"},
        {fileOf(one(R"({"dtype":"F32","extra":[1]})"), 4), "unexpected field"},
        {fileOf(R"({"a)", 0), "ends in the middle"},
        {fileOf(R"({"\q":1})", 0), "unknown escape"},
        {fileOf(R"({"\ud800x":1})", 0), "surrogate"},
        {fileOf(R"({"\u12g4":1})", 0), "\\u escape"},
        {fileOf("{\"a\nb\":1}", 0), "control character"},
        {fileOf(R"({"__metadata__":{"x":1}})", 0), "there is no \""},
        {fileOf(R"({"__metadata__":{"x":"1","x":"2"}})", 0), "twice"},
        {fileOf(R"({"a":)" + entry("F32", "[1]", "[0,4]") + R"(,"b":)" +
                    entry("F32", "[1]", "[2,6]") + "}",
                6),
         "overlaps"},
        {fileOf(R"({"a":)" + entry("F32", "[1]", "[0,4]") + R"(,"a":)" +
                    entry("F32", "[1]", "[4,8]") + "}",
                8),
         "comes twice"},
    };
    for (const Bad& bad : all) {
        const TempFile file("bad.safetensors", bad.bytes);
        const std::string text =
            messageOf<DataError>([&] { const SafetensorsFile opened(file.path()); });
        EXPECT_NE(text.find(bad.says), std::string::npos) << text << "\nwanted: " << bad.says;
        EXPECT_EQ(text.find(file.path()), 0U) << text;
    }
    EXPECT_THROW(SafetensorsFile("/no/such/file"), DataError);
    EXPECT_THROW(SafetensorsFile(TAPESCOPE_TEST_DATA), DataError);
}

TEST(Safetensors, SurvivesEveryCutAndManyFlippedBytes) {
    const std::string whole = bytesOf(kPython);
    ASSERT_GT(whole.size(), 100U);
    const auto tryIt = [](const std::string& bytes) {
        const TempFile file("x.safetensors", bytes);
        try {
            for (const auto& [name, tensor] : load_file(file.path())) (void)tensor.to_vector();
        } catch (const DataError&) {
        }
    };
    for (std::size_t length = 0; length < whole.size(); ++length)
        EXPECT_THROW(
            {
                const TempFile file("cut.safetensors", whole.substr(0, length));
                load_file(file.path());
            },
            DataError)
            << length;
    Generator generator(5);
    for (int i = 0; i < 400; ++i) {
        std::string bytes = whole;
        bytes[generator.next32() % bytes.size()] = static_cast<char>(generator.next32() & 0xFFU);
        tryIt(bytes);
    }
}

}  // namespace
}  // namespace tapescope::engine::nn
