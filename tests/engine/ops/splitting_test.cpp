// SPDX-License-Identifier: Apache-2.0
// Shape functions that give several tensors, and errors of those that rearrange.
#include "engine/errors.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/rearrange.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "engine/ops/sorting.h"
#include "engine/ops/windows.h"
#include "message_of.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace tapescope::engine::test {
namespace {

using Values = std::vector<double>;
using Places = std::vector<std::int64_t>;

Tensor counting(const Dims& sizes) {
    return reshape(arange(0, static_cast<double>(numelOf(sizes)), 1, {.dtype = DType::F32}), sizes);
}
std::vector<std::int64_t> lengths(const std::vector<Tensor>& parts, int dim) {
    std::vector<std::int64_t> sizes;
    for (const Tensor& t : parts) sizes.push_back(t.size(dim));
    return sizes;
}

TEST(Splitting, PartsAreViewsOfTheGivenSizes) {
    const Tensor x = counting({2, 7});
    EXPECT_EQ(lengths(split_with_sizes(x, Places{3, 0, 4}, 1), 1), (Places{3, 0, 4}));
    EXPECT_EQ(lengths(split(x, Places{1, 1}, 0), 0), (Places{1, 1}));
    EXPECT_EQ(lengths(tensor_split(x, 3, 1), 1), (Places{3, 2, 2}));
    EXPECT_EQ(lengths(tensor_split(x, Places{2, 5, 100}, 1), 1), (Places{2, 3, 2, 0}));
    EXPECT_EQ(lengths(tensor_split(x, Places{-1}, 1), 1), (Places{6, 1}));
    EXPECT_EQ(lengths(tensor_split(x, 5, 0), 0), (Places{1, 1, 0, 0, 0}));
    EXPECT_EQ(tensor_split(x, 3, 1)[1].to_vector(), (Values{3, 4, 10, 11}));
    EXPECT_EQ(split_with_sizes(x, Places{3, 4}, 1)[1].storage().get(), x.storage().get());
    EXPECT_EQ(lengths(hsplit(x, Places{3}), 1), (Places{3, 4}));
    EXPECT_EQ(lengths(hsplit(counting({6}), 2), 0), (Places{3, 3}));
    EXPECT_EQ(lengths(vsplit(x, 2), 0), (Places{1, 1}));
    EXPECT_EQ(lengths(dsplit(counting({1, 2, 4}), 4), 2), (Places{1, 1, 1, 1}));
    const std::vector<Tensor> rows = unbind(x);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[1].to_vector(), (Values{7, 8, 9, 10, 11, 12, 13}));
    EXPECT_EQ(unbind(zeros({0, 3})).size(), 0U);
}

TEST(Splitting, GradientsOfPartsMeetInTheWhole) {
    Tensor x = counting({4});
    x.set_requires_grad(true);
    const std::vector<Tensor> parts = split_with_sizes(x, Places{1, 3});
    sum(add(mul(parts[0], 2), sum(mul(parts[1], parts[1])))).backward();
    EXPECT_EQ(x.grad().to_vector(), (Values{2, 2, 4, 6}));
}

TEST(Splitting, WrongPartsAreNamed) {
    const Tensor x = counting({2, 7});
    EXPECT_EQ(messageOf<ShapeError>([&] {
                  split_with_sizes(x, Places{3, 3}, 1);
              }),
              "split: the sizes add up to 6, but dimension 1 has size 7");
    EXPECT_EQ(messageOf<ShapeError>([&] {
                  split_with_sizes(x, Places{3, 5}, 1);
              }),
              "split: sizes that start at 3 with 5 do not fit dimension 1 of size 7");
    EXPECT_EQ(messageOf<ShapeError>([&] { hsplit(x, 2); }),
              "hsplit: dimension 1 of size 7 does not divide into 2 equal parts");
    EXPECT_EQ(messageOf<ShapeError>([&] { tensor_split(x, 0); }),
              "tensor_split: 0 sections were asked for; give at least 1");
    EXPECT_EQ(messageOf<IndexError>([&] { unbind(ones({})); }),
              "unbind: a 0-dimensional tensor has no parts");
}

