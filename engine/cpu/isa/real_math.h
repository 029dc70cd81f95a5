// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/isa/math.h"
#include "engine/cpu/isa/portable_math.h"

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

inline float exp2Of(float x) {
    constexpr float kShift = 12582912.0F;  // 1.5 * 2^23, see expParts
    const float limited = x > 129.0F ? 129.0F : (x < -151.0F ? -151.0F : x);
    const float shifted = limited + kShift;
    const auto whole = static_cast<std::int32_t>(bitsOf(shifted) - bitsOf(kShift));
    const ExpParts e = expParts((limited - (shifted - kShift)) * 0.693147181F);
    const std::int32_t n = whole + e.n;
    const std::int32_t half = n >> 1;
    return ((1.0F + e.expm1r) * pow2(half)) * pow2(n - half);
}

/// The exponent and the logarithm of the rest apart, so that powers of 2 come out whole.
inline float log2Of(float x) {
    const bool tiny = x < 1.17549435e-38F;  // denormal: scaled up by 2^23
    const std::uint32_t bits = bitsOf(tiny ? x * 8388608.0F : x);
    const std::int32_t e = static_cast<std::int32_t>(bits - 0x3F3504F3U) >> 23;
    const float m = floatOf(bits - (static_cast<std::uint32_t>(e) << 23));
    const float r = static_cast<float>(e) - (tiny ? 23.0F : 0.0F) + logOfNormal(m) * 1.44269504F;
    const float finite = x < __builtin_inff() ? r : __builtin_inff();
    return x > 0.0F ? finite : (x == 0.0F ? -__builtin_inff() : __builtin_nanf(""));
}

/// NaN past 1e5, where pi / 2 in two parts is not enough.
inline float tanOrNan(float x) {
    const double wide = x;
    const double turns = __builtin_rint(wide * 0.63661977236758134308);
    const auto r =
        static_cast<float>((wide - turns * 0x1.921fb544p+0) - turns * 0x1.0b4611a626331p-34);
    const float s = r * r;
    float p = 4.387120251e-03F;  // tan(r) = r + r^3 p(r^2) for |r| <= pi / 4
    p = p * s + 6.813334039e-05F;
    p = p * s + 1.085221954e-02F;
    p = p * s + 2.127604932e-02F;
    p = p * s + 5.406106636e-02F;
    p = p * s + 1.333265305e-01F;
    p = p * s + 3.333334923e-01F;
    const float t = r + r * s * p;
    const double halves = turns * 0.5;
    const float y = halves == __builtin_rint(halves) ? t : -1.0F / t;
    return __builtin_fabsf(x) < 1e5F ? y : __builtin_nanf("");
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

inline float atanOf(float x) { return atan2Of(x, 1.0F); }
inline float asinOf(float x) { return atan2Of(x, sqrtOf((1.0F - x) * (1.0F + x))); }
inline float acosOf(float x) { return atan2Of(sqrtOf((1.0F - x) * (1.0F + x)), x); }

inline float atanhOf(float x) {
    const float a = __builtin_fabsf(x);
    return __builtin_copysignf(0.5F * log1pOf(2.0F * a / (1.0F - a)), x);
}

inline float erfcOf(float x) {
    const float a = __builtin_fabsf(x);
    const float limited = a < 11.0F ? a : 11.0F;  // the result is 0 from 10.1 on
    // erfc(a) = exp(-a^2) t exp(p(t)) with t = 1 / (1 + a / 2). a^2 in two parts, the first without
    // rounding: its error would be one of the result's digits.
    const float t = 1.0F / (1.0F + 0.5F * limited);
    float p = -1.321883583e-01F;
    p = p * t + 9.184747585e-01F;
    p = p * t + -2.660184627e+00F;
    p = p * t + 4.065587108e+00F;
    p = p * t + -3.407514885e+00F;
    p = p * t + 1.589504338e+00F;
    p = p * t + -6.848010852e-01F;
    p = p * t + 2.197518298e-01F;
    p = p * t + 3.553143037e-01F;
    p = p * t + 1.001627312e+00F;
    p = p * t + -1.265570671e+00F;
    const float high = floatOf(bitsOf(limited) & 0xFFFFF000U);
    const float low = (limited - high) * (limited + high);
    const float tail = expOf(-high * high) * (t * expOf(p - low));
    const float far = x < 0.0F ? 2.0F - tail : tail;
    const float r = a < 0.65F ? 1.0F - erfOf(x) : far;
    return x != x ? x : r;
}

/// log gamma in double, so that its zeros at 1 and 2 keep float's digits; NaN unless x is in (0,
/// infinity). Shifted by 8 where it is small, then Stirling's series.
inline float lgammaOrNan(float x) {
    const double wide = x;
    const bool small = wide < 8.0;
    double product = wide * (wide + 1.0);
    for (int k = 2; k < 8; ++k) product *= wide + k;
    const double z = small ? wide + 8.0 : wide;
    const double inverse = 1.0 / z;
    const double square = inverse * inverse;
    double series = -3617.0 / 122400;
    series = series * square + 1.0 / 156;
    series = series * square + -691.0 / 360360;
    series = series * square + 1.0 / 1188;
    series = series * square + -1.0 / 1680;
    series = series * square + 1.0 / 1260;
    series = series * square + -1.0 / 360;
    series = series * square + 1.0 / 12;
    const double shift = portableLogOf(small ? product : 1.0);
    const double y = (z - 0.5) * portableLogOf(z) - z + 0.91893853320467274178 + series * inverse;
    return x > 0.0F && x < __builtin_inff() ? static_cast<float>(y - shift) : __builtin_nanf("");
}

/// x^y by way of double; NaN unless x is in (0, infinity) and y is finite, or x is 0 and y > 0.
inline float powOrNan(float x, float y) {
    const double exponent = static_cast<double>(y) * portableLogOf(static_cast<double>(x));
    // Past these bounds float's result is 0 or infinity.
    const double v = exponent > 100.0 ? 100.0 : (exponent < -120.0 ? -120.0 : exponent);
    constexpr double kShift = 6755399441055744.0;  // 1.5 * 2^52, see expParts
    const double shifted = v * 1.44269504088896340736 + kShift;
    const double n = shifted - kShift;
    const double r = v - n * 0.69314718055994530942;
    double p = 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    const std::uint64_t scale =
        (static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(n))) +
         1023U)
        << 52;
    const double result = p * __builtin_bit_cast(double, scale);
    const bool ordinary = x > 0.0F && x < __builtin_inff() && y - y == 0.0F;
    const float of0 = y > 0.0F ? 0.0F : __builtin_nanf("");  // of +0: what activations are full of
    return ordinary ? static_cast<float>(result) : bitsOf(x) == 0 ? of0 : __builtin_nanf("");
}

