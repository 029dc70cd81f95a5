// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/isa/math.h"
#include "engine/cpu/isa/nn_loops.h"

namespace tapescope::engine::cpu::TAPESCOPE_ISA {
namespace {

using Int = std::int64_t;

/// Sums of floats run in float within blocks this short, in double across them.
constexpr Int kBlock = 256;

/// The sum of term(i) over [0, n).
template <class T, class Term>
inline double blockedSum(Int n, const Term& term) {
    double total = 0;
    for (Int at = 0; at < n; at += kBlock) {
        const Int end = at + kBlock < n ? at + kBlock : n;
        T part = 0;
#pragma omp simd reduction(+ : part)
        for (Int i = at; i < end; ++i) part += term(i);
        total += static_cast<double>(part);
    }
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
    const T scale = static_cast<T>(1.0 / blockedSum<T>(n, [out](Int i) { return out[i]; }));
#pragma GCC ivdep
    for (Int i = 0; i < n; ++i) out[i] *= scale;
}

template <class T>
void logSoftmaxRow(Int n, const T* x, T* out) {
    const T top = maxOf(n, x);
#pragma GCC ivdep
    for (Int i = 0; i < n; ++i) out[i] = expOf(x[i] - top);
    const double sum = blockedSum<T>(n, [out](Int i) { return out[i]; });
    const T shift = static_cast<T>(__builtin_log(sum));
#pragma GCC ivdep
    for (Int i = 0; i < n; ++i) out[i] = (x[i] - top) - shift;
}

template <class T>
void softmaxBackwardRow(Int n, const T* g, const T* y, T* out) {
    const T dot = static_cast<T>(blockedSum<T>(n, [g, y](Int i) { return g[i] * y[i]; }));
#pragma GCC ivdep
    for (Int i = 0; i < n; ++i) out[i] = y[i] * (g[i] - dot);
}

template <class T>
void logSoftmaxBackwardRow(Int n, const T* g, const T* y, T* out) {
    const T sum = static_cast<T>(blockedSum<T>(n, [g](Int i) { return g[i]; }));
#pragma GCC ivdep
    for (Int i = 0; i < n; ++i) out[i] = g[i] - expOf(y[i]) * sum;
}

template <class T>
double sumOf(Int n, const T* x) {
    return blockedSum<T>(n, [x](Int i) { return x[i]; });
}

template <class T>
double squaredDiff(Int n, const T* x, double mean) {
    const T center = static_cast<T>(mean);
    return blockedSum<T>(n, [x, center](Int i) { return (x[i] - center) * (x[i] - center); });
}

template <class T>
void sumsAbout(Int n, const T* g, const T* x, T mean, double* sumG, double* sumGX) {
    for (Int at = 0; at < n; at += kBlock) {
        const Int end = at + kBlock < n ? at + kBlock : n;
        T partG = 0;
        T partGX = 0;
#pragma omp simd reduction(+ : partG, partGX)
        for (Int i = at; i < end; ++i) {
            partG += g[i];
            partGX += g[i] * (x[i] - mean);
        }
        *sumG += static_cast<double>(partG);
        *sumGX += static_cast<double>(partGX);
    }
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

template <class T>
void maxTap(Int n, const T* x, Int step, std::int32_t position, T* best, std::int32_t* at) {
    const auto stride = static_cast<std::int32_t>(step);
#pragma GCC ivdep
    for (Int i = 0; i < n; ++i) {
        const T value = x[i * step];
        const bool takes = value > best[i] || value != value;
        best[i] = takes ? value : best[i];
        at[i] = takes ? position + static_cast<std::int32_t>(i) * stride : at[i];
    }
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
    static T of(T x, T y) { return (x - y) * (x - y); }
};
template <class T>
struct Absolute {
    static T of(T x, T y) { return absOf(x - y); }
};
template <class T>
struct Bce {
    static T of(T x, T y) {
        return (x > T(0) || x != x ? x : T(0)) - x * y + log1pNonNegative(expOf(-absOf(x)));
    }
};

template <template <class> class Loss, class T>
double lossSum(Int n, const T* x, const T* y) {
    return blockedSum<T>(n, [x, y](Int i) { return Loss<T>::of(x[i], y[i]); });
}
template <template <class> class Loss, class T>
void lossTerms(Int n, const T* x, const T* y, T* out) {
#pragma GCC ivdep
    for (Int i = 0; i < n; ++i) out[i] = Loss<T>::of(x[i], y[i]);
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
            lossSum<Squared, T>,
            lossSum<Absolute, T>,
            lossSum<Bce, T>,
            lossTerms<Squared, T>,
            lossTerms<Absolute, T>,
            lossTerms<Bce, T>};
}

}  // namespace

extern constexpr NnTable kNnTable{makeLoops<float>(), makeLoops<double>()};

}  // namespace tapescope::engine::cpu::TAPESCOPE_ISA
