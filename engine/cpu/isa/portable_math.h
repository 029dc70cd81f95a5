// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// The arithmetic of engine/cpu/portable_math.h: without branches, so that it can be done in
// vectors. Where the bits must be the same in each instruction set, the source is compiled without
// contraction. See loops.h for the rules of this folder.
namespace tapescope::engine::cpu {
namespace {

inline double portableLogOf(double x) {
    // x = 2^e m with m in [sqrt(1/2), sqrt(2)); log m = 2 artanh(s), s = (m - 1) / (m + 1), |s| <
    // 0.172
    const auto bits = __builtin_bit_cast(std::uint64_t, x);
    constexpr std::uint64_t kHalfRoot = 0x3FE6A09E667F3BCD;
    // By way of 32 bits, which every processor shifts and converts in vectors.
    const std::int32_t e = static_cast<std::int32_t>((bits - kHalfRoot) >> 32) >> 20;
    const double m = __builtin_bit_cast(
        double, bits - (static_cast<std::uint64_t>(static_cast<std::int64_t>(e)) << 52));
    const double s = (m - 1.0) / (m + 1.0);
    const double s2 = s * s;
    double series = 1.0 / 23;  // 1/3 + 1/5 s^2 + ...: s^22 / 23 < 1e-17
    series = series * s2 + 1.0 / 21;
    series = series * s2 + 1.0 / 19;
    series = series * s2 + 1.0 / 17;
    series = series * s2 + 1.0 / 15;
    series = series * s2 + 1.0 / 13;
    series = series * s2 + 1.0 / 11;
    series = series * s2 + 1.0 / 9;
    series = series * s2 + 1.0 / 7;
    series = series * s2 + 1.0 / 5;
    series = series * s2 + 1.0 / 3;
    const double ef = static_cast<double>(e);
    return ef * 6.93147180369123816490e-01 +
           (2.0 * s + (2.0 * s * (s2 * series) + ef * 1.90821492927058770002e-10));
}

struct PortableSinCos {
    double sine;
    double cosine;
};
inline PortableSinCos portableSinCosOfTurns(double t) {
    // The nearest quarter turn: t = q / 4 + r with |r| <= 1/8.
    const auto q = static_cast<std::int32_t>(t * 4.0 + 0.5);
    const double a = (t - static_cast<double>(q) * 0.25) * 6.283185307179586476925;
    const double a2 = a * a;
    double s = 1.0 / 355687428096000;  // 1 / 17!
    s = s * a2 + -1.0 / 1307674368000;
    s = s * a2 + 1.0 / 6227020800;
    s = s * a2 + -1.0 / 39916800;
    s = s * a2 + 1.0 / 362880;
    s = s * a2 + -1.0 / 5040;
    s = s * a2 + 1.0 / 120;
    s = s * a2 + -1.0 / 6;
    const double sinA = a + a * a2 * s;
    double c = 1.0 / 20922789888000;  // 1 / 16!
    c = c * a2 + -1.0 / 87178291200;
    c = c * a2 + 1.0 / 479001600;
    c = c * a2 + -1.0 / 3628800;
    c = c * a2 + 1.0 / 40320;
    c = c * a2 + -1.0 / 720;
    c = c * a2 + 1.0 / 24;
    c = c * a2 + -0.5;
    const double cosA = 1.0 + a2 * c;
    const bool swap = (q & 1) != 0;
    const double sine = swap ? cosA : sinA;
    const double cosine = swap ? sinA : cosA;
    return {(q & 2) != 0 ? -sine : sine, ((q + 1) & 2) != 0 ? -cosine : cosine};
}

}  // namespace
}  // namespace tapescope::engine::cpu
