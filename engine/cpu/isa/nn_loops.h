// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Inner loops of softmax, normalisation, pooling and losses; see loops.h for the rules of this
// folder.
namespace tapescope::engine::cpu {

/// Every array is dense unless a step is given; n is its length.
template <class T>
struct NnLoops {
    using Int = std::int64_t;
    void (*softmaxRow)(Int n, const T* x, T* out);
    void (*logSoftmaxRow)(Int n, const T* x, T* out);
    /// out = y * (g - sum(g * y))
    void (*softmaxBackwardRow)(Int n, const T* g, const T* y, T* out);
    /// out = g - exp(y) * sum(g)
    void (*logSoftmaxBackwardRow)(Int n, const T* g, const T* y, T* out);

    double (*sum)(Int n, const T* x);
    double (*squaredDiff)(Int n, const T* x, double mean);
    /// Adds sum(g) and sum(g * (x - mean)).
    void (*sumsAbout)(Int n, const T* g, const T* x, T mean, double* sumG, double* sumGX);
    /// out = x * scale + shift
    void (*affine)(Int n, const T* x, T scale, T shift, T* out);
    /// out = a * g + b * x + c
    void (*combine)(Int n, const T* g, const T* x, T a, T b, T c, T* out);
    /// out = (x - mean) * scale * w + b; w and b may be null.
    void (*normRow)(Int n, const T* x, T mean, T scale, const T* w, const T* b, T* out);
    /// Input gradient of normRow where scale = 1 / sqrt(var + eps).
    void (*normBackwardRow)(Int n, const T* g, const T* x, T mean, T scale, const T* w, T* out);
    /// dw += g * (x - mean) * scale, db += g; either may be null.
    void (*normParamsRow)(Int n, const T* g, const T* x, T mean, T scale, T* dw, T* db);

    /// best = max(best, x[i * step]), at = where it was, from `position` on by `step`. A NaN wins.
    void (*maxTap)(Int n, const T* x, Int step, std::int32_t position, T* best, std::int32_t* at);
    /// sum += x[i * step]
    void (*addTap)(Int n, const T* x, Int step, T* sum);

    /// out = keep[i] ? x[i] * scale : 0
    void (*maskAndScale)(Int n, const T* x, const bool* keep, T scale, T* out);

    /// Sums of a loss over n pairs, and its single terms.
    double (*squaredErrors)(Int n, const T* x, const T* y);
    double (*absoluteErrors)(Int n, const T* x, const T* y);
    double (*bceTerms)(Int n, const T* x, const T* y);
    void (*squaredError)(Int n, const T* x, const T* y, T* out);
    void (*absoluteError)(Int n, const T* x, const T* y, T* out);
    /// max(x, 0) - x * y + log(1 + exp(-|x|))
    void (*bceTerm)(Int n, const T* x, const T* y, T* out);
};

struct NnTable {
    NnLoops<float> f32;
    NnLoops<double> f64;
    /// keep[i] = word i % 4 of Philox4x32-10(seed, counter + i / 4) is at least limit.
    void (*philoxAtLeast)(std::int64_t n, std::uint64_t seed, std::uint64_t counter,
                          std::uint32_t limit, bool* keep);
};

namespace base {
extern const NnTable kNnTable;
}
namespace avx2 {
extern const NnTable kNnTable;
}
namespace avx512 {
extern const NnTable kNnTable;
}

}  // namespace tapescope::engine::cpu
