// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/shape.h"

#include "engine/errors.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "message_of.h"

#include <limits>

namespace tapescope::engine::test {
namespace {

using Values = std::vector<double>;

Tensor counting(const Dims& sizes) {
    return reshape(to(arange(0, static_cast<double>(numelOf(sizes))), DType::F32), sizes);
}

TEST(Shape, ViewsShareMemoryAndVersionWithTheirBase) {
    const Tensor x = counting({2, 3, 4});
    const Tensor views[] = {
        view(x, {6, 4}), permute(x, {2, 0, 1}),      transpose(x, 0, 1),   expand(x, {5, 2, 3, 4}),
        unsqueeze(x, 1), narrow(x, 2, 1, 2),         slice(x, 1, 0, 3, 2), select(x, 0, 1),
        flatten(x, 1),   squeeze(unsqueeze(x, 0), 0)};
    for (const Tensor& v : views) EXPECT_EQ(v.storage().get(), x.storage().get());
    const std::uint32_t before = x.version();
    fill_(views[7], 5);
    EXPECT_GT(x.version(), before);
    EXPECT_EQ(sum(x).item(), 66 + 12 * 5);
}

TEST(Shape, ReshapeCopiesOnlyWhereStridesCannotExpressTheNewShape) {
    const Tensor x = counting({2, 3, 4});
    EXPECT_EQ(reshape(x, {4, -1}).storage().get(), x.storage().get());
    const Tensor turned = transpose(x, 1, 2);  // [2, 4, 3]
    EXPECT_EQ(reshape(turned, {2, 2, 2, 3}).storage().get(), x.storage().get());
    const Tensor copied = reshape(turned, {8, 3});
    EXPECT_NE(copied.storage().get(), x.storage().get());
    EXPECT_EQ(copied.to_vector(), turned.to_vector());
    EXPECT_EQ(reshape(expand(counting({1, 2}), {3, 2}), {6}).to_vector(),
              (Values{0, 1, 0, 1, 0, 1}));
}

TEST(Shape, ContiguousReturnsADenseTensorItself) {
    const Tensor x = counting({2, 3});
    EXPECT_TRUE(same(contiguous(x), x));
    const Tensor packed = contiguous(transpose(x, 0, 1));
    EXPECT_TRUE(packed.is_contiguous());
    EXPECT_EQ(packed.to_vector(), (Values{0, 3, 1, 4, 2, 5}));
    EXPECT_FALSE(same(clone(x), x));
}

TEST(Shape, SplitAndChunkCoverTheDimensionWithAShorterLastPart) {
    const Tensor x = counting({7, 2});
    std::vector<std::int64_t> sizes;
    for (const Tensor& part : split(x, 3)) sizes.push_back(part.size(0));
    EXPECT_EQ(sizes, (std::vector<std::int64_t>{3, 3, 1}));
    sizes.clear();
    for (const Tensor& part : chunk(x, 3)) sizes.push_back(part.size(0));
    EXPECT_EQ(sizes, (std::vector<std::int64_t>{3, 3, 1}));
    EXPECT_EQ(cat(split(x, 3), 0).to_vector(), x.to_vector());
    EXPECT_EQ(chunk(counting({0, 2}), 3).size(), 3U);
    EXPECT_EQ(split(x, 2, 1)[0].to_vector(), x.to_vector());
}

TEST(Shape, SumToSizeUndoesBroadcasting) {
    const Tensor x = counting({2, 3, 4});
    EXPECT_TRUE(same(sum_to_size(x, {2, 3, 4}), x));
    EXPECT_EQ(sum_to_size(x, {3, 1}).to_vector(), (Values{60, 92, 124}));
    EXPECT_EQ(sum_to_size(x, {}).item(), 276);
    EXPECT_EQ(messageOf<ShapeError>([&] {
                  sum_to_size(x, {2, 4});
              }),
              "sum_to_size: [2, 4] does not broadcast to [2, 3, 4]");
}

TEST(Shape, SlicesClampLikeNumPy) {
    const Tensor x = counting({5});
    constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(slice(x, 0, 1, kEnd).to_vector(), (Values{1, 2, 3, 4}));
    EXPECT_EQ(slice(x, 0, -2, kEnd).to_vector(), (Values{3, 4}));
    EXPECT_EQ(slice(x, 0, std::numeric_limits<std::int64_t>::min(), 3, 2).to_vector(),
              (Values{0, 2}));
    EXPECT_EQ(slice(x, 0, 4, kEnd, kEnd).to_vector(), (Values{4}));
    EXPECT_EQ(slice(x, 0, 3, 1).numel(), 0);
}

TEST(Shape, WrongShapesAreNamedWithWhatWasExpected) {
    const Tensor x = counting({2, 3});
    const auto shape = [](const auto& fn) { return messageOf<ShapeError>(fn); };
    EXPECT_EQ(
        shape([&] {
            reshape(x, {4, -1});
        }),
        "reshape: [2, 3] has 6 elements, which [4, -1] cannot hold: 6 is not a multiple of 4");
    EXPECT_EQ(shape([&] { reshape(x, {5}); }),
              "reshape: [2, 3] has 6 elements and cannot become [5] of 5");
    EXPECT_EQ(shape([&] {
                  reshape(x, {-1, -1});
              }),
              "reshape: only one size may be -1, not several as in [-1, -1]");
    EXPECT_EQ(shape([&] {
                  reshape(zeros({0}), {0, -1});
              }),
              "reshape: -1 in [0, -1] is ambiguous because another size is 0");
    EXPECT_EQ(shape([&] { reshape(x, {-2, 3}); }), "reshape: sizes [-2, 3] must not be negative");
    EXPECT_EQ(shape([&] {
                  reshape(x, {std::int64_t{1} << 40, std::int64_t{1} << 40});
              }),
              "reshape: the sizes overflow: 1099511627776 * 1099511627776");
    EXPECT_EQ(shape([&] { view(transpose(x, 0, 1), {6}); }),
              "view: [3, 2] with strides [1, 3] cannot be seen as [6] without a copy; use "
              "reshape() or contiguous() "
              "first");
    EXPECT_EQ(shape([&] { permute(x, {0}); }),
              "permute: [0] must name each of the 2 dimensions of [2, 3]");
    EXPECT_EQ(shape([&] {
                  expand(x, {2, 4});
              }),
              "expand: [2, 3] does not expand to [2, 4]: size 3 of dimension 1 must be 1 or 4");
    EXPECT_EQ(shape([&] {
                  cat(std::vector<Tensor>{x, zeros({2, 2, 1})});
              }),
              "cat: tensor 1 [2, 2, 1] does not match tensor 0 [2, 3] outside dimension 0");
    EXPECT_EQ(shape([&] {
                  stack(std::vector<Tensor>{x, zeros({3, 2})});
              }),
              "stack: tensor 1 [3, 2] must have the shape of tensor 0, [2, 3]");
    EXPECT_EQ(shape([&] {
                  pad(x, {-2, -2});
              }),
              "pad: padding [-2, -2] cuts away more than size 3 of dimension 1 of [2, 3]");
    EXPECT_EQ(shape([&] { cat(std::span<const Tensor>()); }), "cat: give at least one tensor");
    EXPECT_EQ(shape([&] { split(x, 0); }), "split: size 0 must be positive to split [2, 3]");
}

TEST(Shape, WrongDimensionsAndPositionsAreNamedWithTheirRange) {
    const Tensor x = counting({2, 3});
    const auto index = [](const auto& fn) { return messageOf<IndexError>(fn); };
    EXPECT_EQ(index([&] { transpose(x, 0, 2); }),
              "transpose: dimension 2 is out of range for a tensor of 2 dimensions: give -2 to 1");
    EXPECT_EQ(index([&] {
                  permute(x, {0, -2});
              }),
              "permute: dimension -2 is given twice in [0, -2]");
    EXPECT_EQ(index([&] { select(x, 1, 3); }),
              "select: index 3 is out of range for dimension 1 of size 3");
    EXPECT_EQ(index([&] { select(x, 1, -4); }),
              "select: index -4 is out of range for dimension 1 of size 3");
    EXPECT_EQ(index([&] { narrow(x, 1, 2, 2); }),
              "narrow: start 2 and length 2 reach past dimension 1 of size 3");
    EXPECT_EQ(index([&] { narrow(x, 1, 0, -1); }), "narrow: length -1 must not be negative");
    EXPECT_EQ(index([&] { slice(x, 0, 0, 2, 0); }), "slice: step 0 must be at least 1");
    EXPECT_EQ(index([&] { select(Tensor::scalar(1), 0, 0); }),
              "select: a 0-dimensional tensor has no elements to choose from");
}

TEST(Shape, ErrorsNameTheCallersLine) {
    const Tensor x = counting({2, 3});
    try {
        reshape(transpose(x, 0, 1), {4});
        ADD_FAILURE() << "nothing was thrown";
    } catch (const ShapeError& error) {
        EXPECT_NE(std::string(error.what()).find("shape_test.cpp:" + std::to_string(__LINE__ - 3)),
                  std::string::npos)
            << error.what();
    }
}

TEST(Shape, ARankAboveTheLimitIsRefused) {
    const Tensor x = zeros(Dims::filled(kMaxRank, 1));
    EXPECT_THROW(unsqueeze(x, 0), ShapeError);
}

}  // namespace
}  // namespace tapescope::engine::test
