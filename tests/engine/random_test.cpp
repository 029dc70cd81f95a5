// SPDX-License-Identifier: Apache-2.0
#include "engine/random.h"

#include "engine/cpu/draw_isa.h"
#include "engine/cpu/portable_math.h"
#include "engine/observe/context.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numbers>
#include <numeric>

namespace tapescope::engine {
namespace {

using Words = std::array<std::uint32_t, 4>;

// The known-answer vectors published with Random123 (kat_vectors, philox4x32 with 10 rounds).
TEST(Philox, GivesThePublishedKnownAnswers) {
    EXPECT_EQ(Generator::philox4x32({0, 0, 0, 0}, {0, 0}),
              (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    constexpr std::uint32_t kOnes = 0xffffffff;
    EXPECT_EQ(Generator::philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
              (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    EXPECT_EQ(Generator::philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                                    {0xa4093822, 0x299f31d0}),
              (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, UsesAllBitsOfSeedAndCounter) {
    EXPECT_EQ(Generator::philox(0x299f31d0a4093822, 0x85a308d3243f6a88),
              Generator::philox4x32({0x243f6a88, 0x85a308d3, 0, 0}, {0xa4093822, 0x299f31d0}));
}

TEST(Random, TheSameSeedGivesTheSameNumbersAndARestoredStateGoesOn) {
    Generator& generator = Context::current().generator();
    generator.manual_seed(5);
    const auto first = rand({7}).to_vector<float>();
    const Generator::State state = generator.state();
    const auto second = randn({6}).to_vector<float>();
    generator.manual_seed(5);
    EXPECT_EQ(rand({7}).to_vector<float>(), first);
    generator.setState(state);
    EXPECT_EQ(randn({6}).to_vector<float>(), second);
    EXPECT_NE(rand({7}).to_vector<float>(), first);
}

TEST(Random, LargeDrawsAreTheSamePiecewise) {
    Generator& generator = Context::current().generator();
    generator.manual_seed(9);
    const auto whole = randn({100003}).to_vector<float>();
    generator.manual_seed(9);
    const auto start = randn({40000}).to_vector<float>();
    EXPECT_TRUE(std::equal(start.begin(), start.end(), whole.begin()));
}

TEST(Random, UniformAndNormalNumbersHaveTheirMoments) {
    Context::current().generator().manual_seed(1);
    constexpr std::int64_t kCount = 1'000'000;
    for (const DType dtype : {DType::F32, DType::F64}) {
        const Tensor u = rand({kCount}, {.dtype = dtype});
        EXPECT_NEAR(mean(u).item(), 0.5, 0.002);
        EXPECT_NEAR(var(u).item(), 1.0 / 12, 0.001);
        EXPECT_GE(amin(u).item(), 0);
        EXPECT_LT(amax(u).item(), 1);
        const Tensor z = randn({kCount}, {.dtype = dtype});
        EXPECT_NEAR(mean(z).item(), 0, 0.005);
        EXPECT_NEAR(var(z).item(), 1, 0.005);
        EXPECT_NEAR(mean(mul(square(z), square(z))).item(), 3,
                    0.05);  // the normal distribution's kurtosis
        EXPECT_LT(amax(abs(z)).item(), 6.5);
    }
}

TEST(Random, BernoulliKeepsItsProbability) {
    Context::current().generator().manual_seed(2);
    EXPECT_NEAR(mean(bernoulli(full({200000}, 0.3))).item(), 0.3, 0.005);
}

TEST(Random, RandpermIsAPermutation) {
    Context::current().generator().manual_seed(3);
    auto values = randperm(10007).to_vector<std::int64_t>();
    EXPECT_FALSE(std::is_sorted(values.begin(), values.end()));
    std::sort(values.begin(), values.end());
    std::vector<std::int64_t> expected(10007);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(values, expected);
}

TEST(DrawLoops, GiveTheSameBitsInEveryInstructionSet) {
    constexpr std::uint64_t kSeed = 0x123456789ABCDEF;
    constexpr std::uint64_t kCounter = 0xFFFFFFF0;  // the carry into the upper word is inside
    for (const std::int64_t blocks : {1, 3, 64, 65, 1000}) {
        std::vector<std::uint32_t> expected;
        for (std::int64_t i = 0; i < blocks; ++i)
            for (const std::uint32_t word :
                 Generator::philox(kSeed, kCounter + static_cast<std::uint64_t>(i)))
                expected.push_back(word);
        std::vector<double> uniform;
        for (const std::uint32_t word : expected) uniform.push_back((word >> 8) * 0x1p-24);
        uniform[0] = 0;
        uniform[1] = 1 - 0x1p-24;
        std::vector<double> normals = uniform;
        for (std::size_t k = 0; k < normals.size(); k += 2) {
            const double radius = std::sqrt(-2 * cpu::portableLog(1 - uniform[k]));
            double sine = 0;
            double cosine = 0;
            cpu::portableSinCosTurns(uniform[k + 1], sine, cosine);
            normals[k] = radius * cosine;
            normals[k + 1] = radius * sine;
        }
        for (const cpu::Isa isa : {cpu::Isa::Base, cpu::Isa::Avx2, cpu::Isa::Avx512}) {
            const cpu::DrawTable* table = cpu::drawTableFor(isa);
            if (table == nullptr) continue;
            std::vector<std::uint32_t> words(expected.size());
            table->words(kSeed, kCounter, blocks, words.data());
            EXPECT_EQ(words, expected) << cpu::isaName(isa) << blocks;
            std::vector<double> drawn = uniform;
            table->normals(static_cast<std::int64_t>(drawn.size()), drawn.data());
            EXPECT_EQ(drawn, normals) << cpu::isaName(isa) << blocks;
        }
    }
}

TEST(PortableMath, AgreesWithTheCLibraryToAFewUnits) {
    for (int i = 1; i < 200000; ++i) {
        const double x = i / 200000.0;
        ASSERT_NEAR(cpu::portableLog(x), std::log(x), 4e-16 * std::fabs(std::log(x))) << x;
        double sine = 0;
        double cosine = 0;
        cpu::portableSinCosTurns(x, sine, cosine);
        ASSERT_NEAR(sine, std::sin(2 * std::numbers::pi * x), 2e-15) << x;
        ASSERT_NEAR(cosine, std::cos(2 * std::numbers::pi * x), 2e-15) << x;
    }
    EXPECT_EQ(cpu::portableLog(1.0), 0.0);
    EXPECT_NEAR(cpu::portableLog(0x1p-53), -53 * std::numbers::ln2, 1e-14);
}

}  // namespace
}  // namespace tapescope::engine
