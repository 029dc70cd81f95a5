// SPDX-License-Identifier: Apache-2.0
// What a user reads when an operator is given what it cannot take: the operator, the shapes, the
// remedy.
#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/pointwise_inplace.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

#include <functional>
#include <gtest/gtest.h>
#include <limits>

namespace tapescope::engine {
namespace {

template <class E>
std::string textOf(const std::function<void()>& fn) {
    try {
        fn();
    } catch (const E& error) {
        return error.what();
    } catch (const std::exception& other) {
        return std::string("another exception: ") + other.what();
    }
    return "no exception";
}

/// gtest shows the whole text where it is not as expected.
testing::AssertionResult startsWith(const std::string& text, const std::string& start) {
    if (text.starts_with(start)) return testing::AssertionSuccess();
    return testing::AssertionFailure()
           << '"' << text << "\" does not start with \"" << start << '"';
}
testing::AssertionResult contains(const std::string& text, const std::string& part) {
    if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << '"' << text << "\" does not contain \"" << part << '"';
}

TEST(OperatorErrors, ShapesThatDoNotBroadcastAreBothNamed) {
    const Tensor a = ones({2, 3});
    const Tensor b = ones({4});
    EXPECT_TRUE(startsWith(textOf<ShapeError>([&] { add(a, b); }),
                           "add: shapes [2, 3] and [4] do not broadcast (at "
                           "tests/engine/ops/operator_errors_test.cpp:"));
    EXPECT_TRUE(startsWith(textOf<ShapeError>([&] { lt(a, b); }),
                           "lt: shapes [2, 3] and [4] do not broadcast"));
    EXPECT_TRUE(startsWith(textOf<ShapeError>([&] { where(gt(a, a), a, b); }),
                           "where: shapes [2, 3] and [4] do not broadcast"));
    EXPECT_TRUE(startsWith(textOf<ShapeError>([&] { lerp(a, b, a); }),
                           "lerp: shapes [2, 3] and [4] do not broadcast"));
}

TEST(OperatorErrors, AnExpressionNamesItsOwnLine) {
    const std::string text = textOf<ShapeError>([] { ones({2}) * ones({3}); });
    EXPECT_TRUE(startsWith(text, "mul: shapes [2] and [3] do not broadcast"));
    EXPECT_TRUE(contains(text, "operator_errors_test.cpp:" + std::to_string(__LINE__ - 2)));
}

TEST(OperatorErrors, AnInPlaceResultMustFitItsTarget) {
    const Tensor row = ones({3});
    EXPECT_TRUE(startsWith(textOf<ShapeError>([&] {
                               add_(row, ones({2, 3}));
                           }),
                           "add_: the result [2, 3] does not fit the tensor [3] it is written to"));
    const Tensor whole = ones({3}, {.dtype = DType::I64});
    EXPECT_TRUE(
        startsWith(textOf<DTypeError>([&] { add_(whole, row); }), "add_: the result is float32"));
    EXPECT_TRUE(
        startsWith(textOf<DTypeError>([&] { div_(whole, whole); }), "div_: the result is float32"));
    EXPECT_EQ(row.to_vector<double>(), (std::vector<double>{1, 1, 1}));
}

TEST(OperatorErrors, AnExpandedTensorCannotBeWritten) {
    EXPECT_TRUE(startsWith(textOf<ShapeError>([] {
                               add_(expand(ones({1, 3}), {2, 3}), ones({3}));
                           }),
                           "add_: the tensor [2, 3] is expanded, several of its elements share one "
                           "place in memory"));
}

TEST(OperatorErrors, TypesThatAnOperatorDoesNotTakeComeWithARemedy) {
    const Tensor flags = ones({2}, {.dtype = DType::Bool});
    const Tensor whole = ones({2}, {.dtype = DType::I64});
    EXPECT_TRUE(
        startsWith(textOf<DTypeError>([&] { sub(flags, flags); }),
                   "sub: bool tensors cannot be used; convert them with to(x, DType::I64)"));
    EXPECT_TRUE(
        startsWith(textOf<DTypeError>([&] { neg(flags); }), "neg: bool tensors cannot be used"));
    EXPECT_TRUE(
        startsWith(textOf<DTypeError>([&] { relu(flags); }), "relu: bool tensors cannot be used"));
    EXPECT_TRUE(
        contains(textOf<DTypeError>([&] { gelu(whole); }), "convert it with to(x, DType::F32)"));
    EXPECT_TRUE(
        contains(textOf<DTypeError>([&] { var(whole); }), "convert it with to(x, DType::F32)"));
    EXPECT_TRUE(startsWith(textOf<DTypeError>([&] { where(whole, whole, whole); }),
                           "where: condition must be bool, not int64"));
    EXPECT_TRUE(startsWith(textOf<DTypeError>([&] { clamp_(whole, 0.5, 2); }),
                           "clamp_: the result is float32 and cannot be written in place"));
    EXPECT_TRUE(startsWith(textOf<Error>([&] { pow(whole, wrappedNumber(std::int64_t{-1})); }),
                           "pow: integers to negative integer powers are not allowed"));
    EXPECT_TRUE(startsWith(textOf<DTypeError>([] { rand({2}, {.dtype = DType::I64}); }),
                           "rand: the dtype must be floating point, not int64"));
}

TEST(OperatorErrors, DimensionsOutOfRangeAreNamed) {
    const Tensor x = ones({2, 3});
    EXPECT_TRUE(
        startsWith(textOf<IndexError>([&] { sum(x, {2}); }), "sum: dimension 2 is out of range"));
    EXPECT_TRUE(startsWith(textOf<IndexError>([&] {
                               mean(x, {0, -2});
                           }),
                           "mean: dimension -2 is given twice"));
    EXPECT_TRUE(startsWith(textOf<IndexError>([&] { argmax(x, -3); }),
                           "argmax: dimension -3 is out of range"));
    EXPECT_TRUE(startsWith(textOf<IndexError>([&] { cumsum(x, 5); }),
                           "cumsum: dimension 5 is out of range"));
}

TEST(OperatorErrors, NothingHasNoExtreme) {
    EXPECT_TRUE(startsWith(textOf<ShapeError>([] { amax(ones({0})); }),
                           "amax: dimension 0 of [0] is empty"));
    EXPECT_TRUE(startsWith(textOf<ShapeError>([] {
                               argmin(ones({2, 0}), 1);
                           }),
                           "argmin: dimension 1 of [2, 0] is empty"));
}

TEST(OperatorErrors, CreationChecksItsArguments) {
    EXPECT_TRUE(startsWith(textOf<ShapeError>([] {
                               zeros({2, -1});
                           }),
                           "zeros: sizes [2, -1] must not be negative"));
    EXPECT_TRUE(startsWith(textOf<ShapeError>([] { arange(0, 5, -1); }), "arange: from 0"));
    EXPECT_TRUE(
        startsWith(textOf<ShapeError>([] { arange(0, std::numeric_limits<double>::infinity()); }),
                   "arange: "));
    EXPECT_TRUE(startsWith(textOf<ShapeError>([] { randperm(-1); }),
                           "randperm: sizes [-1] must not be negative"));
    EXPECT_TRUE(startsWith(textOf<Error>([] { bernoulli(full({2}, 1.5)); }),
                           "bernoulli: the probability 1.5"));
}

TEST(OperatorErrors, AMisspeltNameBringsTheNearest) {
    const Tensor x = ones({2});
    const Tensor* inputs[] = {&x};
    EXPECT_TRUE(contains(textOf<Error>([&] { call("rleu", inputs, Attrs{}); }), "relu"));
}

TEST(OperatorErrors, ArgumentsOfACallByNameAreChecked) {
    const Tensor x = ones({2});
    const Tensor* inputs[] = {&x};
    EXPECT_TRUE(startsWith(textOf<Error>([&] { call("clamp", inputs, Attrs{0.0}); }),
                           "clamp: the argument max is missing; it must be a number"));
    EXPECT_TRUE(startsWith(textOf<Error>([&] { call("sum", inputs, Attrs{2.5}); }),
                           "sum: the argument dim must be a list of whole numbers"));
    EXPECT_TRUE(startsWith(textOf<Error>([&] { call("relu", inputs, Attrs{2.5}); }),
                           "relu: 1 numbers were given as arguments, it takes 0"));
}

TEST(Operators, DefaultsFillACallByName) {
    const Tensor x = Tensor::from<float>({-1, 2}, {2});
    const Tensor* inputs[] = {&x};
    EXPECT_EQ(call("leaky_relu", inputs, Attrs{})[0].to_vector<float>(),
              (std::vector<float>{-0.01F, 2}));
    EXPECT_EQ(call("sum", inputs, Attrs{})[0].item(), 1);
    EXPECT_EQ(call("clamp", inputs, Attrs{std::int64_t{0}, std::int64_t{1}})[0].to_vector<float>(),
              (std::vector<float>{0, 1}));
    EXPECT_EQ(call("arange", {}, Attrs{0.0, 3.0})[0].to_vector<std::int64_t>(),
              (std::vector<std::int64_t>{0, 1, 2}));
}

/// A default that does not say what it prints would be worse than none.
TEST(Operators, EveryDefaultReadsBackAsItIsWritten) {
    for (const OpDef* op : OpTable::instance().rows()) {
        Attrs given;
        for (const AttrDef& attr : op->attrs) {
            if (!attr.defaultText.empty()) {
                given.push_back(std::monostate{});
                continue;
            }
            switch (attr.kind) {
                case AttrKind::Bool:
                    given.push_back(true);
                    break;
                case AttrKind::Int:
                    given.push_back(std::int64_t{1});
                    break;
                case AttrKind::Float:
                    given.push_back(1.0);
                    break;
                case AttrKind::Dims:
                    given.push_back(Dims{1});
                    break;
                case AttrKind::DType:
                    given.push_back(DType::F32);
                    break;
            }
        }
        const std::string text = attrsText(*op, completeAttrs(*op, given));
        for (const AttrDef& attr : op->attrs) {
            if (attr.defaultText.empty()) continue;
            const std::string bare(attr.defaultText);
            const std::string listed = "[" + bare + "]";
            const bool spatial = attr.kind == AttrKind::Dims && bare[0] != '[' && bare != "none";
            EXPECT_TRUE(contains(text, std::string(attr.name) + "=" + (spatial ? listed : bare)))
                << op->name;
        }
    }
}

TEST(Operators, NumbersInExpressionsKeepTheTensorsType) {
    const Tensor whole = full({2}, 3, {.dtype = DType::I64});
    EXPECT_EQ((whole + 1).dtype(), DType::I64);
    EXPECT_EQ((2 * whole).to_vector<std::int64_t>(), (std::vector<std::int64_t>{6, 6}));
    EXPECT_EQ((whole + 0.5).dtype(), DType::F32);
    EXPECT_EQ((whole / 2).to_vector<double>(), (std::vector<double>{1.5, 1.5}));
    const Tensor exact = full({1}, 1, {.dtype = DType::F64});
    EXPECT_EQ((exact * 0.1).item(), 0.1);
    EXPECT_EQ(mul(exact, 0.1).item(), 0.1);
    EXPECT_EQ((ones({1}) - 0.25).dtype(), DType::F32);
    EXPECT_EQ((-exact).item(), -1);
}

TEST(Operators, InPlaceReadsTheValuesFromBeforeTheWrite) {
    const Tensor x = Tensor::from<float>({1, 2, 3, 4}, {2, 2});
    add_(x, transpose(x, 0, 1));
    EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{2, 5, 5, 8}));
    const Tensor y = Tensor::from<float>({1, 2, 3, 4}, {4});
    copy_(slice(y, 0, 1, 4), slice(y, 0, 0, 3));
    EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{1, 1, 2, 3}));
    mul_(y, select(y, 0, 3));
    EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{3, 3, 6, 9}));
}

TEST(Operators, ToGivesTheTensorItselfWhereNothingChanges) {
    const Tensor x = ones({2});
    EXPECT_TRUE(same(to(x, DType::F32), x));
    EXPECT_FALSE(same(to(x, DType::F64), x));
}

}  // namespace
}  // namespace tapescope::engine
