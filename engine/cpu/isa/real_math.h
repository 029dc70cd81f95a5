// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/isa/math.h"

// More elementary functions, on top of math.h and by its rules.
namespace tapescope::engine::cpu::TAPESCOPE_ISA {
namespace {

inline float expm1Of(float x) {
    // Past 80 the one is lost, and 2^n would overflow before e^x does.
    const float limited = x < -50.0F ? -50.0F : (x > 80.0F ? 80.0F : x);
    const ExpParts e = expParts(limited);
    const float scale = pow2(e.n);
    const float near = scale * e.expm1r + (scale - 1.0F);
    return x > 80.0F ? expOf(x) : near;
}

inline float log1pOf(float x) {
    const float w = 1.0F + x;
    const float lost = (x - (w - 1.0F)) / w;  // what rounding 1 + x lost
    const float r = logOf(w) + lost;
    return w > 0.0F && w < __builtin_inff() ? r : logOf(w);
}

/// Of a in [0, 1].
inline float atanUnit(float a) {
    const float s = a * a;
    float p = 2.920640865e-03F;  // atan(a) = a + a^3 p(a^2)
    p = p * s + -1.636772417e-02F;
    p = p * s + 4.321153462e-02F;
    p = p * s + -7.552187145e-02F;
    p = p * s + 1.066599190e-01F;
    p = p * s + -1.421105266e-01F;
    p = p * s + 1.999377310e-01F;
    p = p * s + -3.333315253e-01F;
    return a + a * s * p;
}
inline float atan2Of(float y, float x) {
    constexpr float kPi = 3.14159265358979F;
    const float ay = __builtin_fabsf(y);
    const float ax = __builtin_fabsf(x);
    const float low = ay < ax ? ay : ax;
    const float high = ay < ax ? ax : ay;
    // Both zero and both infinite have no ratio, but a direction.
    const float ratio = low == high ? (high == 0.0F ? 0.0F : 1.0F) : low / high;
    float r = atanUnit(ratio);
    r = ay > ax ? 0.5F * kPi - r : r;
    r = __builtin_copysignf(1.0F, x) < 0.0F ? kPi - r : r;
    return x != x || y != y ? x + y : __builtin_copysignf(r, y);
}

inline float ceilOf(float x) { return __builtin_ceilf(x); }
inline float truncOf(float x) { return __builtin_truncf(x); }
inline float roundOf(float x) { return __builtin_rintf(x); }

inline double expm1Of(double x) { return __builtin_expm1(x); }
inline double log1pOf(double x) { return __builtin_log1p(x); }
inline double atan2Of(double y, double x) { return __builtin_atan2(y, x); }
inline double ceilOf(double x) { return __builtin_ceil(x); }
inline double truncOf(double x) { return __builtin_trunc(x); }
inline double roundOf(double x) { return __builtin_rint(x); }

/// tanh(log(1 + e^x)) without the logarithm: with n = e^x, (n^2 + 2n) / (n^2 + 2n + 2).
template <class T>
inline T tanhSoftplus(T x) {
    const T n = expOf(x > T(20) ? T(20) : x);
    const T m = n * (n + T(2));
    return x > T(20) ? T(1) : m / (m + T(2));
}

}  // namespace
}  // namespace tapescope::engine::cpu::TAPESCOPE_ISA
