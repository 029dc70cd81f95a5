// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/special_math.h"

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace tapescope::engine::cpu {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = std::numbers::pi;
/// Bernoulli numbers B2, B4, ...
constexpr std::array kBernoulli = {1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                                   5.0 / 66, -691.0 / 2730, 7.0 / 6,  -3617.0 / 510};

/// Sum over k >= 0 of (x + k)^-s for x > 0: the first terms, then Euler and Maclaurin's formula.
double hurwitz(double s, double x) {
    double sum = 0;
    double a = x;
    // The formula's terms shrink like (s / (2 pi a))^2.
    for (const double far = 10 + s; a < far; a += 1) sum += std::pow(a, -s);
    const double last = std::pow(a, -s);
    sum += last * a / (s - 1) + last / 2;
    double factor = s / a;  // s (s+1) ... (s+2k-2) / a^(2k-1)
    double factorial = 2;   // (2k)!
    for (std::size_t i = 0; i < kBernoulli.size(); ++i) {
        const double k2 = 2.0 * static_cast<double>(i) + 2;
        sum += kBernoulli[i] / factorial * factor * last;
        factor *= (s + k2 - 1) * (s + k2) / (a * a);
        factorial *= (k2 + 1) * (k2 + 2);
    }
    return sum;
}

}  // namespace

double digamma(double x) {
    if (x == 0) return std::copysign(kInfinity, -x);
    double shift = 0;
    if (x < 0) {
        const double fraction = x - std::floor(x);
        if (fraction == 0) return kNan;
        shift = -kPi / std::tan(kPi * fraction);
        x = 1 - x;
    }
    for (; x < 12; x += 1) shift -= 1 / x;
    if (x == kInfinity) return x;
    const double inverse = 1 / (x * x);
    double power = inverse;
    double series = 0;
    for (std::size_t i = 0; i < kBernoulli.size(); ++i) {
        series += kBernoulli[i] / (2.0 * static_cast<double>(i) + 2) * power;
        power *= inverse;
    }
    return shift + std::log(x) - 0.5 / x - series;
}

double polygamma(std::int64_t n, double x) {
    const double s = static_cast<double>(n) + 1;
    const double sign = n % 2 == 0 ? -1 : 1;  // (-1)^(n+1) = (-1)^(s)
    const double scale = sign * std::tgamma(s);
    if (std::isnan(x)) return x;
    if (x == kInfinity) return 0;
    if (n > 170) return sign * kInfinity;  // n! is past the largest double
    if (x > 0) return scale * hurwitz(s, x);
    const double fraction = x - std::floor(x);
    if (fraction == 0) return n % 2 == 0 ? kNan : kInfinity;
    // The sum over all whole k, less the part below x.
    return scale * (hurwitz(s, fraction) + sign * (hurwitz(s, 1 - fraction) - hurwitz(s, 1 - x)));
}

}  // namespace tapescope::engine::cpu
