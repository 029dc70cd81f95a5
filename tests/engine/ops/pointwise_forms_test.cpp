// SPDX-License-Identifier: Apache-2.0
// Functions that are made of other operators, the forms that take numbers, and what they refuse.
#include "engine/autograd/autograd.h"
#include "engine/errors.h"
#include "engine/ops/creation.h"
#include "engine/ops/pointwise_activations.h"
#include "engine/ops/pointwise_arithmetic.h"
#include "engine/ops/pointwise_inplace.h"
#include "engine/ops/pointwise_math.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "message_of.h"

#include <array>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace tapescope::engine {
namespace {

using test::messageOf;
using Values = std::vector<double>;

Values valuesOf(const Tensor& t) { return t.to_vector<double>(); }
Tensor vectorOf(std::initializer_list<float> values) {
    return Tensor::from(values, {static_cast<std::int64_t>(values.size())});
}
Tensor wholeOf(std::initializer_list<std::int64_t> values) {
    return Tensor::from(values, {static_cast<std::int64_t>(values.size())});
}

TEST(PointwiseForms, DivRoundsAsTheModeSays) {
    const Tensor x = vectorOf({7, -7});
    EXPECT_EQ(valuesOf(div(x, 2, "floor")), (Values{3, -4}));
    EXPECT_EQ(valuesOf(div(x, 2, "trunc")), (Values{3, -3}));
    EXPECT_EQ(valuesOf(div(x, 2, "")), (Values{3.5, -3.5}));
    EXPECT_EQ(valuesOf(true_divide(wholeOf({7}), 2)), (Values{3.5}));
    EXPECT_TRUE(messageOf<Error>([&] {
                    div(x, 2, "round");
                }).starts_with("div: rounding_mode must be empty, \"floor\" or \"trunc\""));
}

TEST(PointwiseForms, IntegersAreNotDividedByZero) {
    EXPECT_TRUE(messageOf<Error>([] {
                    remainder(wholeOf({5, 6}), wholeOf({2, 0}));
                }).starts_with("remainder: an integer is divided by 0"));
    EXPECT_TRUE(messageOf<Error>([] {
                    floor_divide(wholeOf({5}), 0);
                }).starts_with("floor_divide: an integer is divided by 0"));
}

TEST(PointwiseForms, NumbersKeepTheirCategory) {
    EXPECT_EQ(remainder(wholeOf({7}), 4).dtype(), DType::I64);
    EXPECT_EQ(remainder(wholeOf({7}), 2.5).dtype(), DType::F32);
    EXPECT_EQ(valuesOf(remainder(7, wholeOf({4}))), (Values{3}));
    EXPECT_EQ(valuesOf(where(gt(wholeOf({1, 5}), wholeOf({2})), 10, 20)), (Values{20, 10}));
    EXPECT_EQ(float_power(wholeOf({2}), 3).dtype(), DType::F64);
    EXPECT_EQ(valuesOf(float_power(wholeOf({2}), -2)), (Values{0.25}));
    EXPECT_EQ(valuesOf(ldexp(vectorOf({1.5F}), wholeOf({3}))), (Values{12}));
    EXPECT_EQ(valuesOf(lerp(vectorOf({0, 10}), vectorOf({4, 20}), 0.25)), (Values{1, 12.5}));
}

TEST(PointwiseForms, ClampTakesTensorBounds) {
    const Tensor x = vectorOf({-2, 0.5F, 3});
    EXPECT_EQ(valuesOf(clamp(x, vectorOf({-1, 1, 0}), vectorOf({1, 2, 2}))), (Values{-1, 1, 2}));
    EXPECT_EQ(valuesOf(clamp(x, Tensor(), vectorOf({1}))), (Values{-2, 0.5, 1}));
    EXPECT_TRUE(messageOf<Error>([&] {
                    clamp(x, Tensor(), Tensor());
                }).starts_with("clamp: neither min nor max is given"));
}

TEST(PointwiseForms, MaskedFillSendsTheGradientToItsTensorValue) {
    const Tensor mask = Tensor::from({true, false, true}, {3});
    Tensor value = Tensor::scalar(5);
    value.set_requires_grad(true);
    const Tensor y = masked_fill(vectorOf({1, 2, 3}), mask, value);
    EXPECT_EQ(valuesOf(y), (Values{5, 2, 5}));
    sum(y).backward();
    EXPECT_EQ(value.grad().item(), 2);
    EXPECT_TRUE(messageOf<ShapeError>([&] {
                    masked_fill(y, mask, vectorOf({1, 2, 3}));
                }).starts_with("masked_fill: value [3] must be a 0-d tensor"));
}

TEST(PointwiseForms, EqualAndAllcloseCompareWholeTensors) {
    EXPECT_TRUE(equal(vectorOf({1, 2}), vectorOf({1, 2})));
    EXPECT_FALSE(equal(vectorOf({1, 2}), vectorOf({1, 3})));
    EXPECT_FALSE(equal(vectorOf({1, 2}), vectorOf({1})));
    EXPECT_TRUE(allclose(vectorOf({1, 2}), vectorOf({1.000001F, 2})));
    EXPECT_FALSE(allclose(vectorOf({1, 2}), vectorOf({1.1F, 2})));
    EXPECT_TRUE(messageOf<Error>([] {
                    isclose(vectorOf({1}), vectorOf({1}), -1);
                }).starts_with("isclose: rtol -1"));
}

TEST(PointwiseForms, GeluNamesItsApproximations) {
    const Tensor x = vectorOf({-1, 2});
    EXPECT_EQ(valuesOf(gelu(x, "none")), valuesOf(gelu(x)));
    EXPECT_NE(valuesOf(gelu(x, "tanh")), valuesOf(gelu(x)));
    EXPECT_TRUE(messageOf<Error>([&] {
                    gelu(x, "erf");
                }).starts_with("gelu: approximate must be \"none\" or \"tanh\", not \"erf\""));
}

TEST(PointwiseForms, WrongTypesAndNumbersAreNamed) {
    const Tensor x = vectorOf({1});
    const Tensor whole = wholeOf({1});
    const Tensor flag = ones({1}, {.dtype = DType::Bool});
    EXPECT_TRUE(messageOf<DTypeError>([&] {
                    bitwise_and(x, x);
                }).starts_with("bitwise_and: float32 tensors cannot be used"));
    EXPECT_TRUE(messageOf<DTypeError>([&] {
                    frac(whole);
                }).starts_with("frac: int64 tensors cannot be used"));
    EXPECT_TRUE(messageOf<DTypeError>([&] {
                    gcd(flag, flag);
                }).starts_with("gcd: bool tensors cannot be used"));
    EXPECT_TRUE(messageOf<DTypeError>([&] {
                    positive(flag);
                }).starts_with("positive: bool tensors cannot be used"));
    EXPECT_TRUE(messageOf<DTypeError>([&] {
                    heaviside(x, whole);
                }).starts_with("heaviside: input is float32 but values is int64"));
    EXPECT_TRUE(messageOf<DTypeError>([&] {
                    round(whole, 2);
                }).starts_with("round: int64 tensors have no decimals"));
    EXPECT_TRUE(messageOf<Error>([&] {
                    polygamma(-1, x);
                }).starts_with("polygamma: the order n = -1 must not be negative"));
    EXPECT_TRUE(messageOf<Error>([&] { hardtanh(x, 2, 1); }).starts_with("hardtanh: min_val 2"));
    EXPECT_TRUE(messageOf<Error>([&] { celu(x, 0); }).starts_with("celu: alpha must not be 0"));
    EXPECT_TRUE(messageOf<Error>([&] {
                    softshrink(x, -1);
                }).starts_with("softshrink: lambd must not be negative"));
    EXPECT_TRUE(messageOf<ShapeError>([&] {
                    prelu(ones({2, 3}), ones({2}));
                }).starts_with("prelu: weight [2] must hold one slope"));
    EXPECT_TRUE(messageOf<ShapeError>([&] {
                    glu(ones({3}));
                }).starts_with("glu: dimension 0 of input [3] must have an even size"));
    EXPECT_TRUE(messageOf<DTypeError>([&] {
                    threshold(whole, 0, 1e30);
                }).starts_with("threshold: value 1"));
    EXPECT_TRUE(messageOf<DTypeError>([&] {
                    addcmul(whole, whole, whole, 0.5);
                }).starts_with("addcmul: value 0.500000 is not a whole number"));
    EXPECT_EQ(polygamma(std::int64_t{1} << 50, x).item(), -std::numeric_limits<double>::infinity());
    EXPECT_TRUE(same(positive(x), x));
}

TEST(InplaceForms, RefuseWhatTheTensorCannotHold) {
    const Tensor whole = wholeOf({4, 9});
    EXPECT_TRUE(messageOf<DTypeError>([&] {
                    sqrt_(whole);
                }).starts_with("sqrt_: the result is float32 and cannot be written in place"));
    EXPECT_TRUE(messageOf<ShapeError>([] {
                    pow_(ones({3}), ones({2, 3}));
                }).starts_with("pow_: the result [2, 3] does not fit the tensor [3]"));
    EXPECT_TRUE(messageOf<ShapeError>([] {
                    exp_(expand(ones({1, 2}), {3, 2}));
                }).starts_with("exp_: the tensor [3, 2] is expanded"));
}

TEST(InplaceForms, CountAsWritesOfWhatBackwardSaved) {
    Tensor leaf = vectorOf({1, 2});
    leaf.set_requires_grad(true);
    EXPECT_THROW(exp_(leaf), AutogradError);
    const Tensor x = mul(leaf, 1.0);
    const Tensor y = sin(x);
    const std::uint32_t before = x.version();
    mul_(x, 2.0);
    EXPECT_GT(x.version(), before);
    EXPECT_TRUE(messageOf<InPlaceError>([&] { sum(y).backward(); }).find("mul_") !=
                std::string::npos);
}

TEST(InplaceForms, ReadWhatTheyOverwriteFirst) {
    const Tensor x = arange(0, 6, 1, {.dtype = DType::F32});
    fmod_(slice(x, 0, 1, 6), add(slice(x, 0, 0, 5), 1.0));
    EXPECT_EQ(valuesOf(x), (Values{0, 0, 0, 0, 0, 0}));
    const Tensor y = arange(0, 6, 1, {.dtype = DType::F32});
    clamp_max_(slice(y, 0, 1, 6), slice(y, 0, 0, 5));
    EXPECT_EQ(valuesOf(y), (Values{0, 0, 1, 2, 3, 4}));
}

TEST(Creation, MeshgridSpansAGrid) {
    const std::array axes{vectorOf({1, 2, 3}), vectorOf({10, 20})};
    const auto ij = meshgrid(axes);
    EXPECT_EQ(ij[0].sizes(), (Dims{3, 2}));
    EXPECT_EQ(valuesOf(ij[0]), (Values{1, 1, 2, 2, 3, 3}));
    EXPECT_EQ(valuesOf(ij[1]), (Values{10, 20, 10, 20, 10, 20}));
    const auto xy = meshgrid(axes, "xy");
    EXPECT_EQ(valuesOf(xy[0]), (Values{1, 2, 3, 1, 2, 3}));
    EXPECT_EQ(valuesOf(xy[1]), (Values{10, 10, 10, 20, 20, 20}));
    EXPECT_TRUE(messageOf<Error>([&] { meshgrid(axes, "yx"); }).starts_with("meshgrid: indexing"));
}

TEST(Creation, TakesShapesAndTypes) {
    EXPECT_EQ(valuesOf(eye(2, 3)), (Values{1, 0, 0, 0, 1, 0}));
    EXPECT_EQ(scalar_tensor(2.5, {.dtype = DType::F64}).dtype(), DType::F64);
    EXPECT_EQ(scalar_tensor(2.5).sizes(), (Dims{}));
    EXPECT_TRUE(linspace(0, 1, 3, {.requires_grad = true}).requires_grad());
    EXPECT_EQ(empty({2, 0}, {.dtype = DType::I64}).sizes(), (Dims{2, 0}));
    EXPECT_EQ(empty_like(wholeOf({1, 2})).dtype(), DType::I64);
    EXPECT_TRUE(messageOf<Error>([] {
                    linspace(0, 1, -1);
                }).starts_with("linspace: the number of steps -1 must not be negative"));
    EXPECT_TRUE(messageOf<Error>([] {
                    linspace(0, 1e30, 3, {.dtype = DType::I64});
                }).starts_with("linspace: 1000000000000"));
    EXPECT_EQ(valuesOf(logspace(1, 30, 2, 10, {.dtype = DType::I64}))[1], -0x1p63);
    constexpr std::int64_t kHuge = std::int64_t{1} << 59;
    EXPECT_EQ(valuesOf(tril_indices(kHuge, 1, -kHuge + 1)), (Values{0x1p59 - 1, 0}));
    EXPECT_EQ(valuesOf(triu_indices(kHuge, 1)), (Values{0, 0}));
    EXPECT_TRUE(messageOf<ShapeError>([] { empty({-1}); }).starts_with("empty: sizes [-1]"));
    EXPECT_TRUE(messageOf<ShapeError>([] { tril_indices(-1, 2); }).starts_with("tril_indices: "));
}

}  // namespace
}  // namespace tapescope::engine
