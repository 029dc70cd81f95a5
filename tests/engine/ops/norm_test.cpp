// SPDX-License-Identifier: Apache-2.0
#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "message_of.h"

#include <cmath>

namespace tapescope::engine::test {
namespace {

using Values = std::vector<double>;

TEST(BatchNorm, TrainingFoldsTheBatchIntoTheRunningStatistics) {
    // Channel 0: 1, 3 (mean 2, unbiased variance 2); channel 1: 4, 8 (mean 6, unbiased variance 8).
    const Tensor x = Tensor::from<double>({1, 4, 3, 8}, {2, 2});
    const Tensor mean = Tensor::from<double>({10, 20}, {2});
    const Tensor var = Tensor::from<double>({1, 2}, {2});
    const std::uint32_t version = mean.version();
    batch_norm(x, {}, {}, mean, var, true, 0.25);
    EXPECT_EQ(mean.to_vector(), (Values{0.75 * 10 + 0.25 * 2, 0.75 * 20 + 0.25 * 6}));
    EXPECT_EQ(var.to_vector(), (Values{0.75 * 1 + 0.25 * 2, 0.75 * 2 + 0.25 * 8}));
    EXPECT_GT(mean.version(), version);
    EXPECT_GT(var.version(), 0U);
}

TEST(BatchNorm, EvaluationReadsTheRunningStatisticsAndLeavesThemAlone) {
    const Tensor x = Tensor::from<double>({1, 4, 3, 8}, {2, 2});
    const Tensor mean = Tensor::from<double>({1, 2}, {2});
    const Tensor var = Tensor::from<double>({4, 1}, {2});
    const Tensor y = batch_norm(x, {}, {}, mean, var, false, 0.1, 0.0);
    EXPECT_EQ(y.to_vector(), (Values{0, 2, 1, 6}));
    EXPECT_EQ(mean.version(), 0U);
    EXPECT_EQ(var.to_vector(), (Values{4, 1}));
}

TEST(BatchNorm, TwoTrainingCallsMayComeBeforeBackward) {
    const Tensor w = ones({2}, {.requires_grad = true});
    const Tensor mean = zeros({2});
    const Tensor var = ones({2});
    const Tensor x = Tensor::from<float>({1, 4, 3, 8}, {2, 2});
    const Tensor y =
        add(batch_norm(x, w, {}, mean, var, true), batch_norm(mul(x, 2), w, {}, mean, var, true));
    EXPECT_NO_THROW(sum(square(y)).backward());
    EXPECT_TRUE(w.grad().defined());
}

TEST(BatchNorm, AnEmptyBatchLeavesTheRunningStatisticsAlone) {
    const Tensor mean = ones({3});
    const Tensor var = ones({3});
    EXPECT_EQ(batch_norm(zeros({0, 3, 2, 2}), {}, {}, mean, var, true).numel(), 0);
    EXPECT_EQ(mean.to_vector(), (Values{1, 1, 1}));
    EXPECT_EQ(var.to_vector(), (Values{1, 1, 1}));
}

TEST(BatchNorm, ALargeOffsetDoesNotDrownTheVariance) {
    std::vector<float> values;
    for (int i = 0; i < 4096; ++i) values.push_back(10000.0F + static_cast<float>(i % 2));
    const Tensor x = Tensor::from<float>(std::span<const float>(values), {4096, 1});
    const Tensor y = batch_norm(x, {}, {}, {}, {}, true, 0.1, 0.0);
    EXPECT_NEAR(y.to_vector()[0], -1.0, 1e-3);
    EXPECT_NEAR(y.to_vector()[1], 1.0, 1e-3);
}

TEST(BatchNorm, WhatItCannotTakeIsNamed) {
    const auto text = [](const auto& fn) { return messageOf<ShapeError>(fn); };
    EXPECT_EQ(text([] { batch_norm(zeros({3}), {}, {}, {}, {}, true); }),
              "batch_norm: input [3] must have at least 2 dimensions [N, C, ...]");
    EXPECT_EQ(text([] {
                  batch_norm(zeros({2, 3}), zeros({4}), {}, {}, {}, true);
              }),
              "batch_norm: weight [4] must be [3] for input [2, 3]");
    EXPECT_EQ(text([] {
                  batch_norm(zeros({1, 3}), {}, {}, {}, {}, true);
              }),
              "batch_norm: training needs more than 1 value a channel, input is [1, 3]");
    EXPECT_EQ(text([] {
                  batch_norm(zeros({2, 3}), {}, {}, {}, {}, false);
              }),
              "batch_norm: running_mean and running_var are needed unless training");
}

TEST(LayerNorm, RowsHaveMeanZeroAndVarianceOne) {
    std::vector<float> values;
    for (int i = 0; i < 3 * 500; ++i)
        values.push_back(std::sin(static_cast<float>(i * i)) * 3 + 100);
    const Tensor y =
        layer_norm(Tensor::from<float>(std::span<const float>(values), {3, 500}), {500});
    for (const double m : mean(y, {1}).to_vector()) EXPECT_NEAR(m, 0, 1e-5);
    for (const double v : var(y, {1}, 0).to_vector()) EXPECT_NEAR(v, 1, 1e-4);
}

TEST(LayerNorm, TheInputMustEndInTheNormalizedShape) {
    EXPECT_EQ(messageOf<ShapeError>([] {
                  layer_norm(zeros({2, 3, 4}), {3});
              }),
              "layer_norm: input [2, 3, 4] must end in the normalized shape [3]");
    EXPECT_EQ(messageOf<ShapeError>([] {
                  layer_norm(zeros({2, 3}), {3}, zeros({2}));
              }),
              "layer_norm: weight [2] must be [3] for input [2, 3]");
    EXPECT_EQ(layer_norm(zeros({0, 3}), {3}).sizes(), (Dims{0, 3}));
}

}  // namespace
}  // namespace tapescope::engine::test
