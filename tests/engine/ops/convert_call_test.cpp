// SPDX-License-Identifier: Apache-2.0
// What the dispatcher does for kernels that do not know a type.
#include "engine/autograd/autograd.h"
#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/op_def.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "engine/optim/adam.h"
#include "engine/optim/sgd.h"

#include <gtest/gtest.h>

namespace tapescope::engine {
namespace {

using Values = std::vector<double>;

Tensor bf16(std::initializer_list<float> values, const Dims& sizes) {
    return to(Tensor::from<float>(values, sizes), DType::BF16);
}

TEST(ConvertedCall, WritesAnOptimisersStateBack) {
    Tensor w = bf16({1, 2}, {2}).set_requires_grad(true);
    optim::SGD sgd({w}, {.lr = 0.5, .momentum = 0.5});
    const std::uint32_t version = w.version();
    for (int i = 0; i < 2; ++i) {
        w.set_grad(bf16({1, 1}, {2}));
        sgd.step();
    }
    // Velocities 1 and 1.5.
    EXPECT_EQ(w.to_vector(), (Values{-0.25, 0.75}));
    EXPECT_EQ(w.version(), version + 2);
    EXPECT_EQ(w.dtype(), DType::BF16);

    Tensor v = bf16({1}, {1}).set_requires_grad(true);
    optim::Adam adam({v}, {.lr = 0.25});
    for (int i = 0; i < 2; ++i) {
        v.set_grad(bf16({4}, {1}));
        adam.step();
    }
    EXPECT_EQ(v.item(), 0.5);  // a constant gradient moves by lr a step
}

TEST(ConvertedCall, WritesRunningStatisticsBack) {
    const Tensor x = bf16({0, 2, 4, 6}, {4, 1});
    const Tensor mean = bf16({0}, {1});
    const Tensor variance = bf16({1}, {1});
    const Tensor y = batch_norm(x, {}, {}, mean, variance, true, 0.5, 0.0);
    EXPECT_EQ(y.dtype(), DType::BF16);
    EXPECT_EQ(mean.item(), 1.5);
    EXPECT_NEAR(variance.item(), 0.5 + 0.5 * 20.0 / 3, 0.02);
    EXPECT_EQ(mean.version(), 1U);
}

TEST(ConvertedCall, TakesFloat32ParametersBesideA16BitInput) {
    Tensor weight = full({3}, 2, {.requires_grad = true});
    Tensor x = bf16({1, 2, 4, 8, 16, 32}, {2, 3}).set_requires_grad(true);
    const Tensor y = layer_norm(x, {3}, weight, {});
    EXPECT_EQ(y.dtype(), DType::BF16);
    sum(y).backward();
    EXPECT_EQ(weight.grad().dtype(), DType::F32);
    EXPECT_EQ(x.grad().dtype(), DType::BF16);
    EXPECT_THROW(layer_norm(x, {3}, to(weight, DType::F64), {}), DTypeError);
    EXPECT_THROW(layer_norm(to(x, DType::F32), {3}, to(weight, DType::BF16), {}), DTypeError);
}

TEST(ConvertedCall, GivesTheSameTensorTwiceAsOne) {
    const Tensor x = bf16({1, 2, 3, 4}, {2, 2});
    EXPECT_EQ(matmul(to(x, DType::F16), to(x, DType::F16)).to_vector(), (Values{7, 10, 15, 22}));
    const Tensor i = to(x, DType::I16);
    EXPECT_EQ(matmul(i, i).to_vector(), (Values{7, 10, 15, 22}));
    EXPECT_EQ(matmul(i, i).dtype(), DType::I16);
    add_(i, i);
    EXPECT_EQ(i.to_vector(), (Values{2, 4, 6, 8}));
}

TEST(ConvertedCall, ReadsAndWritesStridedTensors) {
    const Tensor base = bf16({1, 2, 3, 4, 5, 6}, {2, 3});
    const Tensor column = select(base, 1, 1);
    mul_(column, bf16({10, 100}, {2}));
    EXPECT_EQ(base.to_vector(), (Values{1, 20, 3, 4, 500, 6}));
    EXPECT_EQ(cumsum(transpose(base, 0, 1), 0).to_vector(), (Values{1, 4, 21, 504, 24, 510}));
}

TEST(ConvertedCall, RoundsOnce) {
    // 1 + 2^-8 + 2^-9 is nearer to 1 + 2^-7; adding in bfloat16 would lose both terms.
    const Tensor x = bf16({1, 0x1p-8F, 0x1p-9F}, {3});
    EXPECT_EQ(sum(x).item(), 1 + 0x1p-7);
    EXPECT_EQ(matmul(x, bf16({1, 1, 1}, {3})).item(), 1 + 0x1p-7);
    EXPECT_EQ(cumsum(x, 0).to_vector(), (Values{1, 1, 1 + 0x1p-7}));
}

TEST(ConvertedCall, ANumberKeepsItsDigitsInProducts) {
    const Tensor x = bf16({9}, {1});
    EXPECT_EQ(mul(x, to(Tensor::scalar(0.1), DType::BF16)).item(), 0.90234375);
    EXPECT_EQ(mul(x, 0.1).item(), 0.8984375);
    EXPECT_EQ((0.1 * x).item(), 0.8984375);
    EXPECT_EQ((x * 0.1).item(), 0.8984375);
    EXPECT_EQ(mul(x, Tensor::scalar(0.1)).item(), 0.8984375);
    EXPECT_EQ(mul_(bf16({9}, {1}), Tensor::scalar(0.1)).item(), 0.8984375);
}

TEST(ConvertedCall, SmallIntegersWrap) {
    const Tensor x = to(Tensor::from<float>({100, -128, 127}, {3}), DType::I8);
    EXPECT_EQ(add(x, x).to_vector(), (Values{-56, 0, -2}));
    EXPECT_EQ(mul(x, x).to_vector(), (Values{16, 0, 1}));
    EXPECT_EQ(neg(x).to_vector(), (Values{-100, -128, -127}));
    EXPECT_EQ(abs(x).to_vector(), (Values{100, -128, 127}));
    EXPECT_EQ(sum(x).item(), 99);
    EXPECT_EQ(sum(x).dtype(), DType::I64);
    EXPECT_EQ(neg(to(x, DType::U8)).to_vector(), (Values{156, 128, 129}));
}

TEST(ConvertedCall, EveryRowTakesTheFourComputeTypes) {
    for (const OpDef* row : OpTable::instance().rows())
        EXPECT_EQ(row->native & kComputeTypes, kComputeTypes) << row->name;
}

TEST(ConvertedCall, GradientsHaveTheirInputsType) {
    Tensor a = bf16({1, 2}, {2}).set_requires_grad(true);
    Tensor b = Tensor::from<float>({3, 4}, {2}).set_requires_grad(true);
    const Tensor y = mul(a, b);
    EXPECT_EQ(y.dtype(), DType::F32);
    sum(y).backward();
    EXPECT_EQ(a.grad().dtype(), DType::BF16);
    EXPECT_EQ(b.grad().dtype(), DType::F32);
    EXPECT_EQ(a.grad().to_vector(), (Values{3, 4}));
    EXPECT_THROW(to(a, DType::I32).set_requires_grad(true), AutogradError);
}

}  // namespace
}  // namespace tapescope::engine
