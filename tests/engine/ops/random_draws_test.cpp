// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/random_draws.h"

#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "message_of.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

namespace tapescope::engine {
namespace {

using test::messageOf;

void seed(std::uint64_t value) { Context::current().generator().manual_seed(value); }
std::vector<double> valuesOf(const Tensor& t) { return t.to_vector<double>(); }

TEST(RandomDraws, LargeDrawsAreTheSamePiecewise) {
    constexpr std::int64_t kLarge = 70001;
    const auto startsAlike = [](const auto& draw) {
        seed(4);
        const auto whole = valuesOf(draw(kLarge));
        seed(4);
        const auto part = valuesOf(draw(20000));
        return std::equal(part.begin(), part.end(), whole.begin());
    };
    EXPECT_TRUE(startsAlike([](std::int64_t n) { return uniform_(zeros({n}), 2, 3); }));
    EXPECT_TRUE(startsAlike([](std::int64_t n) { return exponential_(zeros({n})); }));
    EXPECT_TRUE(startsAlike([](std::int64_t n) { return bernoulli_(zeros({n}), 0.3); }));
    EXPECT_TRUE(startsAlike([](std::int64_t n) { return randint(1000, {n}); }));
    EXPECT_TRUE(startsAlike([](std::int64_t n) { return poisson(full({n}, 3)); }));
    EXPECT_TRUE(startsAlike([](std::int64_t n) { return normal(1, 2, {n}); }));
}

TEST(RandomDraws, HaveTheirMoments) {
    seed(11);
    const auto moments = [](const Tensor& x, double expectedMean, double expectedVar) {
        const double slack = 0.02 * (1 + expectedVar);
        EXPECT_NEAR(mean(x).item(), expectedMean, slack);
        EXPECT_NEAR(var(x).item(), expectedVar, slack);
    };
    constexpr std::int64_t kN = 100000;
    moments(uniform_(zeros({kN}), -1, 3), 1, 16.0 / 12);
    moments(normal_(zeros({kN}), 2, 0.5), 2, 0.25);
    moments(exponential_(zeros({kN}), 2), 0.5, 0.25);
    moments(poisson(full({kN}, 3.5)), 3.5, 3.5);
    moments(poisson(full({kN}, 90)), 90, 90);
    moments(to(randint(-2, 4, {kN}), DType::F32), 0.5, 35.0 / 12);
    // What selu gives keeps mean and variance.
    moments(alpha_dropout(randn({kN}), 0.3), 0, 1);
}

TEST(RandomDraws, StridedTensorsGetTheNumbersOfTheirElements) {
    seed(5);
    const auto packed = valuesOf(uniform_(zeros({3, 4}), 0, 1));
    seed(5);
    EXPECT_EQ(valuesOf(uniform_(transpose(zeros({4, 3}), 0, 1), 0, 1)), packed);
}

TEST(RandomDraws, MultinomialDrawsInProportion) {
    seed(6);
    const Tensor weights = Tensor::from({1.0F, 0.0F, 3.0F}, {3});
    const auto draws = valuesOf(multinomial(weights, 40000, true));
    EXPECT_EQ(std::count(draws.begin(), draws.end(), 1.0), 0);
    EXPECT_NEAR(static_cast<double>(std::count(draws.begin(), draws.end(), 2.0)), 30000, 500);
    auto all = valuesOf(multinomial(Tensor::from({1.0F, 5.0F, 3.0F}, {3}), 3));
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, (std::vector<double>{0, 1, 2}));
    // The first without replacement comes in proportion too.
    const auto firsts = valuesOf(select(multinomial(expand(weights, {20000, 3}), 2), 1, 0));
    EXPECT_NEAR(static_cast<double>(std::count(firsts.begin(), firsts.end(), 2.0)), 15000, 400);
}

TEST(RandomDraws, FeatureDropoutDropsWholeChannels) {
    seed(7);
    const Tensor x = ones({8, 16, 3, 3});
    const Tensor y = dropout2d(x, 0.25);
    int dropped = 0;
    for (std::int64_t i = 0; i < 8; ++i) {
        for (std::int64_t c = 0; c < 16; ++c) {
            const auto channel = valuesOf(select(select(y, 0, i), 0, c));
            EXPECT_EQ(std::count(channel.begin(), channel.end(), channel[0]), 9);
            dropped += channel[0] == 0;
            if (channel[0] != 0) {
                EXPECT_NEAR(channel[0], 1 / 0.75, 1e-6);
            }
        }
    }
    EXPECT_NEAR(dropped, 32, 20);
    EXPECT_TRUE(same(dropout2d(x, 0.5, false), x));
    EXPECT_EQ(sum(dropout3d(ones({2, 2, 2, 2, 2}), 1)).item(), 0);
    EXPECT_EQ(sum(alpha_dropout(ones({4}), 1)).item(), 0);
}

TEST(RandomDraws, LikeFormsTakeShapeAndTypeOver) {
    const Tensor x = zeros({2, 3}, {.dtype = DType::F64});
    EXPECT_EQ(rand_like(x).dtype(), DType::F64);
    EXPECT_EQ(randn_like(x).sizes(), x.sizes());
    EXPECT_EQ(randint_like(x, 0, 5).dtype(), DType::F64);
}

TEST(RandomDraws, WrongArgumentsAreNamed) {
    const Tensor x = ones({3});
    EXPECT_TRUE(messageOf<Error>([] {
                    randint(3, 3, {2});
                }).starts_with("randint: the range [3, 3) has no numbers"));
    EXPECT_TRUE(messageOf<Error>([&] { uniform_(x, 2, 1); }).starts_with("uniform_: from 2"));
    EXPECT_TRUE(messageOf<Error>([&] { normal_(x, 0, -1); }).starts_with("normal_: std -1"));
    EXPECT_TRUE(messageOf<Error>([&] { normal(x, mul(x, -1)); }).starts_with("normal: std -1"));
    EXPECT_TRUE(messageOf<Error>([&] { exponential_(x, 0); }).starts_with("exponential_: lambd 0"));
    EXPECT_TRUE(messageOf<Error>([&] {
                    bernoulli_(x, 1.5);
                }).starts_with("bernoulli_: the probability 1.5"));
    EXPECT_TRUE(messageOf<Error>([&] { poisson(mul(x, -2)); }).starts_with("poisson: the rate -2"));
    EXPECT_TRUE(messageOf<Error>([&] {
                    multinomial(x, 4);
                }).starts_with("multinomial: 4 draws without replacement"));
    EXPECT_TRUE(messageOf<Error>([&] {
                    multinomial(zeros({2, 3}), 1);
                }).starts_with("multinomial: row 0 has 0 positive weights"));
    EXPECT_TRUE(messageOf<Error>([&] {
                    multinomial(mul(x, -1), 1);
                }).starts_with("multinomial: the weight -1"));
    EXPECT_TRUE(messageOf<ShapeError>([&] {
                    dropout2d(x);
                }).starts_with("dropout2d: input [3] must have 3 or 4 dimensions"));
    EXPECT_TRUE(messageOf<DTypeError>([&] {
                    uniform_(zeros({2}, {.dtype = DType::I64}));
                }).starts_with("uniform_: int64 tensors cannot be used"));
}

}  // namespace
}  // namespace tapescope::engine
