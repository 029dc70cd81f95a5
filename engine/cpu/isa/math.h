// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Elementary functions the compiler can inline and vectorise. float: polynomials, a few units in
// the last place (checked in tests/engine/cpu/vector_math_test.cpp). double: the C library's.
// Coefficients: weighted least-squares (Lawson) fits to the named function on the named interval.
namespace tapescope::engine::cpu::TAPESCOPE_ISA {
namespace {

template <class T>
inline constexpr bool kIsBool = false;
template <>
inline constexpr bool kIsBool<bool> = true;
template <class T>
inline constexpr bool kIsInt = false;
template <>
inline constexpr bool kIsInt<std::int64_t> = true;
template <class T>
inline constexpr bool kIsFloat = !kIsBool<T> && !kIsInt<T>;

inline std::uint32_t bitsOf(float x) { return __builtin_bit_cast(std::uint32_t, x); }
inline float floatOf(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }
/// 2^n for n in [-126, 127].
inline float pow2(std::int32_t n) { return floatOf((static_cast<std::uint32_t>(n) + 127U) << 23); }

/// x = n ln2 + r with |r| <= ln2 / 2; e^r - 1 = r + r^2 q(r).
struct ExpParts {
    std::int32_t n;
    float expm1r;
};
inline ExpParts expParts(float x) {
    constexpr float kShift =
        12582912.0F;  // 1.5 * 2^23: adding it leaves the rounded integer in the low bits
    const float shifted = x * 1.44269504F + kShift;
    const auto n = static_cast<std::int32_t>(bitsOf(shifted) - bitsOf(kShift));
    const float nf = shifted - kShift;
    const float r = (x - nf * 0.693359375F) - nf * -2.12194440e-4F;  // ln2 in two parts
    float q = 1.978928049e-04F;
    q = q * r + 1.394575462e-03F;
    q = q * r + 8.333503269e-03F;
    q = q * r + 4.166628048e-02F;
    q = q * r + 1.666666567e-01F;
    q = q * r + 5.000000000e-01F;
    return {n, r + r * r * q};
}

inline float expOf(float x) {
    // Past these bounds the result is 0 or infinity; NaN passes.
    const float limited = x > 89.0F ? 89.0F : (x < -104.0F ? -104.0F : x);
    const ExpParts e = expParts(limited);
    const std::int32_t half = e.n >> 1;  // two factors, so that denormal results come out right
    return ((1.0F + e.expm1r) * pow2(half)) * pow2(e.n - half);
}

/// For x <= 0.
inline float expm1NonPositive(float x) {
    const float limited = x < -50.0F ? -50.0F : x;
    const ExpParts e = expParts(limited);
    const float scale = pow2(e.n);
    return scale * e.expm1r + (scale - 1.0F);
}

/// For normal, finite x > 0.
inline float logOfNormal(float x) {
    const std::uint32_t bits = bitsOf(x);
    // x = 2^e m with m in [sqrt(1/2), sqrt(2))
    const std::int32_t e = static_cast<std::int32_t>(bits - 0x3F3504F3U) >> 23;
    const float f = floatOf(bits - (static_cast<std::uint32_t>(e) << 23)) - 1.0F;
    const float ef = static_cast<float>(e);
    float p = 6.746491790e-02F;  // log(1 + f) = f - f^2 / 2 + f^3 p(f)
    p = p * f + -1.167561561e-01F;
    p = p * f + 1.188821122e-01F;
    p = p * f + -1.240559742e-01F;
    p = p * f + 1.421954632e-01F;
    p = p * f + -1.666799486e-01F;
    p = p * f + 2.000211924e-01F;
    p = p * f + -2.500000894e-01F;
    p = p * f + 3.333331347e-01F;
    const float f2 = f * f;
    const float low = f * f2 * p + ef * -2.12194440e-4F - 0.5F * f2;
    return (f + low) + ef * 0.693359375F;
}

inline float logOf(float x) {
    constexpr float kInfinity = __builtin_inff();
    const bool tiny = x < 1.17549435e-38F;  // denormal: scaled up by 2^23
    const float r = logOfNormal(tiny ? x * 8388608.0F : x) - (tiny ? 23.0F * 0.693147181F : 0.0F);
    const float finite = x < kInfinity ? r : kInfinity;
    return x > 0.0F ? finite : (x == 0.0F ? -kInfinity : __builtin_nanf(""));
}

/// log(1 + x) for finite x >= 0; NaN stays.
inline float log1pNonNegative(float x) {
    const float w = 1.0F + x;
    return logOfNormal(w) + (x - (w - 1.0F)) / w;  // what rounding 1 + x lost
}

inline float tanhOf(float x) {
    const float a = __builtin_fabsf(x);
    const float s = x * x;
    float p = -5.717011634e-03F;  // tanh(x) = x + x^3 p(x^2) for |x| < 0.625
    p = p * s + 2.065055445e-02F;
    p = p * s + -5.374348536e-02F;
    p = p * s + 1.333149076e-01F;
    p = p * s + -3.333328366e-01F;
    const float small = a + a * s * p;
    const float large = 1.0F - 2.0F / (expOf(2.0F * a) + 1.0F);
    return __builtin_copysignf(a < 0.625F ? small : large, x);
}

inline float erfOf(float x) {
    const float a = __builtin_fabsf(x);
    const float s = x * x;
    float p = 8.345216338e-05F;  // erf(x) = x + x p(x^2) for |x| < 0.93
    p = p * s + -8.137435652e-04F;
    p = p * s + 5.200634245e-03F;
    p = p * s + -2.685927041e-02F;
    p = p * s + 1.128369421e-01F;
    p = p * s + -3.761263490e-01F;
    p = p * s + 1.283791661e-01F;
    const float small = x + x * p;
    const float t = a > 4.0F ? 4.0F : a;
    float q = -1.959412475e-04F;  // erfc(t) = exp(-(t + q(t))) for t in [0.92, 4]
    q = q * t + 3.043254139e-03F;
    q = q * t + -2.222705632e-02F;
    q = q * t + 1.039318591e-01F;
    q = q * t + 6.371819377e-01F;
    q = q * t + 1.276757866e-01F;
    q = q * t + 1.956400956e-04F;
    const float large = __builtin_copysignf(1.0F - expOf(-(t + q)), x);
    return a < 0.925F ? small : large;
}

/// Sine and cosine for |x| <= 8192; NaN past it, where pi / 2 in four parts is not enough.
struct SinCos {
    float sine;
    float cosine;
};
inline SinCos sinCosOrNan(float x) {
    constexpr float kShift = 12582912.0F;  // 1.5 * 2^23, see expParts
    const float shifted = x * 0.636619772F + kShift;
    const std::uint32_t quarter = bitsOf(shifted);
    const float n = shifted - kShift;
    // The products of the first three parts are exact, so that r keeps its digits near zero.
    const float first = (x - n * 1.5703125F) - n * 0.0004837512969970703F;
    const float r = (first - n * 7.549533620476723e-08F) - n * 2.563344152e-12F;
    const float s = r * r;
    float p = -1.9515295891e-4F;  // sin(r) = r + r^3 p(r^2) for |r| <= pi / 4 (Cephes)
    p = p * s + 8.3321608736e-3F;
    p = p * s + -1.6666654611e-1F;
    const float sine = r + r * s * p;
    float q = 2.443315711809948e-5F;  // cos(r) = 1 - r^2 / 2 + r^4 q(r^2)
    q = q * s + -1.388731625493765e-3F;
    q = q * s + 4.166664568298827e-2F;
    const float cosine = 1.0F - 0.5F * s + s * s * q;
    const bool swap = (quarter & 1U) != 0;
    const std::uint32_t sineSign = (quarter & 2U) << 30;
    const std::uint32_t cosineSign = ((quarter + 1U) & 2U) << 30;
    const float ofSine = floatOf(bitsOf(swap ? cosine : sine) ^ sineSign);
    const float ofCosine = floatOf(bitsOf(swap ? sine : cosine) ^ cosineSign);
    const bool small = __builtin_fabsf(x) <= 8192.0F;
    return {small ? ofSine : __builtin_nanf(""), small ? ofCosine : __builtin_nanf("")};
}

inline float sqrtOf(float x) { return __builtin_sqrtf(x); }
inline float sinOf(float x) { return __builtin_sinf(x); }
inline float cosOf(float x) { return __builtin_cosf(x); }
inline float powOf(float x, float y) { return __builtin_powf(x, y); }
inline float floorOf(float x) { return __builtin_floorf(x); }
inline float absOf(float x) { return __builtin_fabsf(x); }

inline double expOf(double x) { return __builtin_exp(x); }
inline double expm1NonPositive(double x) { return __builtin_expm1(x); }
inline double logOf(double x) { return __builtin_log(x); }
inline double log1pNonNegative(double x) { return __builtin_log1p(x); }
inline double tanhOf(double x) { return __builtin_tanh(x); }
inline double erfOf(double x) { return __builtin_erf(x); }
inline double sqrtOf(double x) { return __builtin_sqrt(x); }
inline double sinOf(double x) { return __builtin_sin(x); }
inline double cosOf(double x) { return __builtin_cos(x); }
inline double powOf(double x, double y) { return __builtin_pow(x, y); }
inline double floorOf(double x) { return __builtin_floor(x); }
inline double absOf(double x) { return __builtin_fabs(x); }

template <class T>
inline T sigmoidOf(T x) {
    return T(1) / (T(1) + expOf(-x));
}

}  // namespace
}  // namespace tapescope::engine::cpu::TAPESCOPE_ISA
