// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/isa/checked_loops.h"
#include "engine/cpu/isa/loops.h"
#include "engine/cpu/isa/real_math.h"

namespace tapescope::engine::cpu::TAPESCOPE_ISA {
namespace {

using Int = std::int64_t;

inline std::uint64_t bits(Int x) { return static_cast<std::uint64_t>(x); }

// One functor an operator, constructed once per loop. Integer arithmetic wraps; on bool, sums are
// or and products are and.
template <class T>
struct Add {
    explicit Add(const LoopParams&) {}
    T operator()(T a, T b) const {
        if constexpr (kIsBool<T>)
            return static_cast<T>(a | b);
        else if constexpr (kIsInt<T>)
            return static_cast<T>(bits(a) + bits(b));
        else
            return a + b;
    }
};
template <class T>
struct Sub {
    explicit Sub(const LoopParams&) {}
    T operator()(T a, T b) const {
        if constexpr (kIsInt<T>)
            return static_cast<T>(bits(a) - bits(b));
        else
            return a - b;
    }
};
template <class T>
struct Mul {
    explicit Mul(const LoopParams&) {}
    T operator()(T a, T b) const {
        if constexpr (kIsBool<T>)
            return static_cast<T>(a & b);
        else if constexpr (kIsInt<T>)
            return static_cast<T>(bits(a) * bits(b));
        else
            return a * b;
    }
};
template <class T>
struct Div {
    explicit Div(const LoopParams&) {}
    T operator()(T a, T b) const { return a / b; }
};
/// Negative integer powers: 0 but for bases 1 and -1.
inline Int intPow(Int base, Int exponent) {
    if (exponent < 0) {
        if (base == 1) return 1;
        if (base == -1) return exponent % 2 == 0 ? 1 : -1;
        return 0;
    }
    std::uint64_t result = 1;
    for (std::uint64_t b = bits(base); exponent > 0; exponent >>= 1, b *= b) {
        if (exponent & 1) result *= b;
    }
    return static_cast<Int>(result);
}
template <class T>
struct Pow {
    explicit Pow(const LoopParams&) {}
    T operator()(T a, T b) const {
        if constexpr (kIsInt<T>)
            return intPow(a, b);
        else
            return powOf(a, b);
    }
};
struct PowFloat {
    static float fast(float a, float b) { return powOrNan(a, b); }
    static float exact(float a, float b) { return powOf(a, b); }
};
template <class T>
struct Maximum {
    explicit Maximum(const LoopParams&) {}
    T operator()(T a, T b) const {
        return a != a || a > b ? a : b;
    }  // NaN wins; a NaN b is returned by a > b failing
};
template <class T>
struct Minimum {
    explicit Minimum(const LoopParams&) {}
    T operator()(T a, T b) const { return a != a || a < b ? a : b; }
};

template <class T>
struct ReluBackward {
    explicit ReluBackward(const LoopParams&) {}
    T operator()(T grad, T y) const { return y <= T(0) ? T(0) : grad; }
};
template <class T>
struct LeakyReluBackward {
    T slope;
    explicit LeakyReluBackward(const LoopParams& p) : slope(static_cast<T>(p.a)) {}
    T operator()(T grad, T x) const { return x > T(0) ? grad : grad * slope; }
};
template <class T>
struct TanhBackward {
    explicit TanhBackward(const LoopParams&) {}
    T operator()(T grad, T y) const { return grad * (T(1) - y * y); }
};
template <class T>
struct SigmoidBackward {
    explicit SigmoidBackward(const LoopParams&) {}
    T operator()(T grad, T y) const { return grad * (T(1) - y) * y; }
};
template <class T>
struct GeluBackward {
    explicit GeluBackward(const LoopParams&) {}
    T operator()(T grad, T x) const {
        const T cdf = T(0.5) * (T(1) + erfOf(x * T(0.70710678118654752440)));
        const T pdf = T(0.39894228040143267794) * expOf(T(-0.5) * x * x);
        return grad * (cdf + x * pdf);
    }
};

template <class T>
struct Eq {
    explicit Eq(const LoopParams&) {}
    bool operator()(T a, T b) const { return a == b; }
};
template <class T>
struct Ne {
    explicit Ne(const LoopParams&) {}
    bool operator()(T a, T b) const { return a != b; }
};
template <class T>
struct Lt {
    explicit Lt(const LoopParams&) {}
    bool operator()(T a, T b) const { return a < b; }
};
template <class T>
struct Le {
    explicit Le(const LoopParams&) {}
    bool operator()(T a, T b) const { return a <= b; }
};
template <class T>
struct Gt {
    explicit Gt(const LoopParams&) {}
    bool operator()(T a, T b) const { return a > b; }
};
template <class T>
struct Ge {
    explicit Ge(const LoopParams&) {}
    bool operator()(T a, T b) const { return a >= b; }
};
template <class T>
struct And {
    explicit And(const LoopParams&) {}
    bool operator()(T a, T b) const { return (a != T(0)) & (b != T(0)); }
};
template <class T>
struct Or {
    explicit Or(const LoopParams&) {}
    bool operator()(T a, T b) const { return (a != T(0)) | (b != T(0)); }
};

template <class F, class Out, class In>
void loop(Int n, void* out, Int outStride, const void* first, Int aStride, const void* second,
          Int bStride, const LoopParams& params) {
    const F f(params);
    auto* y = static_cast<Out*>(out);
    const auto* a = static_cast<const In*>(first);
    const auto* b = static_cast<const In*>(second);
    if (outStride == 1 && aStride == 1 && bStride == 1) {
#pragma GCC ivdep
        for (Int i = 0; i < n; ++i) y[i] = f(a[i], b[i]);
    } else if (outStride == 1 && aStride == 1 && bStride == 0) {
        const In value = *b;
#pragma GCC ivdep
        for (Int i = 0; i < n; ++i) y[i] = f(a[i], value);
    } else if (outStride == 1 && aStride == 0 && bStride == 1) {
        const In value = *a;
#pragma GCC ivdep
        for (Int i = 0; i < n; ++i) y[i] = f(value, b[i]);
    } else {
        for (Int i = 0; i < n; ++i) y[i * outStride] = f(a[i * aStride], b[i * bStride]);
    }
}

/// The exponents models use, without the library's pow; the general case by `loop`.
template <class T>
void powLoop(Int n, void* out, Int outStride, const void* first, Int aStride, const void* second,
             Int bStride, const LoopParams& params) {
    if (n == 0) return;  // an empty tensor has no exponent to look at
    const T exponent = *static_cast<const T*>(second);
    auto* y = static_cast<T*>(out);
    const auto* a = static_cast<const T*>(first);
    const auto each = [&](auto f) {
        if (outStride == 1 && aStride == 1) {
#pragma GCC ivdep
            for (Int i = 0; i < n; ++i) y[i] = f(a[i]);
        } else {
            for (Int i = 0; i < n; ++i) y[i * outStride] = f(a[i * aStride]);
        }
    };
    if (bStride == 0) {
        if (exponent == T(2)) return each([](T x) { return x * x; });
        if (exponent == T(3)) return each([](T x) { return x * x * x; });
        if (exponent == T(1)) return each([](T x) { return x; });
        if (exponent == T(0.5)) return each([](T x) { return sqrtOf(x); });
        if (exponent == T(-0.5)) return each([](T x) { return T(1) / sqrtOf(x); });
        if (exponent == T(-1)) return each([](T x) { return T(1) / x; });
        if (exponent == T(-2)) return each([](T x) { return T(1) / (x * x); });
    }
    if constexpr (sizeof(T) == sizeof(float))
        return checkedBinary<PowFloat, T>(n, out, outStride, first, aStride, second, bStride,
                                          params);
    loop<Pow<T>, T, T>(n, out, outStride, first, aStride, second, bStride, params);
}

template <class T>
void whereLoop(Int n, void* out, Int outStride, const void* condition, Int conditionStride,
               const void* first, Int aStride, const void* second, Int bStride) {
    auto* y = static_cast<T*>(out);
    const auto* c = static_cast<const std::uint8_t*>(condition);  // bools
    const auto* a = static_cast<const T*>(first);
    const auto* b = static_cast<const T*>(second);
    if (outStride == 1 && conditionStride == 1 && aStride == 1 && bStride == 1) {
#pragma GCC ivdep
        for (Int i = 0; i < n; ++i) {
            const T whenTrue = a[i];
            const T whenFalse = b[i];
            y[i] = c[i] != 0 ? whenTrue : whenFalse;
        }
    } else {
        for (Int i = 0; i < n; ++i) {
            y[i * outStride] = c[i * conditionStride] != 0 ? a[i * aStride] : b[i * bStride];
        }
    }
}

/// start + weight * (end - start), from whichever end is nearer, so that weight 1 gives end
/// exactly.
template <class T>
void lerpLoop(Int n, void* out, Int outStride, const void* start, Int aStride, const void* end,
              Int bStride, const void* weight, Int wStride) {
    auto* y = static_cast<T*>(out);
    const auto* a = static_cast<const T*>(start);
    const auto* b = static_cast<const T*>(end);
    const auto* w = static_cast<const T*>(weight);
    const auto between = [](T s, T e, T t) {
        return absOf(t) < T(0.5) ? s + t * (e - s) : e - (e - s) * (T(1) - t);
    };
    const bool dense = outStride == 1 && aStride == 1 && bStride == 1;
    if (dense && wStride == 0) {
        const T t = *w;
#pragma GCC ivdep
        for (Int i = 0; i < n; ++i) y[i] = between(a[i], b[i], t);
    } else if (dense && wStride == 1) {
#pragma GCC ivdep
        for (Int i = 0; i < n; ++i) y[i] = between(a[i], b[i], w[i]);
    } else {
        for (Int i = 0; i < n; ++i)
            y[i * outStride] = between(a[i * aStride], b[i * bStride], w[i * wStride]);
    }
}

enum Types : unsigned { kFloats = 0, kBool = 1, kIntType = 2 };

template <template <class> class F, unsigned types>
constexpr void same(BinaryTable& t, BinaryOp op) {
    auto& row = t.loops[static_cast<int>(op)];
    if constexpr ((types & kBool) != 0) row[0] = loop<F<bool>, bool, bool>;
    if constexpr ((types & kIntType) != 0) row[1] = loop<F<Int>, Int, Int>;
    row[2] = loop<F<float>, float, float>;
    row[3] = loop<F<double>, double, double>;
}
template <template <class> class F>
constexpr void compare(BinaryTable& t, CompareOp op) {
    auto& row = t.compares[static_cast<int>(op)];
    row[0] = loop<F<bool>, bool, bool>;
    row[1] = loop<F<Int>, bool, Int>;
    row[2] = loop<F<float>, bool, float>;
    row[3] = loop<F<double>, bool, double>;
}

constexpr BinaryTable makeTable() {
    BinaryTable t{};
    same<Add, kBool | kIntType>(t, BinaryOp::Add);
    same<Sub, kIntType>(t, BinaryOp::Sub);
    same<Mul, kBool | kIntType>(t, BinaryOp::Mul);
    same<Div, kFloats>(t, BinaryOp::Div);
    t.loops[static_cast<int>(BinaryOp::Pow)][1] = loop<Pow<Int>, Int, Int>;
    t.loops[static_cast<int>(BinaryOp::Pow)][2] = powLoop<float>;
    t.loops[static_cast<int>(BinaryOp::Pow)][3] = powLoop<double>;
    same<Maximum, kBool | kIntType>(t, BinaryOp::Maximum);
    same<Minimum, kBool | kIntType>(t, BinaryOp::Minimum);
    same<ReluBackward, kFloats>(t, BinaryOp::ReluBackward);
    same<LeakyReluBackward, kFloats>(t, BinaryOp::LeakyReluBackward);
    same<TanhBackward, kFloats>(t, BinaryOp::TanhBackward);
    same<SigmoidBackward, kFloats>(t, BinaryOp::SigmoidBackward);
    same<GeluBackward, kFloats>(t, BinaryOp::GeluBackward);
    compare<Eq>(t, CompareOp::Eq);
    compare<Ne>(t, CompareOp::Ne);
    compare<Lt>(t, CompareOp::Lt);
    compare<Le>(t, CompareOp::Le);
    compare<Gt>(t, CompareOp::Gt);
    compare<Ge>(t, CompareOp::Ge);
    compare<And>(t, CompareOp::And);
    compare<Or>(t, CompareOp::Or);
    auto& where = t.ternary[static_cast<int>(TernaryOp::Where)];
    // Elements are only moved: one loop a size.
    where[0] = where[8] = where[9] = whereLoop<std::uint8_t>;
    where[4] = where[5] = where[7] = whereLoop<std::uint16_t>;
    where[6] = whereLoop<std::int32_t>;
    where[1] = whereLoop<Int>;
    where[2] = whereLoop<float>;
    where[3] = whereLoop<double>;
    t.ternary[static_cast<int>(TernaryOp::Lerp)][2] = lerpLoop<float>;
    t.ternary[static_cast<int>(TernaryOp::Lerp)][3] = lerpLoop<double>;
    return t;
}

}  // namespace

extern constexpr BinaryTable kBinaryTable = makeTable();

}  // namespace tapescope::engine::cpu::TAPESCOPE_ISA
