// SPDX-License-Identifier: Apache-2.0
// Indexing in C++: libtorch's notation, and operators whose results are as large as the data say.
#include "engine/ops/tensor_index.h"

#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/indexing.h"
#include "engine/ops/op_def.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/rearrange.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "engine/ops/sorting.h"
#include "message_of.h"

#include <gtest/gtest.h>

namespace tapescope::engine::test {
namespace {

using namespace indexing;  // NOLINT(google-build-using-namespace): the notation under test
using Values = std::vector<double>;

Tensor counting(const Dims& sizes) {
    return reshape(arange(0, static_cast<double>(numelOf(sizes)), 1, {.dtype = DType::F32}), sizes);
}
Tensor places(std::initializer_list<std::int64_t> values) {
    return Tensor::from<std::int64_t>(values, {static_cast<std::int64_t>(values.size())});
}

TEST(TensorIndex, NumbersAndSlicesGiveViews) {
    const Tensor x = counting({3, 4});
    EXPECT_EQ(index(x, {1}).to_vector(), (Values{4, 5, 6, 7}));
    EXPECT_EQ(index(x, {-1, 2}).item(), 10);
    EXPECT_EQ(index(x, {Slice(1, None), Slice(None, None, 2)}).to_vector(), (Values{4, 6, 8, 10}));
    EXPECT_EQ(index(x, {Ellipsis, -1}).to_vector(), (Values{3, 7, 11}));
    EXPECT_EQ(index(x, {Slice(), None, 0}).sizes(), (Dims{3, 1}));
    EXPECT_EQ(index(x, {None, Ellipsis, None}).sizes(), (Dims{1, 3, 4, 1}));
    EXPECT_EQ(index(x, {Slice(-2, 100)}).sizes(), (Dims{2, 4}));
    EXPECT_EQ(index(x, {0}).storage().get(), x.storage().get());
}

TEST(TensorIndex, TensorsChooseAndBroadcast) {
    const Tensor x = counting({2, 3, 4});
    EXPECT_EQ(index(x, {Slice(), places({2, 0})}).sizes(), (Dims{2, 2, 4}));
    EXPECT_EQ(index(x, {places({1, 0}), Slice(), places({3, 3})}).to_vector(),
              (Values{15, 19, 23, 3, 7, 11}));
    EXPECT_EQ(index(x, {1, Ellipsis, places({0, -1})}).to_vector(),
              (Values{12, 15, 16, 19, 20, 23}));
    EXPECT_EQ(index(x, {Slice(1, None), None, places({0})}).sizes(), (Dims{1, 1, 1, 4}));
    const Tensor mask = gt(x, wrappedNumber(20.0));
    EXPECT_EQ(index(x, {mask}).to_vector(), (Values{21, 22, 23}));
    const Tensor rows = Tensor::from<bool>({true, false, false, false, true, false}, {2, 3});
    EXPECT_EQ(index(x, {rows, Slice(0, 2)}).to_vector(), (Values{0, 1, 16, 17}));
    EXPECT_EQ(index(x, {true, 0, 0}).sizes(), (Dims{1, 4}));
    EXPECT_EQ(index(x, {false, 0, 0}).sizes(), (Dims{0, 4}));
}

TEST(TensorIndex, PartsAreWrittenInPlace) {
    const Tensor x = zeros({2, 3});
    index_put_(x, {0, Slice(1, None)}, 5);
    index_put_(x, {Ellipsis, 0}, Tensor::from<float>({7, 8}, {2}));
    EXPECT_EQ(x.to_vector(), (Values{7, 5, 5, 8, 0, 0}));
    index_put_(x, {1, places({2, 1})}, Tensor::from<float>({1, 2}, {1, 2}));
    EXPECT_EQ(x.to_vector(), (Values{7, 5, 5, 8, 2, 1}));
    index_put_(x, {gt(x, wrappedNumber(4.0))}, 0);
    EXPECT_EQ(x.to_vector(), (Values{0, 0, 0, 0, 2, 1}));
    const Tensor square = counting({2, 2});
    index_put_(square, {places({0, 1})}, flip(square, {0}));
    EXPECT_EQ(square.to_vector(), (Values{2, 3, 0, 1}));
}

TEST(TensorIndex, WrongIndicesAreNamed) {
    const Tensor x = counting({2, 3});
    EXPECT_EQ(messageOf<IndexError>([&] {
                  index(x, {0, 0, 0});
              }),
              "index: 3 indices are too many for [2, 3]");
    EXPECT_EQ(messageOf<IndexError>([&] {
                  index(x, {Ellipsis, Ellipsis});
              }),
              "index: only one Ellipsis may be given");
    EXPECT_EQ(messageOf<IndexError>([&] { index(x, {places({2})}); }),
              "index: index 2 is out of range for dimension 0 of size 2");
    EXPECT_EQ(messageOf<IndexError>([&] {
                  index(x, {places({0, 1}), places({0, 1, 2})});
              }),
              "index: the indices do not broadcast: [2] and [3]");
    EXPECT_EQ(messageOf<DTypeError>([&] { index(x, {zeros({2})}); }),
              "index: an index must be int64, int32 or a bool mask, not float32");
    EXPECT_EQ(messageOf<IndexError>([&] { index(x, {ones({3}, {.dtype = DType::Bool})}); }),
              "index: the mask [3] does not fit the sizes [2, 3] from dimension 0 on");
    const std::vector<Tensor> row{places({0})};
    EXPECT_EQ(messageOf<ShapeError>([&] { index_put(x, row, zeros({2})); }),
              "index_put: values [2] do not broadcast to the indexed part [1, 3]");
    EXPECT_EQ(
        messageOf<Error>([&] {
            scatter_reduce(x, 0, zeros({1, 1}, {.dtype = DType::I64}), zeros({1, 1}), "median");
        }),
        "scatter_reduce: reduce must be sum, prod, mean, amax or amin, not median");
    EXPECT_EQ(messageOf<ShapeError>([&] {
                  masked_scatter(x, ones({2, 3}, {.dtype = DType::Bool}), zeros({5}));
              }),
              "masked_scatter: the mask chooses 6 elements, but source [5] has only 5");
}

TEST(TensorIndex, GradientsFlowThroughViewsAndTensors) {
    Tensor x = counting({2, 3});
    x.set_requires_grad(true);
    sum(index(x, {Slice(), places({2, 2, 0})})).backward();
    EXPECT_EQ(x.grad().to_vector(), (Values{1, 0, 2, 1, 0, 2}));
}

/// The results' shapes as an observer sees them.
struct ShapeWatch final : Observer {
    std::vector<std::string> seen;
    void onOpEnd(const OpCall& call) override {
        std::string text(call.op->name);
        for (const Tensor& t : call.outputs) text += " " + t.meta().toString();
        seen.push_back(text);
    }
};

TEST(DynamicOutputs, ObserversSeeTheSizesThatTheDataGave) {
    const Tensor x = Tensor::from<float>({0, 2, 0, 2}, {2, 2});
    Context context;
    const ContextScope scope(context);
    ShapeWatch watch;
    context.addObserver(watch);
    nonzero(x);
    masked_select(x, gt(x, wrappedNumber(1.0)));
    unique(x, true, true, true);
    tile(x, {1, 2});
    context.removeObserver(watch);
    EXPECT_EQ(watch.seen, (std::vector<std::string>{
                              "nonzero i64[2,2]", "gt bool[2,2]", "masked_select f32[2]",
                              "unique f32[2] i64[2,2] i64[2]", "reshape f32[2,1,2]",
                              "expand f32[2,2,2]", "clone f32[2,2,2]", "reshape f32[2,4]"}));
}

TEST(Composites, ErrorsNameTheCallersLineOnce) {
    const int line = __LINE__ + 3;
    const std::string text = [] {
        try {
            tile(ones({2}), {-1});
        } catch (const ShapeError& e) {
            return std::string(e.what());
        }
        return std::string();
    }();
    EXPECT_TRUE(text.starts_with("tile: repeats [-1] must not be negative (at ")) << text;
    EXPECT_TRUE(
        text.ends_with("tests/engine/ops/tensor_index_test.cpp:" + std::to_string(line) + ")"))
        << text;
    EXPECT_EQ(text.find("(at "), text.rfind("(at ")) << text;
}

}  // namespace
}  // namespace tapescope::engine::test
