// SPDX-License-Identifier: Apache-2.0
#include "engine/errors.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "message_of.h"

namespace tapescope::engine::test {
namespace {

Tensor indices(std::initializer_list<std::int64_t> values) {
    return Tensor::from<std::int64_t>(values, {static_cast<std::int64_t>(values.size())});
}

TEST(Index, AnIndexOutOfRangeIsNamedWithTheSize) {
    const Tensor x = zeros({2, 3});
    const auto text = [](const auto& fn) { return messageOf<IndexError>(fn); };
    EXPECT_EQ(text([&] {
                  index_select(x, 1, indices({0, 3}));
              }),
              "index_select: index 3 is out of range for dimension 1 of size 3");
    EXPECT_EQ(text([&] { index_select(x, 1, indices({-1})); }),
              "index_select: index -1 is out of range for dimension 1 of size 3");
    EXPECT_EQ(text([&] {
                  gather(x, 0, reshape(indices({2}), {1, 1}));
              }),
              "gather: index 2 is out of range for dimension 0 of size 2");
    EXPECT_EQ(text([&] {
                  scatter_add(x, 0, reshape(indices({5}), {1, 1}), zeros({1, 1}));
              }),
              "scatter_add: index 5 is out of range for dimension 0 of size 2");
    EXPECT_EQ(text([&] {
                  index_add(x, 0, indices({0, 9}), zeros({2, 3}));
              }),
              "index_add: index 9 is out of range for dimension 0 of size 2");
    EXPECT_EQ(text([&] { one_hot(indices({4}), 4); }),
              "one_hot: index 4 is out of range for dimension 1 of size 4");
    EXPECT_EQ(text([&] {
                  embedding(zeros({10, 2}), indices({10}));
              }),
              "embedding: index 10 is out of range for dimension 0 of size 10");
    EXPECT_EQ(text([&] {
                  nll_loss(zeros({2, 10}), indices({3, 10}));
              }),
              "nll_loss: index 10 is out of range for dimension 1 of size 10");
}

TEST(Index, MisshapenOrMistypedIndicesAreRefused) {
    const Tensor x = zeros({2, 3});
    EXPECT_EQ(messageOf<DTypeError>([&] { index_select(x, 0, zeros({2})); }),
              "index_select: index must be int64, not float32");
    EXPECT_EQ(messageOf<ShapeError>([&] {
                  index_select(x, 0, reshape(indices({0, 1}), {1, 2}));
              }),
              "index_select: index [1, 2] must have 1 dimension");
    EXPECT_EQ(messageOf<ShapeError>([&] { gather(x, 0, indices({0})); }),
              "gather: index [1] must have as many dimensions as input [2, 3]");
    EXPECT_EQ(messageOf<ShapeError>([&] {
                  gather(x, 0, zeros({1, 4}, {.dtype = DType::I64}));
              }),
              "gather: index [1, 4] is larger than input [2, 3] in dimension 1");
    EXPECT_EQ(
        messageOf<ShapeError>([&] {
            index_add(x, 1, indices({0, 1}), zeros({2, 3}));
        }),
        "index_add: source [2, 3] must be [2, 2] for input [2, 3] and 2 indices along dimension 1");
    EXPECT_EQ(messageOf<ShapeError>([&] { one_hot(indices({0}), 0); }),
              "one_hot: num_classes 0 must be at least 1");
}

TEST(Index, OneHotFindsTheNumberOfClasses) {
    EXPECT_EQ(one_hot(indices({2, 0}), -1).to_vector(), (std::vector<double>{0, 0, 1, 1, 0, 0}));
}

TEST(Index, RepeatedIndicesSumInOrderOnAnyNumberOfThreads) {
    // 1 + 2^-30 - 1 depends on the order in float; a fixed order gives fixed bits.
    const std::int64_t rows = 3000;
    const std::int64_t width = 64;
    const Tensor source =
        reshape(to(arange(0, static_cast<double>(rows * width)), DType::F32), {rows, width});
    std::vector<std::int64_t> where;
    for (std::int64_t i = 0; i < rows; ++i) where.push_back(i * i % 7);
    const Tensor index = Tensor::from<std::int64_t>(where, {rows});
    const Tensor got = index_add(zeros({7, width}), 0, index, source);
    std::vector<float> expected(static_cast<std::size_t>(7 * width), 0.0F);
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < width; ++j) {
            expected[static_cast<std::size_t>(where[static_cast<std::size_t>(i)] * width + j)] +=
                static_cast<float>(i * width + j);
        }
    }
    EXPECT_EQ(got.to_vector<float>(), expected);
}

TEST(Index, ScatterAddPassesZerosToUnusedElementsOfItsSource) {
    const Tensor source = ones({2, 3}, {.requires_grad = true});
    const Tensor index = zeros({1, 2}, {.dtype = DType::I64});
    sum(scatter_add(zeros({2, 3}), 0, index, source)).backward();
    EXPECT_EQ(source.grad().to_vector(), (std::vector<double>{1, 1, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace tapescope::engine::test
