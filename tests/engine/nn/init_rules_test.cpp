// SPDX-License-Identifier: Apache-2.0
// Initialisers that fill by a rule.
#include "engine/errors.h"
#include "engine/nn/init.h"
#include "engine/observe/context.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

#include <cmath>
#include <gtest/gtest.h>

namespace tapescope::engine::nn {
namespace {

class InitRules : public ::testing::Test {
    Context m_context;
    ContextScope m_scope{m_context};
};

double furthestFromIdentity(const Tensor& gram, double diagonal) {
    return amax(abs(gram - mul(eye(gram.size(0), {.dtype = gram.dtype()}), diagonal))).item();
}

TEST_F(InitRules, OrthogonalRowsOrColumnsHaveLengthGain) {
    const Tensor wide = init::orthogonal_(Tensor::empty({5, 12}, DType::F64), 1.5);
    EXPECT_LT(furthestFromIdentity(matmul(wide, transpose(wide, 0, 1)), 2.25), 1e-12);
    const Tensor tall = init::orthogonal_(Tensor::empty({12, 5}, DType::F64));
    EXPECT_LT(furthestFromIdentity(matmul(transpose(tall, 0, 1), tall), 1), 1e-12);
    const Tensor conv = init::orthogonal_(Tensor::empty({4, 3, 2, 2}, DType::F64));
    const Tensor flat = reshape(conv, {4, 12});
    EXPECT_LT(furthestFromIdentity(matmul(flat, transpose(flat, 0, 1)), 1), 1e-12);
    EXPECT_THROW(init::orthogonal_(Tensor::empty({3})), ShapeError);
}

TEST_F(InitRules, TruncatedNormalStaysInsideAndKeepsItsShape) {
    const Tensor x = init::trunc_normal_(Tensor::empty({40000}, DType::F64), 0.5, 2, -1.5, 4.5);
    EXPECT_GE(amin(x).item(), -1.5);
    EXPECT_LE(amax(x).item(), 4.5);
    // A normal cut at -1 and 2 deviations: mean + std · (φ(-1) - φ(2)) / (Φ(2) - Φ(-1)).
    const auto density = [](double v) {
        return std::exp(-v * v / 2) / std::sqrt(2 * std::acos(-1));
    };
    const double mass = (std::erf(2 / std::sqrt(2)) + std::erf(1 / std::sqrt(2))) / 2;
    const double shift = (density(-1) - density(2)) / mass;
    EXPECT_NEAR(mean(x).item(), 0.5 + 2 * shift, 0.03);
    const double variance = 1 + (-1 * density(-1) - 2 * density(2)) / mass - shift * shift;
    EXPECT_NEAR(engine::std(x).item(), 2 * std::sqrt(variance), 0.02);
    EXPECT_THROW(init::trunc_normal_(x, 0, 1, 2, -2), Error);
}

TEST_F(InitRules, DiracConvolutionKeepsItsInput) {
    const Tensor weight = init::dirac_(Tensor::empty({3, 3, 3, 5}, DType::F64));
    const Tensor x = randn({2, 3, 6, 7}, {.dtype = DType::F64});
    const Tensor y = conv2d(x, weight, {}, {.padding = {1, 2}});
    EXPECT_EQ(amax(abs(y - x)).item(), 0);
    const Tensor grouped = init::dirac_(Tensor::empty({4, 2, 3}), 2);
    EXPECT_EQ(sum(grouped).item(), 4);
    EXPECT_EQ(select(select(select(grouped, 0, 3), 0, 1), 0, 1).item(), 1);
    EXPECT_THROW(init::dirac_(Tensor::empty({3, 2, 3}), 2), ShapeError);
    EXPECT_THROW(init::dirac_(Tensor::empty({3, 2})), ShapeError);
}

TEST_F(InitRules, EyeIsTheIdentityOfAnyMatrix) {
    EXPECT_EQ(init::eye_(Tensor::empty({2, 3})).to_vector<float>(),
              (std::vector<float>{1, 0, 0, 0, 1, 0}));
    EXPECT_THROW(init::eye_(Tensor::empty({2})), ShapeError);
}

TEST_F(InitRules, SparseZeroesItsShareOfEveryColumn) {
    const Tensor x = init::sparse_(Tensor::empty({50, 8}, DType::F64), 0.31, 0.5);
    const Tensor zeros = sum(to(eq(x, wrappedNumber(0.0)), DType::F64), {0});
    for (const double count : zeros.to_vector()) EXPECT_EQ(count, 16);  // ⌈0.31 · 50⌉
    EXPECT_NEAR(std::sqrt(sum(square(x)).item() / (34 * 8)), 0.5, 0.07);
    EXPECT_THROW(init::sparse_(x, 1.5), Error);
}

TEST_F(InitRules, GainsArePyTorchs) {
    EXPECT_EQ(init::gain(init::Nonlinearity::Linear), 1);
    EXPECT_EQ(init::gain(init::Nonlinearity::Selu), 0.75);
    EXPECT_DOUBLE_EQ(init::gain(init::Nonlinearity::LeakyRelu, 0.2), std::sqrt(2 / 1.04));
}

TEST_F(InitRules, FollowTheSeed) {
    const auto drawn = [](std::uint64_t seed) {
        Context::current().generator().manual_seed(seed);
        std::vector<double> all = init::orthogonal_(Tensor::empty({4, 4})).to_vector();
        for (const double v : init::trunc_normal_(Tensor::empty({4})).to_vector()) all.push_back(v);
        return all;
    };
    EXPECT_EQ(drawn(3), drawn(3));
    EXPECT_NE(drawn(3), drawn(4));
}

}  // namespace
}  // namespace tapescope::engine::nn
