// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/special_math.h"

#include "engine/cpu/real_kernels.h"

#include <cmath>
#include <gtest/gtest.h>
#include <numbers>

namespace tapescope::engine::cpu {
namespace {

constexpr double kPi = std::numbers::pi;

void expectNear(double actual, double expected) {
    EXPECT_NEAR(actual, expected, 2e-14 * std::fmax(1, std::fabs(expected)));
}

double erfInverse(double y) {
    double x = 0;
    realTableFor(Isa::Base)->f64[static_cast<int>(RealUnary::Erfinv)](1, &x, 1, &y, 1, {});
    return x;
}

TEST(SpecialMath, ErfInverseUndoesErf) {
    for (double x = -3; x <= 3; x += 0.01) EXPECT_NEAR(erfInverse(std::erf(x)), x, 1e-10);
    for (double y = 1e-300; y < 1e-4; y *= 7.3)
        expectNear(erfInverse(y) / (y * std::sqrt(kPi) / 2), 1 + kPi * y * y / 12);
    for (double c = 1e-3; c > 1e-15; c /= 3) {
        const double y = 1 - c;
        EXPECT_NEAR(std::erfc(erfInverse(y)) / (1 - y), 1, 1e-12) << c;
    }
}

TEST(SpecialMath, DigammaHasItsKnownValues) {
    expectNear(digamma(1), -std::numbers::egamma);
    expectNear(digamma(0.5), -std::numbers::egamma - 2 * std::numbers::ln2);
    expectNear(digamma(-0.5), digamma(0.5) + 2);
    expectNear(digamma(101), digamma(100) + 0.01);
    expectNear(digamma(1e10), std::log(1e10) - 0.5e-10);
}

TEST(SpecialMath, PolygammaHasItsKnownValues) {
    constexpr double kZeta3 = 1.2020569031595942854;
    expectNear(polygamma(1, 1), kPi * kPi / 6);
    expectNear(polygamma(1, 0.5), kPi * kPi / 2);
    expectNear(polygamma(2, 1), -2 * kZeta3);
    expectNear(polygamma(2, 0.5), -14 * kZeta3);
    expectNear(polygamma(3, 1), std::pow(kPi, 4) / 15);
    // psi1(1 - x) + psi1(x) = (pi / sin(pi x))^2
    expectNear(polygamma(1, -0.25) + polygamma(1, 1.25), 2 * kPi * kPi);
    expectNear(polygamma(1, -7.25) + polygamma(1, 8.25), 2 * kPi * kPi);
    expectNear(polygamma(2, -1.25), polygamma(2, -0.25) - 2 / std::pow(-1.25, 3));
}

}  // namespace
}  // namespace tapescope::engine::cpu
