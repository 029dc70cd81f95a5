// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/isa/checked_loops.h"
#include "engine/cpu/isa/real_loops.h"
#include "engine/cpu/isa/real_math.h"

namespace tapescope::engine::cpu::TAPESCOPE_ISA {
namespace {

// One functor an operator: constructed once per loop from the parameters, then called per element.
struct None {
    explicit None(const LoopParams&) {}
};
template <class T>
struct Erf : None {
    using None::None;
    T operator()(T x) const { return erfOf(x); }
};
template <class T>
struct Erfc : None {
    using None::None;
    T operator()(T x) const { return erfcOf(x); }
};
template <class T>
struct Erfinv : None {
    using None::None;
    T operator()(T x) const { return erfinvOf(x); }
};
template <class T>
struct Atanh : None {
    using None::None;
    T operator()(T x) const { return atanhOf(x); }
};
template <class T>
struct Expm1 : None {
    using None::None;
    T operator()(T x) const { return expm1Of(x); }
};
template <class T>
struct Log1p : None {
    using None::None;
    T operator()(T x) const { return log1pOf(x); }
};
template <class T>
struct Exp2 : None {
    using None::None;
    T operator()(T x) const { return exp2Of(x); }
};
template <class T>
struct Log2 : None {
    using None::None;
    T operator()(T x) const { return log2Of(x); }
};
template <class T>
struct Asin : None {
    using None::None;
    T operator()(T x) const { return asinOf(x); }
};
template <class T>
struct Acos : None {
    using None::None;
    T operator()(T x) const { return acosOf(x); }
};
template <class T>
struct Atan : None {
    using None::None;
    T operator()(T x) const { return atanOf(x); }
};
struct TanDouble : None {
    using None::None;
    double operator()(double x) const { return __builtin_tan(x); }
};
struct LgammaDouble : None {
    using None::None;
    double operator()(double x) const {
        int sign = 0;  // not the C library's global one
        return __builtin_lgamma_r(x, &sign);
    }
};
struct LgammaFloat {
    static float fast(float x) { return lgammaOrNan(x); }
    static float exact(float x) {
        int sign = 0;
        return __builtin_lgammaf_r(x, &sign);
    }
};
struct TanFloat {
    static float fast(float x) { return tanOrNan(x); }
    static float exact(float x) { return __builtin_tanf(x); }
};
template <class T>
struct Ceil : None {
    using None::None;
    T operator()(T x) const { return ceilOf(x); }
};
template <class T>
struct Trunc : None {
    using None::None;
    T operator()(T x) const { return truncOf(x); }
};
template <class T>
struct Round : None {
    using None::None;
    T operator()(T x) const { return roundOf(x); }
};
template <class T>
struct Frac : None {
    using None::None;
    T operator()(T x) const { return x - truncOf(x); }
};
template <class T>
struct GeluTanh : None {
    using None::None;
    T operator()(T x) const {
        const T u = T(0.79788456080286535588) * (x + T(0.044715) * x * x * x);
        return T(0.5) * x * (T(1) + tanhOf(u));
    }
};
template <class T>
struct Hardsigmoid : None {
    using None::None;
    T operator()(T x) const {
        const T y = x + T(3);
        const T raised = y < T(0) ? T(0) : y;
        return (raised > T(6) ? T(6) : raised) * T(1.0 / 6);
    }
};
template <class T>
struct Hardswish : None {
    using None::None;
    T operator()(T x) const {
        const T y = x + T(3);
        const T raised = y < T(0) ? T(0) : y;
        return x * (raised > T(6) ? T(6) : raised) * T(1.0 / 6);
    }
};
template <class T>
struct Mish : None {
    using None::None;
    T operator()(T x) const { return x * tanhSoftplus(x); }
};
template <class T>
struct Selu : None {
    using None::None;
    T operator()(T x) const {
        constexpr T kScale = T(1.0507009873554804934193349852946);
        constexpr T kSteep =
            T(1.0507009873554804934193349852946 * 1.6732632423543772848170429916717);
        return x > T(0) ? kScale * x : kSteep * expm1NonPositive(x > T(0) ? T(0) : x);
    }
};
template <class T>
struct Celu {
    T alpha;
    explicit Celu(const LoopParams& p) : alpha(static_cast<T>(p.a)) {}
    T operator()(T x) const {
        // x / alpha grows where alpha is negative, so the general exponential.
        return x > T(0) ? x : alpha * expm1Of((x > T(0) ? T(0) : x) / alpha);
    }
};
template <class T>
struct LogSigmoid : None {
    using None::None;
    T operator()(T x) const { return (x > T(0) ? T(0) : x) - log1pNonNegative(expOf(-absOf(x))); }
};
template <class T>
struct Softsign : None {
    using None::None;
    T operator()(T x) const { return x / (T(1) + absOf(x)); }
};
template <class T>
struct Tanhshrink : None {
    using None::None;
    T operator()(T x) const { return x - tanhOf(x); }
};
template <class T>
struct Hardshrink {
    T lambd;
    explicit Hardshrink(const LoopParams& p) : lambd(static_cast<T>(p.a)) {}
    T operator()(T x) const { return x >= -lambd && x <= lambd ? T(0) : x; }
};
template <class T>
struct Softshrink {
    T lambd;
    explicit Softshrink(const LoopParams& p) : lambd(static_cast<T>(p.a)) {}
    T operator()(T x) const {
        const T low = x < -lambd ? x + lambd : x * T(0);  // NaN stays
        return x > lambd ? x - lambd : low;
    }
};
template <class T>
struct Threshold {
    T threshold;
    T value;
    explicit Threshold(const LoopParams& p)
        : threshold(static_cast<T>(p.a)), value(static_cast<T>(p.b)) {}
    T operator()(T x) const { return x <= threshold ? value : x; }
};

template <class F, class T>
void loop(std::int64_t n, void* out, std::int64_t outStride, const void* in, std::int64_t inStride,
          const LoopParams& params) {
    const F f(params);
    auto* y = static_cast<T*>(out);
    const auto* x = static_cast<const T*>(in);
    if (outStride == 1 && inStride == 1) {
#pragma GCC ivdep
        for (std::int64_t i = 0; i < n; ++i) y[i] = f(x[i]);
        return;
    }
    for (std::int64_t i = 0; i < n; ++i) y[i * outStride] = f(x[i * inStride]);
}

template <template <class> class F>
constexpr void add(RealTable& t, RealUnary op) {
    t.f32[static_cast<int>(op)] = loop<F<float>, float>;
    t.f64[static_cast<int>(op)] = loop<F<double>, double>;
}

constexpr RealTable makeTable() {
    RealTable t{};
    add<Erf>(t, RealUnary::Erf);
    add<Erfc>(t, RealUnary::Erfc);
    add<Erfinv>(t, RealUnary::Erfinv);
    add<Atanh>(t, RealUnary::Atanh);
    add<Expm1>(t, RealUnary::Expm1);
    add<Log1p>(t, RealUnary::Log1p);
    add<Exp2>(t, RealUnary::Exp2);
    add<Log2>(t, RealUnary::Log2);
    add<Asin>(t, RealUnary::Asin);
    add<Acos>(t, RealUnary::Acos);
    add<Atan>(t, RealUnary::Atan);
    t.f32[static_cast<int>(RealUnary::Tan)] = checkedUnary<TanFloat, float>;
    t.f64[static_cast<int>(RealUnary::Tan)] = loop<TanDouble, double>;
    t.f32[static_cast<int>(RealUnary::Lgamma)] = checkedUnary<LgammaFloat, float>;
    t.f64[static_cast<int>(RealUnary::Lgamma)] = loop<LgammaDouble, double>;
    add<Ceil>(t, RealUnary::Ceil);
    add<Trunc>(t, RealUnary::Trunc);
    add<Round>(t, RealUnary::Round);
    add<Frac>(t, RealUnary::Frac);
    add<GeluTanh>(t, RealUnary::GeluTanh);
    add<Hardswish>(t, RealUnary::Hardswish);
    add<Hardsigmoid>(t, RealUnary::Hardsigmoid);
    add<Mish>(t, RealUnary::Mish);
    add<Selu>(t, RealUnary::Selu);
    add<Celu>(t, RealUnary::Celu);
    add<LogSigmoid>(t, RealUnary::LogSigmoid);
    add<Softsign>(t, RealUnary::Softsign);
    add<Tanhshrink>(t, RealUnary::Tanhshrink);
    add<Hardshrink>(t, RealUnary::Hardshrink);
    add<Softshrink>(t, RealUnary::Softshrink);
    add<Threshold>(t, RealUnary::Threshold);
    return t;
}

}  // namespace

extern constexpr RealTable kRealTable = makeTable();

}  // namespace tapescope::engine::cpu::TAPESCOPE_ISA
