// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/fft.h"

#include <cmath>
#include <gtest/gtest.h>
#include <numbers>
#include <numeric>

namespace tapescope::engine::cpu {
namespace {

/// Values of moderate size without pattern.
std::vector<double> sample(std::int64_t n, double salt) {
    std::vector<double> x(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = std::sin(salt + 0.7 * static_cast<double>(i * i % 1009));
    return x;
}

/// The definition, in O(n^2) and long double.
void naive(const std::vector<double>& re, const std::vector<double>& im, bool inverse,
           std::vector<double>& outRe, std::vector<double>& outIm) {
    const std::size_t n = re.size();
    for (std::size_t k = 0; k < n; ++k) {
        std::complex<long double> sum;
        for (std::size_t j = 0; j < n; ++j) {
            const long double angle = (inverse ? 2 : -2) * std::numbers::pi_v<long double> *
                                      static_cast<long double>(j * k % n) /
                                      static_cast<long double>(n);
            sum += std::complex<long double>(re[j], im[j]) *
                   std::complex<long double>(std::cos(angle), std::sin(angle));
        }
        outRe[k] = static_cast<double>(sum.real());
        outIm[k] = static_cast<double>(sum.imag());
    }
}

TEST(Fft, AgreesWithTheDefinitionForEveryKindOfLength) {
    // Powers, products of every radix, primes up to and beyond the largest radix.
    for (const std::int64_t n : {1,  2,  3,  4,  5,   6,   7,   8,   12,  16,  30,  31,   37,  49,
                                 60, 64, 77, 97, 128, 143, 221, 323, 437, 667, 899, 1000, 1009}) {
        const std::vector<double> re = sample(n, 0.1);
        const std::vector<double> im = sample(n, 1.7);
        const auto size = static_cast<std::size_t>(n);
        for (const bool inverse : {false, true}) {
            std::vector<double> wantRe(size);
            std::vector<double> wantIm(size);
            naive(re, im, inverse, wantRe, wantIm);
            std::vector<double> gotRe(size);
            std::vector<double> gotIm(size);
            fftLines(1, n, re.data(), im.data(), gotRe.data(), gotIm.data(), inverse, 1.0);
            for (std::size_t k = 0; k < size; ++k) {
                EXPECT_NEAR(gotRe[k], wantRe[k], 1e-11 * std::sqrt(static_cast<double>(n)))
                    << "length " << n << ", element " << k << (inverse ? ", inverse" : "");
                EXPECT_NEAR(gotIm[k], wantIm[k], 1e-11 * std::sqrt(static_cast<double>(n)))
                    << "length " << n << ", element " << k << (inverse ? ", inverse" : "");
            }
        }
    }
}

TEST(Fft, InverseRestoresManyFloatLines) {
    const std::int64_t lines = 300;
    const std::int64_t n = 45;
    const std::vector<double> values = sample(lines * n, 0.4);
    const std::vector<float> x(values.begin(), values.end());
    std::vector<float> re(x.size());
    std::vector<float> im(x.size());
    fftLines(lines, n, x.data(), static_cast<const float*>(nullptr), re.data(), im.data(), false,
             1.0);
    // The transform of real values mirrors itself.
    EXPECT_NEAR(re[1], re[static_cast<std::size_t>(n - 1)], 1e-6);
    EXPECT_NEAR(im[1], -im[static_cast<std::size_t>(n - 1)], 1e-6);
    std::vector<float> back(x.size());
    fftLines(lines, n, re.data(), im.data(), back.data(), static_cast<float*>(nullptr), true,
             1.0 / static_cast<double>(n));
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(back[i], x[i], 1e-6) << i;
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
        re[static_cast<std::size_t>(i)] = std::cos(angle);
        im[static_cast<std::size_t>(i)] = std::sin(angle);
    }
    std::vector<double> outRe(re.size());
    std::vector<double> outIm(re.size());
    fftLines(1, n, re.data(), im.data(), outRe.data(), outIm.data(), false,
             1.0 / static_cast<double>(n));
    for (std::int64_t k = 0; k < n; ++k) {
        const double want = k == frequency ? 1 : 0;
        ASSERT_NEAR(outRe[static_cast<std::size_t>(k)], want, 1e-12) << k;
        ASSERT_NEAR(outIm[static_cast<std::size_t>(k)], 0, 1e-12) << k;
    }
}

}  // namespace
}  // namespace tapescope::engine::cpu