TEST(Rearranging, SeveralDimensionsAreSqueezed) {
    const Tensor x = ones({1, 2, 1, 3, 1});
    EXPECT_EQ(squeeze(x).sizes(), (Dims{2, 3}));
    EXPECT_EQ(squeeze(x, Dims{0, -1}).sizes(), (Dims{2, 1, 3}));
    EXPECT_EQ(squeeze(x, Dims{0, 1}).sizes(), (Dims{2, 1, 3, 1}));
    const Tensor both[] = {ones({2, 1}), ones({3})};
    EXPECT_EQ(broadcast_tensors(both)[0].sizes(), (Dims{2, 3}));
}

TEST(Rearranging, ARankOfEightCanBeRepeated) {
    const Tensor x = counting({1, 1, 1, 1, 1, 1, 1, 2});
    EXPECT_EQ(tile(x, {2}).to_vector(), (Values{0, 1, 0, 1}));
    EXPECT_EQ(repeat_interleave(x, 2, -1).to_vector(), (Values{0, 0, 1, 1}));
}

TEST(Rearranging, WrongArgumentsAreNamed) {
    const Tensor x = counting({2, 3});
    EXPECT_EQ(messageOf<ShapeError>([&] { repeat(x, {2}); }),
              "repeat: [2] must give a number for each dimension of [2, 3]");
    EXPECT_EQ(messageOf<ShapeError>([&] {
                  roll(x, {1, 2}, {0});
              }),
              "roll: shifts [1, 2] and dims [0] must be equally many");
    EXPECT_EQ(messageOf<ShapeError>([&] { unfold(x, 1, 4, 1); }),
              "unfold: windows of 4 elements do not fit a dimension of size 3");
    EXPECT_EQ(messageOf<ShapeError>([&] {
                  as_strided(x, {2, 4}, {3, 1});
              }),
              "as_strided: sizes [2, 4] with strides [3, 1] from 0 reach past the storage's 6 "
              "elements");
    EXPECT_EQ(messageOf<ShapeError>([&] {
                  pad(x, {3, 0}, "reflect");
              }),
              "reflection_pad1d: padding [3, 0] is too large for dimension 1 of size 3");
    EXPECT_EQ(messageOf<Error>([&] {
                  pad(x, {1, 0}, "mirror");
              }),
              "pad: mode must be constant, reflect, replicate or circular, not mirror");
    EXPECT_EQ(
        messageOf<ShapeError>([&] {
            pixel_shuffle(ones({3, 1, 1}), 2);
        }),
        "pixel_shuffle: 3 channels of [3, 1, 1] are not a multiple of upscale_factor squared, "
        "4");
    EXPECT_EQ(messageOf<IndexError>([&] { topk(x, 4); }),
              "topk: k 4 is out of range for dimension 1 of size 3: give 0 to 3");
    EXPECT_EQ(messageOf<ShapeError>([&] { max(zeros({0})); }),
              "max: [0] is empty, there is no element to choose");
    EXPECT_EQ(messageOf<Error>([&] { quantile(x, 1.5); }),
              "quantile: q must lie in [0, 1], not 1.500000");
}

/// Long lines are sorted in pieces on several threads; the order is that of a stable sort.
TEST(Sorting, LongLinesAreSortedAsShortOnes) {
    constexpr std::int64_t kCount = 200001;
    std::vector<float> values(kCount);
    std::uint32_t state = 1;
    for (float& v : values) {
        state = state * 1664525U + 1013904223U;
        v = static_cast<float>(state >> 20U);  // 4096 values: many are equal
    }
    std::vector<std::int64_t> order(kCount);
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
    const Tensor x = Tensor::from<float>(values, {kCount});
    for (const bool descending : {false, true}) {
        std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
            const float u = values[static_cast<std::size_t>(a)];
            const float v = values[static_cast<std::size_t>(b)];
            return u == v ? a < b : descending ? u > v : u < v;
        });
        EXPECT_EQ(argsort(x, 0, descending).to_vector<std::int64_t>(), order);
    }
    EXPECT_EQ(std::get<0>(unique(x)).numel(), 4096);
}

}  // namespace
}  // namespace tapescope::engine::test