/// Giles, Approximating the erfinv function (2011), single precision: 3e-7 of the result.
inline float erfinvOf(float x) {
    const float w = -logOf((1.0F - x) * (1.0F + x));
    const float near = w - 2.5F;
    float p = 2.81022636e-08F;
    p = p * near + 3.43273939e-07F;
    p = p * near + -3.5233877e-06F;
    p = p * near + -4.39150654e-06F;
    p = p * near + 2.1858087e-04F;
    p = p * near + -1.25372503e-03F;
    p = p * near + -4.17768164e-03F;
    p = p * near + 2.46640727e-01F;
    p = p * near + 1.50140941e+00F;
    const float far = __builtin_sqrtf(w > 5.0F ? w : 5.0F) - 3.0F;
    float q = -2.00214257e-04F;
    q = q * far + 1.00950558e-04F;
    q = q * far + 1.34934322e-03F;
    q = q * far + -3.67342844e-03F;
    q = q * far + 5.73950773e-03F;
    q = q * far + -7.6224613e-03F;
    q = q * far + 9.43887047e-03F;
    q = q * far + 1.00167406e+00F;
    q = q * far + 2.83297682e+00F;
    const float inside = (w < 5.0F ? p : q) * x;
    const float a = __builtin_fabsf(x);
    const float r = a == 1.0F ? __builtin_copysignf(__builtin_inff(), x) : inside;
    return a <= 1.0F ? r : __builtin_nanf("");
}

inline float ceilOf(float x) { return __builtin_ceilf(x); }
inline float truncOf(float x) { return __builtin_truncf(x); }
inline float roundOf(float x) { return __builtin_rintf(x); }

inline double atanhOf(double x) { return __builtin_atanh(x); }
inline double erfcOf(double x) { return __builtin_erfc(x); }
inline double erfinvOf(double y) {
    const double size = __builtin_fabs(y);
    if (!(size <= 1)) return __builtin_nan("");
    if (size == 1) return __builtin_copysign(__builtin_inf(), y);
    // Winitzki's estimate (2e-3 off), then Halley's method, which triples the digits.
    constexpr double kA = 0.147;
    constexpr double kPi = 3.14159265358979323846;
    const double l = __builtin_log1p(-size * size);
    const double t = 2 / (kPi * kA) + l / 2;
    double x = __builtin_sqrt(-l / kA / (__builtin_sqrt(t * t - l / kA) + t));
    for (int i = 0; i < 3; ++i) {
        // Near 1 the difference of the complements keeps the digits.
        const double error = size > 0.5 ? (1 - size) - __builtin_erfc(x) : __builtin_erf(x) - size;
        const double step = error / (1.12837916709551257390 * __builtin_exp(-x * x));
        x -= step / (1 + x * step);
    }
    return __builtin_copysign(x, y);
}
inline double expm1Of(double x) { return __builtin_expm1(x); }
inline double log1pOf(double x) { return __builtin_log1p(x); }
inline double atan2Of(double y, double x) { return __builtin_atan2(y, x); }
inline double exp2Of(double x) { return __builtin_exp2(x); }
inline double log2Of(double x) { return __builtin_log2(x); }
inline double atanOf(double x) { return __builtin_atan(x); }
inline double asinOf(double x) { return __builtin_asin(x); }
inline double acosOf(double x) { return __builtin_acos(x); }
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
