// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/isa/math.h"
#include "engine/cpu/isa/nn_loops.h"
#include "engine/cpu/isa/philox.h"

namespace tapescope::engine::cpu::TAPESCOPE_ISA {
namespace {

using Int = std::int64_t;

/// Sums of floats run in float within whole blocks of this length, in double across them and in
/// what is left.
constexpr Int kBlock = 512;

// Terms of sums: of an element of each of two arrays and a constant.
template <class T>
struct First {
    static T of(T x, T, T) { return x; }
};
template <class T>
struct Product {
    static T of(T x, T y, T) { return x * y; }
};
template <class T>
struct SquareAbout {
    static T of(T x, T, T p) { return (x - p) * (x - p); }
};
template <class T>
struct ProductAbout {
    static T of(T x, T y, T p) { return x * (y - p); }
};

/// The sum of Term::of(x[i], y[i], p). Four accumulators side by side hide the latency of the
/// addition.
template <template <class> class Term, class T>
inline double blockedSum(Int n, const T* x, const T* y, T p) {
    double total = 0;
    Int at = 0;
    for (; at + kBlock <= n; at += kBlock) {
        constexpr Int kQuarter = kBlock / 4;
        const T* u = x + at;
        const T* v = y + at;
        T s0 = 0;
        T s1 = 0;
        T s2 = 0;
        T s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
        for (Int i = 0; i < kQuarter; ++i) {
            s0 += Term<T>::of(u[i], v[i], p);
            s1 += Term<T>::of(u[i + kQuarter], v[i + kQuarter], p);
            s2 += Term<T>::of(u[i + 2 * kQuarter], v[i + 2 * kQuarter], p);
            s3 += Term<T>::of(u[i + 3 * kQuarter], v[i + 3 * kQuarter], p);
        }
        total += static_cast<double>((s0 + s1) + (s2 + s3));
    }
#pragma omp simd reduction(+ : total)
    for (Int i = at; i < n; ++i) total += static_cast<double>(Term<T>::of(x[i], y[i], p));
    return total;
}

template <class T>
inline T maxOf(Int n, const T* x) {
    T best = x[0];
#pragma omp simd reduction(max : best)
    for (Int i = 1; i < n; ++i) best = x[i] > best ? x[i] : best;
    return best;
}

// A NaN that the maximum passes over still reaches every element through the sum.
template <class T>
void softmaxRow(Int n, const T* x, T* out) {
    const T top = maxOf(n, x);
#pragma GCC ivdep
    for (Int i = 0; i < n; ++i) out[i] = expOf(x[i] - top);
    const T scale = static_cast<T>(1.0 / blockedSum<First>(n, out, out, T(0)));
#pragma GCC ivdep
    for (Int i = 0; i < n; ++i) out[i] *= scale;
}

template <class T>
void logSoftmaxRow(Int n, const T* x, T* out) {
    const T top = maxOf(n, x);
#pragma GCC ivdep
    for (Int i = 0; i < n; ++i) out[i] = expOf(x[i] - top);
    const double sum = blockedSum<First>(n, out, out, T(0));
    const T shift = static_cast<T>(__builtin_log(sum));
#pragma GCC ivdep
    for (Int i = 0; i < n; ++i) out[i] = (x[i] - top) - shift;
}

template <class T>
void softmaxBackwardRow(Int n, const T* g, const T* y, T* out) {
    const T dot = static_cast<T>(blockedSum<Product>(n, g, y, T(0)));
#pragma GCC ivdep
    for (Int i = 0; i < n; ++i) out[i] = y[i] * (g[i] - dot);
}

template <class T>
void logSoftmaxBackwardRow(Int n, const T* g, const T* y, T* out) {
    const T sum = static_cast<T>(blockedSum<First>(n, g, g, T(0)));
#pragma GCC ivdep
    for (Int i = 0; i < n; ++i) out[i] = g[i] - expOf(y[i]) * sum;
}

template <class T>
double sumOf(Int n, const T* x) {
    return blockedSum<First>(n, x, x, T(0));
}

template <class T>
double squaredDiff(Int n, const T* x, double mean) {
    return blockedSum<SquareAbout>(n, x, x, static_cast<T>(mean));
}

template <class T>
void sumsAbout(Int n, const T* g, const T* x, T mean, double* sumG, double* sumGX) {
    *sumG += blockedSum<First>(n, g, g, T(0));
    *sumGX += blockedSum<ProductAbout>(n, g, x, mean);
}

template <class T>
void affine(Int n, const T* x, T scale, T shift, T* out) {
#pragma GCC ivdep
    for (Int i = 0; i < n; ++i) out[i] = x[i] * scale + shift;
}

template <class T>
void combine(Int n, const T* g, const T* x, T a, T b, T c, T* out) {
#pragma GCC ivdep
    for (Int i = 0; i < n; ++i) out[i] = a * g[i] + (b * x[i] + c);
}

template <class T>
void normRow(Int n, const T* x, T mean, T scale, const T* w, const T* b, T* out) {
    if (w && b) {
#pragma GCC ivdep
        for (Int i = 0; i < n; ++i) out[i] = (x[i] - mean) * scale * w[i] + b[i];
    } else if (w) {
#pragma GCC ivdep
        for (Int i = 0; i < n; ++i) out[i] = (x[i] - mean) * scale * w[i];
    } else if (b) {
#pragma GCC ivdep
        for (Int i = 0; i < n; ++i) out[i] = (x[i] - mean) * scale + b[i];
    } else {
#pragma GCC ivdep
        for (Int i = 0; i < n; ++i) out[i] = (x[i] - mean) * scale;
    }
}

template <class T>
void normBackwardRow(Int n, const T* g, const T* x, T mean, T scale, const T* w, T* out) {
    double sumG = 0;
    double sumGX = 0;
    if (w) {
        // out holds g * w in between.
#pragma GCC ivdep
        for (Int i = 0; i < n; ++i) out[i] = g[i] * w[i];
        sumsAbout(n, out, x, mean, &sumG, &sumGX);
    } else {
        sumsAbout(n, g, x, mean, &sumG, &sumGX);
    }
    const double s = static_cast<double>(scale);
    const T meanG = static_cast<T>(sumG / static_cast<double>(n));
    const T slope = static_cast<T>(sumGX * s * s / static_cast<double>(n));
    const T* gw = w ? out : g;
#pragma GCC ivdep
    for (Int i = 0; i < n; ++i) out[i] = scale * (gw[i] - meanG - (x[i] - mean) * slope);
}

template <class T>
void normParamsRow(Int n, const T* g, const T* x, T mean, T scale, T* dw, T* db) {
    if (dw) {
#pragma GCC ivdep
        for (Int i = 0; i < n; ++i) dw[i] += g[i] * ((x[i] - mean) * scale);
    }
    if (db) {
#pragma GCC ivdep
        for (Int i = 0; i < n; ++i) db[i] += g[i];
    }
}

// Selections by mask: which element is the largest cannot be predicted, and the compiler would
// branch on it.
inline std::int32_t pick(bool first, std::int32_t x, std::int32_t y) {
    const auto mask = -static_cast<std::int32_t>(first);
    return (x & mask) | (y & ~mask);
}
inline Int pick(bool first, Int x, Int y) {
    const auto mask = -static_cast<Int>(first);
    return (x & mask) | (y & ~mask);
}
inline float pick(bool first, float x, float y) {
    return __builtin_bit_cast(float, pick(first, __builtin_bit_cast(std::int32_t, x),
                                          __builtin_bit_cast(std::int32_t, y)));
}
inline double pick(bool first, double x, double y) {
    return __builtin_bit_cast(double,
                              pick(first, __builtin_bit_cast(Int, x), __builtin_bit_cast(Int, y)));
}
/// Bitwise or: both comparisons are made, without a branch between them.
template <class T>
inline bool beats(T value, T best) {
    return static_cast<bool>(static_cast<int>(value > best) | static_cast<int>(value != value));
}

template <class T>
void maxTap(Int n, const T* x, Int step, std::int32_t position, T* best, std::int32_t* at) {
    const auto stride = static_cast<std::int32_t>(step);
#pragma GCC ivdep
    for (Int i = 0; i < n; ++i) {
        const T value = x[i * step];
        const bool takes = beats(value, best[i]);
        best[i] = pick(takes, value, best[i]);
        at[i] = pick(takes, position + static_cast<std::int32_t>(i) * stride, at[i]);
    }
}

template <class T>
void maskAndScale(Int n, const T* x, const bool* keep, T scale, T* out) {
#pragma GCC ivdep
    for (Int i = 0; i < n; ++i) out[i] = pick(keep[i], x[i] * scale, T(0));
}

template <class T>
void addTap(Int n, const T* x, Int step, T* sum) {
    if (step == 1) {
#pragma GCC ivdep
        for (Int i = 0; i < n; ++i) sum[i] += x[i];
        return;
    }
#pragma GCC ivdep
    for (Int i = 0; i < n; ++i) sum[i] += x[i * step];
}

template <class T>
struct Squared {
    static T of(T x, T y, T) { return (x - y) * (x - y); }
};
template <class T>
struct Absolute {
    static T of(T x, T y, T) { return absOf(x - y); }
};
template <class T>
struct Bce {
    static T of(T x, T y, T) {
        return (x > T(0) || x != x ? x : T(0)) - x * y + log1pNonNegative(expOf(-absOf(x)));
    }
};

template <template <class> class Loss, class T>
double lossSum(Int n, const T* x, const T* y) {
    return blockedSum<Loss>(n, x, y, T(0));
}
template <template <class> class Loss, class T>
void lossTerms(Int n, const T* x, const T* y, T* out) {
#pragma GCC ivdep
    for (Int i = 0; i < n; ++i) out[i] = Loss<T>::of(x[i], y[i], T(0));
}

void philoxAtLeast(Int n, std::uint64_t seed, std::uint64_t counter, std::uint32_t limit,
                   bool* keep) {
    std::uint32_t word[4][kCounters];
    for (Int at = 0; at < n; at += 4 * kCounters) {
        philoxBlocks(seed, counter + static_cast<std::uint64_t>(at / 4), word);
        const Int count = n - at < 4 * kCounters ? n - at : 4 * kCounters;
        bool* to = keep + at;
        const Int whole = count / 4;
        for (Int i = 0; i < whole; ++i) {
            to[4 * i] = word[0][i] >= limit;
            to[4 * i + 1] = word[1][i] >= limit;
            to[4 * i + 2] = word[2][i] >= limit;
            to[4 * i + 3] = word[3][i] >= limit;
        }
        for (Int i = 4 * whole; i < count; ++i) to[i] = word[i % 4][whole] >= limit;
    }
}

template <class T>
constexpr NnLoops<T> makeLoops() {
    return {softmaxRow<T>,
            logSoftmaxRow<T>,
            softmaxBackwardRow<T>,
            logSoftmaxBackwardRow<T>,
            sumOf<T>,
            squaredDiff<T>,
            sumsAbout<T>,
            affine<T>,
            combine<T>,
            normRow<T>,
            normBackwardRow<T>,
            normParamsRow<T>,
            maxTap<T>,
            addTap<T>,
            maskAndScale<T>,
            lossSum<Squared, T>,
            lossSum<Absolute, T>,
            lossSum<Bce, T>,
            lossTerms<Squared, T>,
            lossTerms<Absolute, T>,
            lossTerms<Bce, T>};
}

}  // namespace

extern constexpr NnTable kNnTable{makeLoops<float>(), makeLoops<double>(), philoxAtLeast};

}  // namespace tapescope::engine::cpu::TAPESCOPE_ISA
