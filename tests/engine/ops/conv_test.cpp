// SPDX-License-Identifier: Apache-2.0
#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"
#include "message_of.h"

#include <cmath>
#include <thread>

namespace tapescope::engine::test {
namespace {

Tensor sample(const Dims& sizes, double salt, DType dtype = DType::F32) {
    std::vector<double> values(static_cast<std::size_t>(numelOf(sizes)));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = std::sin(salt + 0.7 * static_cast<double>(i * i % 1013));
    return to(Tensor::from<double>(values, sizes), dtype);
}

void expectNear(const Tensor& single, const Tensor& exact, const std::string& what) {
    ASSERT_EQ(single.sizes(), exact.sizes()) << what;
    const auto a = single.to_vector();
    const auto b = exact.to_vector();
    double worst = 0;
    double size = 1;
    for (std::size_t i = 0; i < a.size(); ++i) {
        worst = std::max(worst, std::fabs(a[i] - b[i]));
        size = std::max(size, std::fabs(b[i]));
    }
    EXPECT_LT(worst / size, 1e-6) << what;
}

struct Sizes {
    const char* name;
    Dims input;
    Dims weight;
    Conv2dParams params;
};

// Channels that fill oneDNN's blocks, that do not, first layers, strides, dilation and groups.
const Sizes kSizes[] = {
    {"first layer", {4, 1, 8, 8}, {32, 1, 3, 3}, {.padding = {1, 1}}},
    {"second layer", {4, 32, 8, 8}, {64, 32, 3, 3}, {.padding = {1, 1}}},
    {"odd channels", {2, 17, 9, 7}, {21, 17, 3, 3}, {.padding = {1, 1}}},
    {"1x1", {2, 24, 6, 6}, {40, 24, 1, 1}, {}},
    {"stride", {2, 16, 11, 10}, {16, 16, 3, 3}, {.stride = {2, 2}, .padding = {1, 1}}},
    {"stem", {1, 3, 32, 32}, {16, 3, 7, 7}, {.stride = {2, 2}, .padding = {3, 3}}},
    {"dilated", {1, 16, 12, 12}, {16, 16, 3, 3}, {.padding = {2, 2}, .dilation = {2, 2}}},
    {"depthwise", {2, 32, 8, 8}, {32, 1, 3, 3}, {.padding = {1, 1}, .groups = 32}},
    {"groups", {2, 24, 8, 8}, {36, 8, 3, 3}, {.padding = {1, 1}, .groups = 3}},
    {"kernel as large as the input", {3, 5, 4, 4}, {6, 5, 4, 4}, {}},
    {"rows cut off by the stride", {2, 8, 10, 10}, {8, 8, 3, 3}, {.stride = {4, 3}}},
};

TEST(Conv, Float32AgreesWithTheDefinitionInAllThreeDirections) {
    for (const Sizes& s : kSizes) {
        const auto run = [&](DType dtype) {
            const Tensor x = sample(s.input, 0.1, dtype);
            const Tensor w = sample(s.weight, 0.2, dtype);
            const Tensor y = conv2d(x, w, sample({s.weight[0]}, 0.3, dtype), s.params);
            const Tensor g = sample(y.sizes(), 0.4, dtype);
            return std::vector<Tensor>{y, conv2d_input_grad(g, w, s.input, s.params),
                                       conv2d_weight_grad(g, x, s.weight, s.params)};
        };
        const std::vector<Tensor> single = run(DType::F32);
        const std::vector<Tensor> exact = run(DType::F64);
        for (std::size_t i = 0; i < 3; ++i)
            expectNear(single[i], exact[i],
                       std::string(s.name) + ", direction " + std::to_string(i));
    }
}

TEST(Conv, StridedInputsGiveTheSameAsDenseOnes) {
    const Tensor x = transpose(sample({4, 16, 8, 8}, 0.1), 2, 3);
    const Tensor w = permute(sample({3, 3, 16, 32}, 0.2), {3, 2, 0, 1});
    EXPECT_EQ(conv2d(x, w).to_vector<float>(),
              conv2d(contiguous(x), contiguous(w)).to_vector<float>());
}

TEST(Conv, TheSameCallGivesTheSameBitsAlsoOnAnotherThread) {
    const Tensor x = sample({8, 32, 8, 8}, 0.1);
    const Tensor w = sample({64, 32, 3, 3}, 0.2);
    const Tensor g = sample({8, 64, 8, 8}, 0.3);
    const Conv2dParams params{.padding = {1, 1}};
    const auto run = [&] {
        std::vector<float> all = conv2d(x, w, {}, params).to_vector<float>();
        for (const Tensor& t : {conv2d_input_grad(g, w, x.sizes(), params),
                                conv2d_weight_grad(g, x, w.sizes(), params)})
            for (const float v : t.to_vector<float>()) all.push_back(v);
        return all;
    };
    const std::vector<float> first = run();
    EXPECT_EQ(run(), first);
    std::vector<float> other;
    std::thread([&] { other = run(); }).join();
    EXPECT_EQ(other, first);
}

TEST(Conv, WorkspaceIsGivenBackAfterTheCall) {
    const CachingAllocator& allocator = Context::current().allocator();
    const Tensor x = sample({8, 32, 8, 8}, 0.1);
    const Tensor w = sample({64, 32, 3, 3}, 0.2);
    const std::int64_t before = allocator.stats().allocatedBytes;
    {
        const Tensor y = conv2d(x, w);
        EXPECT_GE(allocator.stats().allocatedBytes, before + static_cast<std::int64_t>(y.nbytes()));
    }
    EXPECT_EQ(allocator.stats().allocatedBytes, before);
}

TEST(Conv, AnEmptyBatchOrNoChannelsGiveEmptySums) {
    EXPECT_EQ(conv2d(zeros({0, 3, 5, 5}), zeros({4, 3, 3, 3})).sizes(), (Dims{0, 4, 3, 3}));
    const Tensor bias = Tensor::from<float>({1.0F, 2.0F}, {2});
    EXPECT_EQ(conv2d(zeros({1, 0, 1, 1}), zeros({2, 0, 1, 1}), bias).to_vector(),
              (std::vector<double>{1, 2}));
    EXPECT_EQ(
        conv2d_weight_grad(zeros({0, 2, 1, 1}), zeros({0, 1, 1, 1}), {2, 1, 1, 1}, {}).to_vector(),
        (std::vector<double>{0, 0}));
}

TEST(Conv, WrongSizesAreNamedWithBothShapes) {
    const auto text = [](const auto& fn) { return messageOf<ShapeError>(fn); };
    EXPECT_EQ(
        text([] {
            conv2d(zeros({64, 3, 8, 8}), zeros({32, 1, 3, 3}));
        }),
        "conv2d: input [64, 3, 8, 8] has 3 channels but weight [32, 1, 3, 3] takes 1 (groups 1)");
    EXPECT_EQ(text([] {
                  conv2d(zeros({8, 8}), zeros({32, 1, 3, 3}));
              }),
              "conv2d: input [8, 8] must have 3 or 4 dimensions [C, H, W] or [N, C, H, W]");
    EXPECT_EQ(text([] {
                  conv2d(zeros({1, 1, 2, 2}), zeros({1, 1, 3, 3}));
              }),
              "conv2d: the kernel 3 x 3 of weight [1, 1, 3, 3] with dilation 1 x 1 is larger than "
              "input [1, 1, 2, 2] "
              "with padding 0 x 0");
    EXPECT_EQ(text([] {
                  conv2d(zeros({1, 4, 4, 4}), zeros({3, 2, 1, 1}), {}, {.groups = 2});
              }),
              "conv2d: weight [3, 2, 1, 1] makes 3 channels, which do not divide into 2 groups");
    EXPECT_EQ(text([] {
                  conv2d(zeros({1, 1, 4, 4}), zeros({1, 1, 1, 1}), {}, {.stride = {0, 1}});
              }),
              "conv2d: stride [0, 1] must be at least 1");
    EXPECT_EQ(text([] {
                  conv2d(zeros({1, 1, 4, 4}), zeros({1, 1, 1, 1}), {}, {.padding = {-1, 0}});
              }),
              "conv2d: padding [-1, 0] must be at least 0");
    EXPECT_EQ(text([] {
                  conv2d(zeros({1, 1, 4, 4}), zeros({2, 1, 1, 1}), zeros({3}));
              }),
              "conv2d: bias [3] must be [2], one number an output channel");
    EXPECT_EQ(text([] {
                  conv2d(zeros({1, 1, 4, 4}), zeros({1, 1, 1, 1}), {},
                         {.padding = {std::int64_t{1} << 62, 0}});
              }),
              "conv2d: padding [4611686018427387904, 0] must be at most 1099511627776");
    EXPECT_EQ(text([] {
                  conv2d_input_grad(zeros({1, 1, 2, 2}), zeros({1, 1, 1, 1}), {1, 1, 3, 3}, {});
              }),
              "conv2d_input_grad: grad [1, 1, 2, 2] must have the convolution's output sizes [1, "
              "1, 3, 3]");
}

TEST(Conv, CostCountsMultiplyAddsOfAllThreeDirections) {
    const Tensor x = zeros({64, 32, 8, 8});
    const Tensor w = zeros({64, 32, 3, 3});
    const Tensor y = zeros({64, 64, 8, 8});
    const double flops = 2.0 * 64 * 64 * 8 * 8 * 32 * 9;
    const auto cost = [](const char* name, const Tensor& a, const Tensor& b, const Tensor& out) {
        const Tensor* inputs[] = {&a, &b};
        const Attrs attrs;
        return OpTable::instance().find(name)->cost({inputs, attrs}, std::span(&out, 1)).flops;
    };
    EXPECT_EQ(cost("conv2d", x, w, y), flops);
    EXPECT_EQ(cost("conv2d_input_grad", y, w, x), flops);
    EXPECT_EQ(cost("conv2d_weight_grad", y, x, w), flops);
}

}  // namespace
}  // namespace tapescope::engine::test
