// SPDX-License-Identifier: Apache-2.0
// Functions of the nn family that have no row of their own, and what they refuse.
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

Tensor counting(const Dims& sizes) {
    return reshape(arange(0, static_cast<double>(numelOf(sizes)), 1, {.dtype = DType::F64}), sizes);
}

TEST(ConvSame, KeepsTheSizesAlsoWithEvenKernels) {
    const Tensor x = counting({1, 1, 5});
    // An even kernel is padded once more behind.
    EXPECT_EQ(conv1d(x, ones({1, 1, 2}, {.dtype = DType::F64}), {}, ConvPadding::Same).to_vector(),
              (Values{1, 3, 5, 7, 4}));
    EXPECT_EQ(
        conv1d(x, ones({1, 1, 3}, {.dtype = DType::F64}), {}, ConvPadding::Same, {.dilation = {2}})
            .to_vector(),
        (Values{2, 4, 6, 4, 6}));
    EXPECT_EQ(conv1d(x, ones({1, 1, 3}, {.dtype = DType::F64}), {}, ConvPadding::Valid).to_vector(),
              (Values{3, 6, 9}));
    EXPECT_EQ(conv2d(zeros({2, 1, 4, 7}), zeros({3, 1, 2, 4}), {}, ConvPadding::Same).sizes(),
              (Dims{2, 3, 4, 7}));
    EXPECT_EQ(conv3d(zeros({1, 3, 4, 5}), zeros({2, 1, 2, 3, 4}), {}, ConvPadding::Same).sizes(),
              (Dims{2, 3, 4, 5}));
    EXPECT_EQ(messageOf<ShapeError>([&] {
                  conv1d(x, ones({1, 1, 2}, {.dtype = DType::F64}), {}, ConvPadding::Same,
                         {.stride = {2}});
              }),
              "conv1d: padding 'same' needs stride 1, not [2]");
}

TEST(ConvTranspose, WhatDoesNotFitIsNamed) {
    EXPECT_EQ(
        messageOf<ShapeError>([] {
            conv_transpose2d(zeros({1, 2, 3, 3}), zeros({3, 1, 2, 2}));
        }),
        "conv_transpose2d: input [1, 2, 3, 3] has 2 channels but weight [3, 1, 2, 2] takes 3");
    EXPECT_EQ(messageOf<ShapeError>([] {
                  conv_transpose1d(zeros({1, 2, 3}), zeros({2, 1, 2}), {},
                                   {.stride = {2}, .output_padding = {2}});
              }),
              "conv_transpose1d: output_padding [2] must be smaller than the stride [2] or the "
              "dilation [1]");
}

TEST(MaxUnpool, PutsTheMaximaBackWhereTheyWere) {
    const Tensor x = counting({1, 1, 4, 4});
    const auto [values, indices] = max_pool2d_with_indices(x, {});
    const Tensor back = max_unpool2d(values, indices, {});
    EXPECT_EQ(back.to_vector(), (Values{0, 0, 0, 0, 0, 5, 0, 7, 0, 0, 0, 0, 0, 13, 0, 15}));
    EXPECT_THROW(max_unpool2d(values, indices, {}, {3, 3}), IndexError);
}

TEST(InstanceNorm, FoldsTheMeanOverTheBatchIntoTheRunningStatistics) {
    // Means 1 and 3, unbiased variances 2 and 8 of the two samples.
    const Tensor x = Tensor::from<double>({0, 2, 1, 5}, {2, 1, 2});
    const Tensor mean = Tensor::from<double>({10}, {1});
    const Tensor var = Tensor::from<double>({1}, {1});
    instance_norm(x, {}, {}, {.running_mean = mean, .running_var = var, .momentum = 0.5});
    EXPECT_EQ(mean.to_vector(), (Values{0.5 * 10 + 0.5 * 2}));
    EXPECT_EQ(var.to_vector(), (Values{0.5 * 1 + 0.5 * 5}));
    EXPECT_THROW(instance_norm(zeros({2, 3, 1})), ShapeError);
}

TEST(GumbelSoftmax, DrawsOneHotRowsInProportionAndPassesGradients) {
    Context::current().generator().manual_seed(7);
    const Tensor logits =
        expand(log(Tensor::from<double>({0.1, 0.2, 0.7}, {3})), {4000, 3}).detach();
    const Tensor hard = gumbel_softmax(logits, 0.5, true);
    for (const double total : sum(hard, {1}).to_vector()) EXPECT_NEAR(total, 1, 1e-12);
    const Values share = mean(hard, {0}).to_vector();
    EXPECT_NEAR(share[0], 0.1, 0.03);
    EXPECT_NEAR(share[2], 0.7, 0.03);
    Tensor leaf = zeros({2, 3}).set_requires_grad(true);
    sum(mul(gumbel_softmax(leaf, 1, true), Tensor::from<float>({1, 2, 3}, {3}))).backward();
    EXPECT_GT(amax(abs(leaf.grad())).item(), 0);
    EXPECT_THROW(gumbel_softmax(leaf, 0), Error);
}

