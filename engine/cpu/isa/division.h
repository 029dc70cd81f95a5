// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/isa/real_math.h"

// Remainders of division, exact as the C library's.
namespace tapescope::engine::cpu::TAPESCOPE_ISA {
namespace {

/// fmod, or NaN where the quotient is too large. In double the quotient of two floats is on the
/// right side of every whole number below 2^28, and quotient times divisor has at most 53 bits.
inline float fmodOrNan(float a, float b) {
    const double wide = a;
    const double quotient = __builtin_trunc(wide / static_cast<double>(b));
    const auto r = static_cast<float>(wide - quotient * static_cast<double>(b));
    const bool small = __builtin_fabs(quotient) < 268435456.0;
    return small ? __builtin_copysignf(r, a) : __builtin_nanf("");
}
/// The quotient may be rounded up to the next whole number; the fused remainder shows it.
inline double fmodOrNan(double a, double b) {
#ifdef __FMA__
    const double quotient = __builtin_trunc(a / b);
    const double r = __builtin_fma(-quotient, b, a);
    const bool past = (r < 0) != (a < 0) && r != 0;
    const double within = past ? r + __builtin_copysign(b, a) : r;
    const bool small = __builtin_fabs(quotient) < 4503599627370496.0;
    return small ? __builtin_copysign(within, a) : __builtin_nan("");
#else
    return __builtin_fmod(a, b);
#endif
}
inline float fmodExact(float a, float b) { return __builtin_fmodf(a, b); }
inline double fmodExact(double a, double b) { return __builtin_fmod(a, b); }

inline float copySign(float x, float y) { return __builtin_copysignf(x, y); }
inline double copySign(double x, double y) { return __builtin_copysign(x, y); }

/// With the divisor's sign, as Python's %.
template <class T>
inline T signedRemainder(T r, T b) {
    return copySign(r, b) != r ? r + b : r;  // zeros are equal whatever their sign
}
/// floor(a / b) by way of the remainder r, as Python: the plain floor is one too many where a / b
/// rounds up to a whole number.
template <class T>
inline T flooredQuotient(T a, T b, T r) {
    const T exact = (a - r) / b;
    const T q = copySign(r, b) != r ? exact - T(1) : exact;
    const T down = floorOf(q);
    const T rounded = q - down > T(0.5) ? down + T(1) : down;
    const T ratio = a / b;
    return b == T(0) ? ratio : (q == T(0) ? copySign(T(0), ratio) : rounded);
}

template <class T>
struct Fmod {
    static T fast(T a, T b) { return fmodOrNan(a, b); }
    static T exact(T a, T b) { return fmodExact(a, b); }
};
template <class T>
struct Remainder {
    static T fast(T a, T b) { return signedRemainder(fmodOrNan(a, b), b); }
    static T exact(T a, T b) { return signedRemainder(fmodExact(a, b), b); }
};
template <class T>
struct FloorDivide {
    static T fast(T a, T b) { return flooredQuotient(a, b, fmodOrNan(a, b)); }
    static T exact(T a, T b) { return flooredQuotient(a, b, fmodExact(a, b)); }
};

}  // namespace
}  // namespace tapescope::engine::cpu::TAPESCOPE_ISA
