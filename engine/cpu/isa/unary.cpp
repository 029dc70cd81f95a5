// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/isa/checked_loops.h"
#include "engine/cpu/isa/loops.h"
#include "engine/cpu/isa/math.h"

namespace tapescope::engine::cpu::TAPESCOPE_ISA {
namespace {

constexpr std::int64_t kInt64Min = -9223372036854775807 - 1;
constexpr std::int64_t kInt64Max = 9223372036854775807;

/// The nearest int64, for bounds given as doubles.
inline std::int64_t saturate(double x) {
    if (!(x > -9223372036854775808.0)) return kInt64Min;
    return x < 9223372036854775808.0 ? static_cast<std::int64_t>(x) : kInt64Max;
}

/// Integer arithmetic wraps, as in PyTorch.
inline std::int64_t wrapNeg(std::int64_t x) {
    return static_cast<std::int64_t>(std::uint64_t{0} - static_cast<std::uint64_t>(x));
}

// One functor an operator: constructed once per loop from the parameters, then called per element.
template <class T>
struct Neg {
    explicit Neg(const LoopParams&) {}
    T operator()(T x) const {
        if constexpr (kIsInt<T>)
            return wrapNeg(x);
        else
            return -x;
    }
};
template <class T>
struct Abs {
    explicit Abs(const LoopParams&) {}
    T operator()(T x) const {
        if constexpr (kIsInt<T>)
            return x < 0 ? wrapNeg(x) : x;
        else
            return absOf(x);
    }
};
template <class T>
struct Sign {
    explicit Sign(const LoopParams&) {}
    T operator()(T x) const { return static_cast<T>(x > T(0)) - static_cast<T>(x < T(0)); }
};
template <class T>
struct Exp {
    explicit Exp(const LoopParams&) {}
    T operator()(T x) const { return expOf(x); }
};
template <class T>
struct Log {
    explicit Log(const LoopParams&) {}
    T operator()(T x) const { return logOf(x); }
};
template <class T>
struct Sqrt {
    explicit Sqrt(const LoopParams&) {}
    T operator()(T x) const { return sqrtOf(x); }
};
template <class T>
struct Rsqrt {
    explicit Rsqrt(const LoopParams&) {}
    T operator()(T x) const { return T(1) / sqrtOf(x); }
};
template <class T>
struct Square {
    explicit Square(const LoopParams&) {}
    T operator()(T x) const {
        if constexpr (kIsInt<T>)
            return static_cast<T>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(x));
        else
            return x * x;
    }
};
template <class T>
struct Reciprocal {
    explicit Reciprocal(const LoopParams&) {}
    T operator()(T x) const { return T(1) / x; }
};
template <class T>
struct Sin {
    explicit Sin(const LoopParams&) {}
    T operator()(T x) const { return sinOf(x); }
};
template <class T>
struct Cos {
    explicit Cos(const LoopParams&) {}
    T operator()(T x) const { return cosOf(x); }
};
struct SinFloat {
    static float fast(float x) { return sinCosOrNan(x).sine; }
    static float exact(float x) { return sinOf(x); }
};
struct CosFloat {
    static float fast(float x) { return sinCosOrNan(x).cosine; }
    static float exact(float x) { return cosOf(x); }
};
template <class T>
struct Tanh {
    explicit Tanh(const LoopParams&) {}
    T operator()(T x) const { return tanhOf(x); }
};
template <class T>
struct Sigmoid {
    explicit Sigmoid(const LoopParams&) {}
    T operator()(T x) const { return sigmoidOf(x); }
};
template <class T>
struct Floor {
    explicit Floor(const LoopParams&) {}
    T operator()(T x) const {
        if constexpr (kIsInt<T>)
            return x;
        else
            return floorOf(x);
    }
};
template <class T>
struct Relu {
    explicit Relu(const LoopParams&) {}
    T operator()(T x) const { return x <= T(0) ? T(0) : x; }  // NaN stays
};
template <class T>
struct LeakyRelu {
    T slope;
    explicit LeakyRelu(const LoopParams& p) : slope(static_cast<T>(p.a)) {}
    T operator()(T x) const { return x > T(0) ? x : x * slope; }
};
template <class T>
struct Elu {
    T alpha;
    explicit Elu(const LoopParams& p) : alpha(static_cast<T>(p.a)) {}
    T operator()(T x) const { return x > T(0) ? x : alpha * expm1NonPositive(x > T(0) ? T(0) : x); }
};
template <class T>
struct Gelu {
    explicit Gelu(const LoopParams&) {}
    T operator()(T x) const { return T(0.5) * x * (T(1) + erfOf(x * T(0.70710678118654752440))); }
};
template <class T>
struct Silu {
    explicit Silu(const LoopParams&) {}
    T operator()(T x) const { return x / (T(1) + expOf(-x)); }
};
template <class T>
struct Softplus {
    explicit Softplus(const LoopParams&) {}
    // Linear past 20, as in PyTorch.
    T operator()(T x) const {
        const T bend = log1pNonNegative(expOf(x > T(20) ? T(20) : x));
        return x > T(20) ? x : bend;
    }
};
template <class T>
struct Clamp {
    T low;
    T high;
    explicit Clamp(const LoopParams& p) : low(bound(p.a)), high(bound(p.b)) {}
    static T bound(double x) {
        if constexpr (kIsInt<T>)
            return saturate(x);
        else
            return static_cast<T>(x);
    }
    // The upper bound wins where they cross; a NaN bound gives NaN.
    T operator()(T x) const {
        const T raised = x < low || low != low ? low : x;
        return raised > high || high != high ? high : raised;
    }
};
/// Types an operator does not calculate with pass through it.
template <class T>
struct Identity {
    explicit Identity(const LoopParams&) {}
    T operator()(T x) const { return x; }
};

template <class T>
struct Not {
    explicit Not(const LoopParams&) {}
    bool operator()(T x) const { return x == T(0); }
};
template <class T>
struct IsNan {
    explicit IsNan(const LoopParams&) {}
    bool operator()(T x) const { return x != x; }
};
template <class T>
struct IsInf {
    explicit IsInf(const LoopParams&) {}
    bool operator()(T x) const {
        if constexpr (kIsFloat<T>)
            return absOf(x) == static_cast<T>(__builtin_inf());
        else
            return false;
    }
};
template <class F, class Out, class In>
void loop(std::int64_t n, void* out, std::int64_t outStride, const void* in, std::int64_t inStride,
          const LoopParams& params) {
    const F f(params);
    auto* y = static_cast<Out*>(out);
    const auto* x = static_cast<const In*>(in);
    if (outStride == 1 && inStride == 1) {
#pragma GCC ivdep
        for (std::int64_t i = 0; i < n; ++i) y[i] = f(x[i]);
        return;
    }
    if (inStride == 0) {
        const Out value = f(*x);
        if (outStride == 1) {
            for (std::int64_t i = 0; i < n; ++i) y[i] = value;
        } else {
            for (std::int64_t i = 0; i < n; ++i) y[i * outStride] = value;
        }
        return;
    }
    for (std::int64_t i = 0; i < n; ++i) y[i * outStride] = f(x[i * inStride]);
}

enum Types : unsigned { kBool = 1, kInt = 2, kFloats = 4 };

template <template <class> class F, unsigned types>
constexpr void same(UnaryTable& t, UnaryOp op) {
    auto& row = t.loops[static_cast<int>(op)];
    if constexpr ((types & kBool) != 0) row[0] = loop<Identity<bool>, bool, bool>;
    if constexpr ((types & kInt) != 0) row[1] = loop<F<std::int64_t>, std::int64_t, std::int64_t>;
    row[2] = loop<F<float>, float, float>;
    row[3] = loop<F<double>, double, double>;
}
template <template <class> class F>
constexpr void test(UnaryTable& t, TestOp op) {
    auto& row = t.tests[static_cast<int>(op)];
    row[0] = loop<F<bool>, bool, bool>;
    row[1] = loop<F<std::int64_t>, bool, std::int64_t>;
    row[2] = loop<F<float>, bool, float>;
    row[3] = loop<F<double>, bool, double>;
}
constexpr UnaryTable makeTable() {
    UnaryTable t{};
    same<Neg, kInt | kFloats>(t, UnaryOp::Neg);
    same<Abs, kBool | kInt | kFloats>(t, UnaryOp::Abs);
    same<Sign, kBool | kInt | kFloats>(t, UnaryOp::Sign);
    same<Square, kInt | kFloats>(t, UnaryOp::Square);
    same<Floor, kInt | kFloats>(t, UnaryOp::Floor);
    same<Relu, kInt | kFloats>(t, UnaryOp::Relu);
    same<Clamp, kInt | kFloats>(t, UnaryOp::Clamp);
    same<Exp, kFloats>(t, UnaryOp::Exp);
    same<Log, kFloats>(t, UnaryOp::Log);
    same<Sqrt, kFloats>(t, UnaryOp::Sqrt);
    same<Rsqrt, kFloats>(t, UnaryOp::Rsqrt);
    same<Reciprocal, kFloats>(t, UnaryOp::Reciprocal);
    same<Sin, kFloats>(t, UnaryOp::Sin);
    same<Cos, kFloats>(t, UnaryOp::Cos);
    t.loops[static_cast<int>(UnaryOp::Sin)][2] = checkedUnary<SinFloat, float>;
    t.loops[static_cast<int>(UnaryOp::Cos)][2] = checkedUnary<CosFloat, float>;
    same<Tanh, kFloats>(t, UnaryOp::Tanh);
    same<Sigmoid, kFloats>(t, UnaryOp::Sigmoid);
    same<LeakyRelu, kFloats>(t, UnaryOp::LeakyRelu);
    same<Elu, kFloats>(t, UnaryOp::Elu);
    same<Gelu, kFloats>(t, UnaryOp::Gelu);
    same<Silu, kFloats>(t, UnaryOp::Silu);
    same<Softplus, kFloats>(t, UnaryOp::Softplus);
    test<Not>(t, TestOp::Not);
    test<IsNan>(t, TestOp::IsNan);
    test<IsInf>(t, TestOp::IsInf);
    return t;
}

}  // namespace

extern constexpr UnaryTable kUnaryTable = makeTable();

}  // namespace tapescope::engine::cpu::TAPESCOPE_ISA