TEST(Softmax, ConvertsFirstIfADtypeIsGiven) {
    const Tensor x = Tensor::from<std::int64_t>({1, 2, 3}, {3});
    const Tensor y = softmax(x, 0, DType::F64);
    EXPECT_EQ(dtypeName(y.dtype()), "float64");
    EXPECT_NEAR(y.to_vector()[2], 1 / (1 + std::exp(-1.0) + std::exp(-2.0)), 1e-15);
    EXPECT_NEAR(log_softmax(x, 0, DType::F64).to_vector()[2], std::log(y.to_vector()[2]), 1e-14);
}

TEST(Embedding, ShortensTheRowsItLooksUp) {
    const Tensor weight = Tensor::from<double>({3, 4, 0.3, 0.4, 6, 8}, {3, 2});
    const Tensor index = Tensor::from<std::int64_t>({0, 1}, {2});
    const Tensor y = embedding(weight, index, {.max_norm = 1.0});
    EXPECT_NEAR(y.to_vector()[0], 0.6, 1e-6);
    EXPECT_NEAR(y.to_vector()[2], 0.3, 1e-12);
    EXPECT_EQ(weight.to_vector()[4], 6);  // not looked up
    EXPECT_THROW(embedding(weight, index, {.padding_idx = 3}), IndexError);
    EXPECT_NO_THROW(embedding(weight, index, {.padding_idx = -1}));
}

TEST(EmbeddingBag, WhatItCannotTakeIsNamed) {
    const Tensor weight = zeros({4, 2});
    const Tensor flat = Tensor::from<std::int64_t>({0, 1, 2}, {3});
    EXPECT_EQ(messageOf<Error>([&] { embedding_bag(weight, flat, {}); }),
              "embedding_bag: a 1-d index needs 1-d offsets, where each bag begins");
    EXPECT_EQ(messageOf<IndexError>([&] {
                  embedding_bag(weight, flat, {.offsets = Tensor::from<std::int64_t>({0, 4}, {2})});
              }),
              "embedding_bag: offset 4 is out of order or beyond the 3 entries of index");
    EXPECT_EQ(
        messageOf<Error>([&] {
            embedding_bag(weight, reshape(flat, {1, 3}), {.per_sample_weights = zeros({1, 3})});
        }),
        "embedding_bag: per_sample_weights are for the mode sum");
}

TEST(Interpolate, ResizesByTheModeThatFitsTheInput) {
    const Tensor x = counting({1, 1, 2, 2});
    EXPECT_EQ(interpolate(x, {.scale_factor = {2.0}}).to_vector(),
              (Values{0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3}));
    EXPECT_EQ(interpolate(x, {.size = {1}, .mode = Interpolation::Area}).to_vector(),
              (Values{1.5}));
    EXPECT_EQ(interpolate(x, {.size = {3}, .mode = Interpolation::Bilinear, .align_corners = true})
                  .to_vector(),
              (Values{0, 0.5, 1, 1, 1.5, 2, 2, 2.5, 3}));
    EXPECT_THROW(interpolate(x, {}), Error);
    EXPECT_THROW(interpolate(x, {.size = {2}, .mode = Interpolation::Linear}), ShapeError);
    EXPECT_THROW(interpolate(x, {.size = {2}, .align_corners = true}), Error);
    EXPECT_THROW(interpolate(x, {.scale_factor = {1e300}}), ShapeError);
    EXPECT_THROW(interpolate(x, {.scale_factor = {0.1}}), ShapeError);
}

TEST(GridSample, ReadsNothingOutsideAndNothingAtANaN) {
    const Tensor x = ones({1, 1, 2, 2});
    const Tensor grid =
        Tensor::from<float>({0, 0, 9, 0, std::nanf(""), 0, 1e30F, -1e30F}, {1, 1, 4, 2});
    EXPECT_EQ(grid_sample(x, grid).to_vector(), (Values{1, 0, 0, 0}));
    EXPECT_THROW(grid_sample(x, zeros({1, 1, 4, 3})), ShapeError);
}

TEST(RoiAlign, RefusesABoxOfAnImageThatIsNotThere) {
    const Tensor boxes = Tensor::from<float>({2, 0, 0, 1, 1}, {1, 5});
    EXPECT_THROW(roi_align(zeros({2, 1, 4, 4}), boxes, {}), IndexError);
    EXPECT_EQ(roi_align(zeros({2, 1, 4, 4}), zeros({0, 5}), {.output_size = {2}}).sizes(),
              (Dims{0, 1, 2, 2}));
}

}  // namespace
}  // namespace tapescope::engine::test
