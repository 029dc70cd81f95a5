// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/isa/checked_loops.h"
#include "engine/cpu/isa/division.h"
#include "engine/cpu/isa/real_loops.h"
#include "engine/cpu/isa/real_math.h"

namespace tapescope::engine::cpu::TAPESCOPE_ISA {
namespace {

template <class T>
struct Atan2 {
    T operator()(T y, T x) const { return atan2Of(y, x); }
};
template <class T>
struct Hypot {
    /// The larger side taken out, so that its square cannot overflow.
    T operator()(T a, T b) const {
        constexpr T kInfinity = static_cast<T>(__builtin_inf());
        const T x = absOf(a);
        const T y = absOf(b);
        const T high = x < y ? y : x;
        const T low = x < y ? x : y;
        const T ratio = low / (high > T(0) ? high : T(1));
        const T r = high * sqrtOf(T(1) + ratio * ratio);
        return x == kInfinity || y == kInfinity ? kInfinity : (x != x || y != y ? x + y : r);
    }
};
template <class T>
struct LogAddExp {
    T operator()(T a, T b) const {
        const T high = a < b ? b : a;
        // Equal infinities have no difference.
        const T gap = a == b ? T(0) : absOf(a - b);
        const T r = high + log1pNonNegative(expOf(-gap));
        return a != a || b != b ? a + b : r;
    }
};
template <class T>
struct GeluTanhBackward {
    T operator()(T g, T x) const {
        constexpr T kBeta = T(0.79788456080286535588);
        const T x2 = x * x;
        const T t = tanhOf(kBeta * x * (T(1) + T(0.044715) * x2));
        const T slope = kBeta * (T(1) + T(3 * 0.044715) * x2);
        return g * T(0.5) * ((T(1) + t) + x * (T(1) - t * t) * slope);
    }
};
template <class T>
struct HardswishBackward {
    T operator()(T g, T x) const {
        const T slope = x * T(1.0 / 3) + T(0.5);
        return x <= T(-3) ? T(0) : (x >= T(3) ? g : g * slope);
    }
};
template <class T>
struct MishBackward {
    T operator()(T g, T x) const {
        const T t = tanhSoftplus(x);
        return g * (t + x * sigmoidOf(x) * (T(1) - t * t));
    }
};

template <class F, class T>
void loop(std::int64_t n, void* out, std::int64_t outStride, const void* first,
          std::int64_t aStride, const void* second, std::int64_t bStride, const LoopParams&) {
    const F f;
    auto* y = static_cast<T*>(out);
    const auto* a = static_cast<const T*>(first);
    const auto* b = static_cast<const T*>(second);
    if (outStride == 1 && aStride == 1 && bStride == 1) {
#pragma GCC ivdep
        for (std::int64_t i = 0; i < n; ++i) y[i] = f(a[i], b[i]);
        return;
    }
    for (std::int64_t i = 0; i < n; ++i) y[i * outStride] = f(a[i * aStride], b[i * bStride]);
}

template <template <class> class F>
constexpr void add(RealBinaryTable& t, RealBinary op) {
    t.f32[static_cast<int>(op)] = loop<F<float>, float>;
    t.f64[static_cast<int>(op)] = loop<F<double>, double>;
}

template <template <class> class F>
constexpr void addChecked(RealBinaryTable& t, RealBinary op) {
    t.f32[static_cast<int>(op)] = checkedBinary<F<float>, float>;
    t.f64[static_cast<int>(op)] = checkedBinary<F<double>, double>;
}

constexpr RealBinaryTable makeTable() {
    RealBinaryTable t{};
    add<Atan2>(t, RealBinary::Atan2);
    add<Hypot>(t, RealBinary::Hypot);
    add<LogAddExp>(t, RealBinary::LogAddExp);
    addChecked<Fmod>(t, RealBinary::Fmod);
    addChecked<Remainder>(t, RealBinary::Remainder);
    addChecked<FloorDivide>(t, RealBinary::FloorDivide);
    add<GeluTanhBackward>(t, RealBinary::GeluTanhBackward);
    add<HardswishBackward>(t, RealBinary::HardswishBackward);
    add<MishBackward>(t, RealBinary::MishBackward);
    return t;
}

}  // namespace

extern constexpr RealBinaryTable kRealBinaryTable = makeTable();

}  // namespace tapescope::engine::cpu::TAPESCOPE_ISA
