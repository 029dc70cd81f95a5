// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/isa/loops.h"
#include "engine/cpu/isa/math.h"

namespace tapescope::engine::cpu::TAPESCOPE_ISA {
namespace {

using Int = std::int64_t;

template <class T>
struct AccumulatorOf {
    using Type = Int;
};
template <>
struct AccumulatorOf<float> {
    using Type = double;
};
template <>
struct AccumulatorOf<double> {
    using Type = double;
};
template <class T>
using Acc = typename AccumulatorOf<T>::Type;

inline Int wrapAdd(Int a, Int b) {
    return static_cast<Int>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
inline double wrapAdd(double a, double b) { return a + b; }
inline Int wrapMul(Int a, Int b) {
    return static_cast<Int>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
inline double wrapMul(double a, double b) { return a * b; }

// take: one element into an accumulator. p: the reduction's parameter for this output.
template <class T>
struct Sum {
    static Acc<T> take(Acc<T> acc, T x, Acc<T>) { return wrapAdd(acc, static_cast<Acc<T>>(x)); }
};
template <class T>
struct Prod {
    static Acc<T> take(Acc<T> acc, T x, Acc<T>) { return wrapMul(acc, static_cast<Acc<T>>(x)); }
};
template <class T>
struct Max {  // NaN wins and stays
    static Acc<T> take(Acc<T> acc, T x, Acc<T>) {
        const auto v = static_cast<Acc<T>>(x);
        return v > acc || v != v ? v : acc;
    }
};
template <class T>
struct Min {
    static Acc<T> take(Acc<T> acc, T x, Acc<T>) {
        const auto v = static_cast<Acc<T>>(x);
        return v < acc || v != v ? v : acc;
    }
};
template <class T>
struct Any {
    static Acc<T> take(Acc<T> acc, T x, Acc<T>) { return x != T(0) ? Acc<T>(1) : acc; }
};
template <class T>
struct All {
    static Acc<T> take(Acc<T> acc, T x, Acc<T>) { return x != T(0) ? acc : Acc<T>(0); }
};
template <class T>
struct Squares {
    static double take(double acc, T x, double) {
        return acc + static_cast<double>(x) * static_cast<double>(x);
    }
};
template <class T>
struct SquaredDiff {
    static double take(double acc, T x, double p) {
        const double d = static_cast<double>(x) - p;
        return acc + d * d;
    }
};
template <class T>
struct ExpDiff {
    static double take(double acc, T x, double p) {
        return acc + static_cast<double>(expOf(x - static_cast<T>(p)));
    }
};

template <template <class> class F, class T>
void row(Int n, const void* data, Int stride, void* out, const void* param) {
    const auto* x = static_cast<const T*>(data);
    auto& acc = *static_cast<Acc<T>*>(out);
    const Acc<T> p = param ? *static_cast<const Acc<T>*>(param) : Acc<T>(0);
    Acc<T> local = acc;
    for (Int i = 0; i < n; ++i) local = F<T>::take(local, x[i * stride], p);
    acc = local;
}

template <template <class> class F, class T>
void columns(Int rows, Int rowStride, Int count, const void* data, void* out, const void* params) {
    auto* acc = static_cast<Acc<T>*>(out);
    const auto* p = static_cast<const Acc<T>*>(params);
    for (Int r = 0; r < rows; ++r) {
        const T* x = static_cast<const T*>(data) + r * rowStride;
        if (p) {
#pragma GCC ivdep
            for (Int c = 0; c < count; ++c) acc[c] = F<T>::take(acc[c], x[c], p[c]);
        } else {
#pragma GCC ivdep
            for (Int c = 0; c < count; ++c) acc[c] = F<T>::take(acc[c], x[c], Acc<T>(0));
        }
    }
}

// Unit-stride rows. Four accumulators side by side hide the latency of the addition; omp simd lets
// each be a vector.

/// Sums of float: in float within blocks this short (16 or 32 additions a lane), in double across
/// them.
constexpr Int kSumBlock = 1024;

void sumRow(Int n, const void* data, Int stride, void* out, const void* param) {
    if (stride != 1 || n < 16) return row<Sum, float>(n, data, stride, out, param);
    const auto* x = static_cast<const float*>(data);
    double total = 0;
    Int at = 0;
    for (; at + kSumBlock <= n; at += kSumBlock) {
        constexpr Int kQuarter = kSumBlock / 4;
        const float* b = x + at;
        float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
        for (Int i = 0; i < kQuarter; ++i) {
            s0 += b[i];
            s1 += b[i + kQuarter];
            s2 += b[i + 2 * kQuarter];
            s3 += b[i + 3 * kQuarter];
        }
        total += static_cast<double>((s0 + s1) + (s2 + s3));
    }
    float rest = 0;
#pragma omp simd reduction(+ : rest)
    for (Int i = at; i < n; ++i) rest += x[i];
    *static_cast<double*>(out) += total + static_cast<double>(rest);
}

/// Any sum in T-typed terms accumulated in Acc<T>.
template <template <class> class F, class T>
void addingRow(Int n, const void* data, Int stride, void* out, const void* param) {
    if (stride != 1 || n < 16) return row<F, T>(n, data, stride, out, param);
    const auto* x = static_cast<const T*>(data);
    const Acc<T> p = param ? *static_cast<const Acc<T>*>(param) : Acc<T>(0);
    const Int quarter = n / 4;
    Acc<T> s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
    for (Int i = 0; i < quarter; ++i) {
        s0 = F<T>::take(s0, x[i], p);
        s1 = F<T>::take(s1, x[i + quarter], p);
        s2 = F<T>::take(s2, x[i + 2 * quarter], p);
        s3 = F<T>::take(s3, x[i + 3 * quarter], p);
    }
    Acc<T> total = wrapAdd(wrapAdd(s0, s1), wrapAdd(s2, s3));
    for (Int i = 4 * quarter; i < n; ++i) total = F<T>::take(total, x[i], p);
    auto& acc = *static_cast<Acc<T>*>(out);
    acc = wrapAdd(acc, total);
}

template <class T>
constexpr bool kIsReal = T(0.5) != T(0);

/// Products of four streams of lanes, in Acc<T>.
template <class T>
void prodRow(Int n, const void* data, Int stride, void* out, const void* param) {
    if (stride != 1 || n < 16) return row<Prod, T>(n, data, stride, out, param);
    const auto* x = static_cast<const T*>(data);
    const Int quarter = n / 4;
    Acc<T> p0 = 1, p1 = 1, p2 = 1, p3 = 1;
#pragma omp simd reduction(* : p0, p1, p2, p3)
    for (Int i = 0; i < quarter; ++i) {
        p0 *= static_cast<Acc<T>>(x[i]);
        p1 *= static_cast<Acc<T>>(x[i + quarter]);
        p2 *= static_cast<Acc<T>>(x[i + 2 * quarter]);
        p3 *= static_cast<Acc<T>>(x[i + 3 * quarter]);
    }
    Acc<T> total = (p0 * p1) * (p2 * p3);
    for (Int i = 4 * quarter; i < n; ++i) total *= static_cast<Acc<T>>(x[i]);
    *static_cast<Acc<T>*>(out) *= total;
}

/// The larger of two keys belongs to the larger element, or for kMax = false to the smaller one.
template <bool kMax, class T>
T keyOf(T x) {
    if constexpr (kMax) return x;
    if constexpr (kIsReal<T>)
        return -x;
    else
        return ~x;
}
/// Extremes of four streams, as sums: one alone leaves half of the memory's bandwidth. Whether
/// there is a NaN is asked beside it, so that a step is one comparison.
template <bool kMax, class T>
void extremeRow(Int n, const void* data, Int stride, void* out, const void* param) {
    if (stride != 1 || n < 64)
        return kMax ? row<Max, T>(n, data, stride, out, param)
                    : row<Min, T>(n, data, stride, out, param);
    const auto* x = static_cast<const T*>(data);
    T m0 = keyOf<kMax>(x[0]), m1 = m0, m2 = m0, m3 = m0;
    bool nan = false;
    Int at = 0;
    while (n - at >= 64) {
        const Int quarter = (n - at < kSumBlock ? n - at : kSumBlock) / 64 * 16;
        const T* b0 = x + at;
        const T *b1 = b0 + quarter, *b2 = b1 + quarter, *b3 = b2 + quarter;
        int unordered = 0;
#pragma omp simd reduction(max : m0, m1, m2, m3) reduction(| : unordered)
        for (Int i = 0; i < quarter; ++i) {
            const T k0 = keyOf<kMax>(b0[i]), k1 = keyOf<kMax>(b1[i]);
            const T k2 = keyOf<kMax>(b2[i]), k3 = keyOf<kMax>(b3[i]);
            m0 = k0 > m0 ? k0 : m0;
            m1 = k1 > m1 ? k1 : m1;
            m2 = k2 > m2 ? k2 : m2;
            m3 = k3 > m3 ? k3 : m3;
            unordered |= static_cast<int>(k0 != k0) | static_cast<int>(k1 != k1) |
                         static_cast<int>(k2 != k2) | static_cast<int>(k3 != k3);
        }
        nan = nan || unordered != 0;
        at += 4 * quarter;
    }
    auto& acc = *static_cast<Acc<T>*>(out);
    const auto take = [&acc](T v) {
        acc = kMax ? Max<T>::take(acc, v, Acc<T>(0)) : Min<T>::take(acc, v, Acc<T>(0));
    };
    if constexpr (kIsReal<T>)
        if (nan) return take(static_cast<T>(__builtin_nan("")));
    const T best[] = {m0, m1, m2, m3};
    for (const T m : best) take(keyOf<kMax>(m));
    for (; at < n; ++at) take(x[at]);
}

template <template <class> class F>
constexpr void allTypes(ReduceTable& t, ReduceOp op) {
    auto& rows = t.rows[static_cast<int>(op)];
    rows[0] = row<F, bool>;
    rows[1] = row<F, Int>;
    rows[2] = row<F, float>;
    rows[3] = row<F, double>;
    auto& cols = t.columns[static_cast<int>(op)];
    cols[0] = columns<F, bool>;
    cols[1] = columns<F, Int>;
    cols[2] = columns<F, float>;
    cols[3] = columns<F, double>;
}
template <template <class> class F>
constexpr void floats(ReduceTable& t, ReduceOp op) {
    t.rows[static_cast<int>(op)][2] = addingRow<F, float>;
    t.rows[static_cast<int>(op)][3] = addingRow<F, double>;
    t.columns[static_cast<int>(op)][2] = columns<F, float>;
    t.columns[static_cast<int>(op)][3] = columns<F, double>;
}

constexpr ReduceTable makeTable() {
    ReduceTable t{};
    allTypes<Sum>(t, ReduceOp::Sum);
    allTypes<Prod>(t, ReduceOp::Prod);
    allTypes<Max>(t, ReduceOp::Max);
    allTypes<Min>(t, ReduceOp::Min);
    allTypes<Any>(t, ReduceOp::Any);
    allTypes<All>(t, ReduceOp::All);
    floats<Squares>(t, ReduceOp::Squares);
    floats<SquaredDiff>(t, ReduceOp::SquaredDiff);
    floats<ExpDiff>(t, ReduceOp::ExpDiff);
    auto& sum = t.rows[static_cast<int>(ReduceOp::Sum)];
    sum[1] = addingRow<Sum, Int>;
    sum[2] = sumRow;
    sum[3] = addingRow<Sum, double>;
    auto& prod = t.rows[static_cast<int>(ReduceOp::Prod)];
    prod[2] = prodRow<float>;
    prod[3] = prodRow<double>;
    auto& max = t.rows[static_cast<int>(ReduceOp::Max)];
    max[1] = extremeRow<true, Int>;
    max[2] = extremeRow<true, float>;
    max[3] = extremeRow<true, double>;
    auto& min = t.rows[static_cast<int>(ReduceOp::Min)];
    min[1] = extremeRow<false, Int>;
    min[2] = extremeRow<false, float>;
    min[3] = extremeRow<false, double>;
    return t;
}

}  // namespace

extern constexpr ReduceTable kReduceTable = makeTable();

}  // namespace tapescope::engine::cpu::TAPESCOPE_ISA
