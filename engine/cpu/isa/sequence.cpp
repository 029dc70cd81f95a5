// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/isa/math.h"
#include "engine/cpu/isa/sequence_loops.h"

namespace tapescope::engine::cpu::TAPESCOPE_ISA {
namespace {

using Int = std::int64_t;

template <class T>
inline T minusInfinity() {
    return -static_cast<T>(__builtin_inff());
}

// A NaN that the maximum passes over still reaches every element through the sum.
template <class T>
T scaledSoftmaxRow(Int n, T* x, T scale, const T* bias) {
    if (bias) {
#pragma GCC ivdep
        for (Int i = 0; i < n; ++i) x[i] = x[i] * scale + bias[i];
    } else {
#pragma GCC ivdep
        for (Int i = 0; i < n; ++i) x[i] *= scale;
    }
    T top = minusInfinity<T>();
#pragma omp simd reduction(max : top)
    for (Int i = 0; i < n; ++i) top = x[i] > top ? x[i] : top;
    bool nan = false;
    if (top == minusInfinity<T>()) {
        for (Int i = 0; i < n; ++i) nan = nan || x[i] != x[i];
        if (!nan) {
            for (Int i = 0; i < n; ++i) x[i] = T(0);
            return top;
        }
        top = T(0);
    }
#pragma GCC ivdep
    for (Int i = 0; i < n; ++i) x[i] = expOf(x[i] - top);
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (Int i = 0; i < n; ++i) sum += static_cast<double>(x[i]);
    const T factor = static_cast<T>(1.0 / sum);
#pragma GCC ivdep
    for (Int i = 0; i < n; ++i) x[i] *= factor;
    return top + static_cast<T>(__builtin_log(sum));
}

template <class T>
void scaledExpRow(Int n, T* x, T scale, const T* bias, T lse) {
    if (lse == minusInfinity<T>()) {
        for (Int i = 0; i < n; ++i) x[i] = T(0);
        return;
    }
    if (bias) {
#pragma GCC ivdep
        for (Int i = 0; i < n; ++i) x[i] = expOf(x[i] * scale + bias[i] - lse);
    } else {
#pragma GCC ivdep
        for (Int i = 0; i < n; ++i) x[i] = expOf(x[i] * scale - lse);
    }
}

template <class T>
void attentionGradRow(Int n, const T* p, T* dp, T delta, T scale) {
#pragma GCC ivdep
    for (Int i = 0; i < n; ++i) dp[i] = p[i] * (dp[i] - delta) * scale;
}

template <class T>
T dotRow(Int n, const T* a, const T* b) {
    T sum = 0;
#pragma omp simd reduction(+ : sum)
    for (Int i = 0; i < n; ++i) sum += a[i] * b[i];
    return sum;
}

template <class T>
void rnnRow(Int n, bool relu, T* x) {
    if (relu) {
#pragma GCC ivdep
        for (Int i = 0; i < n; ++i) x[i] = x[i] < T(0) ? T(0) : x[i];
    } else {
#pragma GCC ivdep
        for (Int i = 0; i < n; ++i) x[i] = tanhOf(x[i]);
    }
}

template <class T>
void rnnBackwardRow(Int n, bool relu, const T* h, const T* dh, T* dx) {
    if (relu) {
#pragma GCC ivdep
        for (Int i = 0; i < n; ++i) dx[i] = h[i] > T(0) ? dh[i] : T(0);
    } else {
#pragma GCC ivdep
        for (Int i = 0; i < n; ++i) dx[i] = dh[i] * (T(1) - h[i] * h[i]);
    }
}

template <class T>
void lstmRow(Int n, T* gates, const T* previous, T* c, T* h) {
    T* const in = gates;
    T* const forget = gates + n;
    T* const cell = gates + 2 * n;
    T* const out = gates + 3 * n;
#pragma GCC ivdep
    for (Int k = 0; k < n; ++k) {
        const T i = sigmoidOf(in[k]);
        const T f = sigmoidOf(forget[k]);
        const T g = tanhOf(cell[k]);
        const T o = sigmoidOf(out[k]);
        in[k] = i;
        forget[k] = f;
        cell[k] = g;
        out[k] = o;
        const T next = f * previous[k] + i * g;
        c[k] = next;
        h[k] = o * tanhOf(next);
    }
}

template <class T>
void lstmBackwardRow(Int n, const T* gates, const T* previous, const T* c, const T* dh, T* dc,
                     T* dgates) {
#pragma GCC ivdep
    for (Int k = 0; k < n; ++k) {
        const T i = gates[k];
        const T f = gates[n + k];
        const T g = gates[2 * n + k];
        const T o = gates[3 * n + k];
        const T bent = tanhOf(c[k]);
        const T d = dc[k] + dh[k] * o * (T(1) - bent * bent);
        dgates[k] = d * g * i * (T(1) - i);
        dgates[n + k] = d * previous[k] * f * (T(1) - f);
        dgates[2 * n + k] = d * i * (T(1) - g * g);
        dgates[3 * n + k] = dh[k] * bent * o * (T(1) - o);
        dc[k] = d * f;
    }
}

template <class T>
void gruRow(Int n, const T* x, const T* hidden, const T* previous, T* kept, T* h) {
#pragma GCC ivdep
    for (Int k = 0; k < n; ++k) {
        const T r = sigmoidOf(x[k] + hidden[k]);
        const T z = sigmoidOf(x[n + k] + hidden[n + k]);
        const T share = hidden[2 * n + k];
        const T fresh = tanhOf(x[2 * n + k] + r * share);
        kept[k] = r;
        kept[n + k] = z;
        kept[2 * n + k] = fresh;
        kept[3 * n + k] = share;
        h[k] = (T(1) - z) * fresh + z * previous[k];
    }
}

template <class T>
void gruBackwardRow(Int n, const T* kept, const T* previous, T* dh, T* dx, T* dhidden) {
#pragma GCC ivdep
    for (Int k = 0; k < n; ++k) {
        const T r = kept[k];
        const T z = kept[n + k];
        const T fresh = kept[2 * n + k];
        const T share = kept[3 * n + k];
        const T d = dh[k];
        const T dFresh = d * (T(1) - z) * (T(1) - fresh * fresh);
        const T dz = d * (previous[k] - fresh) * z * (T(1) - z);
        const T dr = dFresh * share * r * (T(1) - r);
        dx[k] = dr;
        dx[n + k] = dz;
        dx[2 * n + k] = dFresh;
        dhidden[k] = dr;
        dhidden[n + k] = dz;
        dhidden[2 * n + k] = dFresh * r;
        dh[k] = d * z;
    }
}

template <class T>
constexpr SequenceLoops<T> makeLoops() {
    return {scaledSoftmaxRow<T>, scaledExpRow<T>,   attentionGradRow<T>, dotRow<T>,
            rnnRow<T>,           rnnBackwardRow<T>, lstmRow<T>,          lstmBackwardRow<T>,
            gruRow<T>,           gruBackwardRow<T>};
}

}  // namespace

extern constexpr SequenceTable kSequenceTable{makeLoops<float>(), makeLoops<double>()};

}  // namespace tapescope::engine::cpu::TAPESCOPE_ISA
