// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/portable_math.h"

#include <bit>
#include <cstdint>

namespace tapescope::engine::cpu {

double portableLog(double x) {
    // x = 2^e m with m in [sqrt(1/2), sqrt(2)); log m = 2 artanh(s), s = (m - 1) / (m + 1), |s| <
    // 0.172
    const auto bits = std::bit_cast<std::uint64_t>(x);
    constexpr std::uint64_t kHalfRoot = 0x3FE6A09E667F3BCD;
    const auto e = static_cast<std::int64_t>(bits - kHalfRoot) >> 52;
    const double m = std::bit_cast<double>(bits - (static_cast<std::uint64_t>(e) << 52));
    const double s = (m - 1.0) / (m + 1.0);
    const double s2 = s * s;
    double series = 0;  // 1/3 s^2 + 1/5 s^4 + ...: s^22 / 23 < 1e-17
    for (int k = 23; k >= 3; k -= 2) series = (series + 1.0 / k) * s2;
    const double ef = static_cast<double>(e);
    return ef * 6.93147180369123816490e-01 +
           (2.0 * s + (2.0 * s * series + ef * 1.90821492927058770002e-10));
}

void portableSinCosTurns(double t, double& sine, double& cosine) {
    // The nearest eighth-turn pair: t = q / 4 + r with |r| <= 1/8.
    const auto q = static_cast<int>(t * 4.0 + 0.5);
    const double a = (t - static_cast<double>(q) * 0.25) * 6.283185307179586476925;
    const double a2 = a * a;
    double s = 0;
    double c = 0;
    for (int k = 17; k >= 3; k -= 2) s = (s + 1.0) * (-a2 / (k * (k - 1)));
    for (int k = 16; k >= 2; k -= 2) c = (c + 1.0) * (-a2 / (k * (k - 1)));
    const double sinA = a + a * s;
    const double cosA = 1.0 + c;
    switch (q & 3) {
        case 0:
            sine = sinA, cosine = cosA;
            break;
        case 1:
            sine = cosA, cosine = -sinA;
            break;
        case 2:
            sine = -sinA, cosine = -cosA;
            break;
        default:
            sine = -cosA, cosine = sinA;
            break;
    }
}

}  // namespace tapescope::engine::cpu
