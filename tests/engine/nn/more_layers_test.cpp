// SPDX-License-Identifier: Apache-2.0
#include "engine/errors.h"
#include "engine/nn/nn.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

#include <gtest/gtest.h>

namespace tapescope::engine::nn {
namespace {

TEST(MoreLayers, DescribeThemselves) {
    EXPECT_EQ(Conv1d(4, 8, {3}, {.stride = {2}, .groups = 2}).details(),
              "4→8, 3, stride 2, groups 2");
    EXPECT_EQ(Conv3d(1, 2, {3}, {.padding = {0, 1, 1}, .bias = false}).details(),
              "1→2, 3×3×3, padding 0×1×1, no bias");
    EXPECT_EQ(ConvTranspose2d(8, 4, {2}, {.stride = {2}, .output_padding = {1}}).details(),
              "8→4, 2×2, stride 2, output padding 1");
    EXPECT_EQ(MaxPool1d({.kernel = {3}, .stride = {1}, .ceil_mode = true}).details(),
              "3, stride 1, ceil");
    EXPECT_EQ(MaxPool2d(2, Pair(2), 0, 2, true).details(), "2×2, dilation 2, ceil");
    EXPECT_EQ(AvgPool2d(2, {}, 1, false, false).details(), "2×2, padding 1, padding not counted");
    EXPECT_EQ(LPPool2d(3, {.kernel = {2}}).details(), "p 3, 2×2");
    EXPECT_EQ(AdaptiveAvgPool3d({1, -1, 2}).details(), "to 1×-1×2");
    EXPECT_EQ(BatchNorm3d(4).details(), "4");
    EXPECT_EQ(InstanceNorm2d(4, {.affine = true}).details(), "4, affine");
    EXPECT_EQ(GroupNorm(2, 6).details(), "2 groups of 3");
    EXPECT_EQ(RMSNorm({8}).details(), "[8]");
    EXPECT_EQ(LocalResponseNorm(5, 0.5).details(), "5 channels, alpha 0.5, beta 0.75, k 1");
    EXPECT_EQ(Upsample({.scale_factor = {2.0}, .mode = Interpolation::Bilinear}).details(),
              "by 2, bilinear");
    EXPECT_EQ(Embedding(10, 4, {.padding_idx = 0}).details(), "10×4, padding 0");
    EXPECT_EQ(EmbeddingBag(10, 4).details(), "10×4, mean");
}

TEST(MoreLayers, GiveTheSizesPyTorchGives) {
    EXPECT_EQ(Conv1d(4, 8, {3})(zeros({2, 4, 9})).sizes(), (Dims{2, 8, 7}));
    EXPECT_EQ(Conv3d(2, 3, {1, 2, 3})(zeros({2, 4, 5, 6})).sizes(), (Dims{3, 4, 4, 4}));
    EXPECT_EQ(ConvTranspose1d(2, 3, {4}, {.stride = {2}, .padding = {1}})(zeros({1, 2, 5})).sizes(),
              (Dims{1, 3, 10}));
    EXPECT_EQ(ConvTranspose2d(8, 4, {2}, {.stride = {2}})(zeros({1, 8, 3, 4})).sizes(),
              (Dims{1, 4, 6, 8}));
    EXPECT_EQ(ConvTranspose2d(8, 4, {2}, {.groups = 2}).weight.sizes(), (Dims{8, 2, 2, 2}));
    EXPECT_EQ(ConvTranspose3d(2, 1, {2})(zeros({1, 2, 2, 2, 2})).sizes(), (Dims{1, 1, 3, 3, 3}));
    EXPECT_EQ(MaxPool3d({.kernel = {2}})(zeros({1, 1, 4, 4, 6})).sizes(), (Dims{1, 1, 2, 2, 3}));
    EXPECT_EQ(AvgPool1d({.kernel = {2}})(zeros({3, 7})).sizes(), (Dims{3, 3}));
    EXPECT_EQ(AvgPool3d({.kernel = {2}})(zeros({1, 4, 4, 6})).sizes(), (Dims{1, 2, 2, 3}));
    EXPECT_EQ(AdaptiveAvgPool1d({3})(zeros({1, 2, 7})).sizes(), (Dims{1, 2, 3}));
    EXPECT_EQ(AdaptiveMaxPool2d({2})(zeros({1, 2, 5, 7})).sizes(), (Dims{1, 2, 2, 2}));
    EXPECT_EQ(AdaptiveMaxPool3d({1, -1, 2})(zeros({1, 2, 5, 7})).sizes(), (Dims{1, 1, 5, 2}));
    EXPECT_EQ(Upsample({.scale_factor = {2.0}})(zeros({1, 2, 3})).sizes(), (Dims{1, 2, 6}));
    EXPECT_EQ(BatchNorm3d(2)(ones({2, 2, 1, 2, 1})).sizes(), (Dims{2, 2, 1, 2, 1}));
    EXPECT_THROW(BatchNorm3d(2)(ones({2, 2, 1, 2})), ShapeError);
    EXPECT_THROW(ConvTranspose2d(3, 4, {2}, {.groups = 2}), Error);
    EXPECT_THROW(Conv1d(3, 4, {2, 2}), Error);
    EXPECT_THROW(GroupNorm(4, 6), Error);
}

TEST(InstanceNormLayer, UsesItsRunningStatisticsInEvaluation) {
    InstanceNorm1d layer(1, {.track_running_stats = true});
    const Tensor x = Tensor::from<float>({0, 2}, {1, 1, 2});
    layer(x);
    EXPECT_NEAR(layer.running_mean.item(), 0.1, 1e-6);
    EXPECT_NEAR(layer.running_var.item(), 0.9 + 0.1 * 2, 1e-6);
    layer.eval();
    EXPECT_EQ(layer(Tensor::from<float>({5}, {1, 1, 1})).numel(), 1);
    EXPECT_EQ(layer(ones({1, 4})).sizes(), (Dims{1, 4}));
}

TEST(EmbeddingLayer, KeepsItsPaddingRowAtZero) {
    Embedding layer(4, 3, {.padding_idx = -1});
    const Tensor index = Tensor::from<std::int64_t>({3, 0}, {2});
    const Tensor y = layer(index);
    EXPECT_EQ(select(y.detach(), 0, 0).to_vector(), (std::vector<double>{0, 0, 0}));
    sum(y).backward();
    EXPECT_EQ(select(layer.weight.grad(), 0, 3).to_vector(), (std::vector<double>{0, 0, 0}));
    EXPECT_EQ(select(layer.weight.grad(), 0, 0).to_vector(), (std::vector<double>{1, 1, 1}));
    EmbeddingBag bag(4, 3, {.mode = BagMode::Sum});
    EXPECT_EQ(bag(reshape(index, {1, 2})).sizes(), (Dims{1, 3}));
    const Tensor offsets = Tensor::from<std::int64_t>({0, 1}, {2});
    EXPECT_EQ(bag.forward(index, offsets).sizes(), (Dims{2, 3}));
}

TEST(GroupNormLayer, EachGroupHasMeanZeroAndVarianceOne) {
    GroupNorm layer(2, 4);
    const Tensor x = reshape(arange(0, 24, 1, {.dtype = DType::F32}), {1, 4, 6});
    const Tensor y = reshape(layer(x).detach(), {2, 12});
    for (const double m : mean(y, {1}).to_vector()) EXPECT_NEAR(m, 0, 1e-6);
    for (const double v : var(y, {1}, 0).to_vector()) EXPECT_NEAR(v, 1, 1e-4);
}

}  // namespace
}  // namespace tapescope::engine::nn
