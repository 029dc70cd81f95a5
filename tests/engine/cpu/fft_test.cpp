// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/fft.h"

#include <cmath>
#include <complex>
#include <gtest/gtest.h>
#include <numbers>

namespace tapescope::engine::cpu {
namespace {

/// Values of moderate size without pattern.
template <class T>
std::vector<T> sample(std::int64_t n, double salt) {
    std::vector<T> x(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<T>(std::sin(salt + 0.7 * static_cast<double>(i * i % 1009)));
    return x;
}

struct Signal {
    std::vector<double> re;
    std::vector<double> im;
};

/// The definition, in O(n^2) and long double; of transform `lane` of some side by side.
template <class T>
Signal naive(const std::vector<T>& re, const std::vector<T>& im, std::int64_t lanes,
             std::int64_t lane, bool inverse) {
    const std::int64_t n = static_cast<std::int64_t>(re.size()) / lanes;
    Signal out;
    for (std::int64_t k = 0; k < n; ++k) {
        std::complex<long double> sum;
        for (std::int64_t j = 0; j < n; ++j) {
            const long double angle = (inverse ? 2 : -2) * std::numbers::pi_v<long double> *
                                      static_cast<long double>(j * k % n) /
                                      static_cast<long double>(n);
            const auto at = static_cast<std::size_t>(j * lanes + lane);
            sum += std::complex<long double>(re[at], im[at]) *
                   std::complex<long double>(std::cos(angle), std::sin(angle));
        }
        out.re.push_back(static_cast<double>(sum.real()));
        out.im.push_back(static_cast<double>(sum.imag()));
    }
    return out;
}

template <class T>
void agreesWithTheDefinition(std::int64_t n, std::int64_t lanes, bool inverse, double tolerance) {
    const FftPlan<T> plan(n);
    std::vector<T> re = sample<T>(n * lanes, 0.1);
    std::vector<T> im = sample<T>(n * lanes, 1.7);
    std::vector<Signal> want;
    for (std::int64_t lane = 0; lane < lanes; ++lane)
        want.push_back(naive(re, im, lanes, lane, inverse));
    std::vector<T> scratch(static_cast<std::size_t>(plan.scratchSize(lanes)));
    const auto got = plan.run({re.data(), im.data()}, scratch.data(), lanes, inverse);
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
        for (std::int64_t k = 0; k < n; ++k) {
            const Signal& due = want[static_cast<std::size_t>(lane)];
            const auto at = static_cast<std::size_t>(k);
            const double allowed = tolerance * std::sqrt(static_cast<double>(n));
            ASSERT_NEAR(static_cast<double>(got.re[k * lanes + lane]), due.re[at], allowed)
                << "length " << n << ", element " << k << " of " << lanes << " side by side";
            ASSERT_NEAR(static_cast<double>(got.im[k * lanes + lane]), due.im[at], allowed)
                << "length " << n << ", element " << k << " of " << lanes << " side by side";
        }
    }
}

TEST(Fft, AgreesWithTheDefinitionForEveryKindOfLength) {
    // Powers, products of every radix, primes up to and beyond the largest radix.
    for (const std::int64_t n :
         {1,  2,  3,  4,  5,  6,   7,   8,   12,  16,  24,  30,  31,  32,  37,   48,
          49, 60, 64, 77, 97, 128, 143, 221, 256, 323, 437, 512, 667, 899, 1000, 1009}) {
        for (const bool inverse : {false, true}) {
            agreesWithTheDefinition<double>(n, 1, inverse, 1e-14);
            agreesWithTheDefinition<float>(n, 1, inverse, 1e-6);
        }
    }
}

TEST(Fft, TransformsSideBySideAsAlone) {
    for (const std::int64_t n : {1, 2, 5, 8, 12, 31, 37, 64, 90}) {
        for (const std::int64_t lanes : {2, 3, 16}) {
            agreesWithTheDefinition<double>(n, lanes, false, 1e-14);
            agreesWithTheDefinition<float>(n, lanes, true, 1e-6);
        }
    }
}

TEST(Fft, KeepsPrecisionForLongPrimeLengths) {
    // A pure tone at one frequency, length a prime: everything else must vanish.
    const std::int64_t n = 100003;
    const std::int64_t frequency = 12345;
    std::vector<double> re(static_cast<std::size_t>(n));
    std::vector<double> im(re.size());
    for (std::int64_t i = 0; i < n; ++i) {
        const double angle =
            2 * std::numbers::pi * static_cast<double>(i * frequency % n) / static_cast<double>(n);
        re[static_cast<std::size_t>(i)] = std::cos(angle) / static_cast<double>(n);
        im[static_cast<std::size_t>(i)] = std::sin(angle) / static_cast<double>(n);
    }
    const FftPlan<double> plan(n);
    std::vector<double> scratch(static_cast<std::size_t>(plan.scratchSize(1)));
    const auto out = plan.run({re.data(), im.data()}, scratch.data(), 1, false);
    for (std::int64_t k = 0; k < n; ++k) {
        ASSERT_NEAR(out.re[k], k == frequency ? 1 : 0, 1e-12) << k;
        ASSERT_NEAR(out.im[k], 0, 1e-12) << k;
    }
}

TEST(Fft, RootsOfUnityAreExactToTheLastPlaces) {
    const std::int64_t n = 99991;
    std::vector<double> re(static_cast<std::size_t>(n));
    std::vector<double> im(re.size());
    fftRoots(n, n, re.data(), im.data());
    for (std::int64_t k = 0; k < n; ++k) {
        const long double angle = -2 * std::numbers::pi_v<long double> *
                                  static_cast<long double>(k) / static_cast<long double>(n);
        const auto at = static_cast<std::size_t>(k);
        ASSERT_NEAR(re[at], static_cast<double>(std::cos(angle)), 2e-15) << k;
        ASSERT_NEAR(im[at], static_cast<double>(std::sin(angle)), 2e-15) << k;
    }
}

TEST(Fft, KeepsTheLatestPlans) {
    const auto plan = fftPlan(96);
    EXPECT_EQ(fftPlan(96), plan);
    for (std::int64_t n = 100; n < 140; ++n) EXPECT_EQ(fftPlan(n)->size(), n);
    EXPECT_NE(fftPlan(96), plan);  // made anew after so many others
    EXPECT_EQ(realFftPlan(96)->half->size(), 48);
}

}  // namespace
}  // namespace tapescope::engine::cpu
