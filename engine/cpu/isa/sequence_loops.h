// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Inner loops of attention and recurrent layers; see loops.h for the rules of this folder.
namespace tapescope::engine::cpu {

/// Arrays are dense, n is their length.
template <class T>
struct SequenceLoops {
    using Int = std::int64_t;
    /// x = softmax(x * scale + bias) in place; bias may be null. Returns log(sum(exp(...))); where
    /// every element is -infinity, x becomes 0.
    T (*scaledSoftmaxRow)(Int n, T* x, T scale, const T* bias);
    /// x = exp(x * scale + bias - lse) in place; bias may be null.
    void (*scaledExpRow)(Int n, T* x, T scale, const T* bias, T lse);
    /// dp = p * (dp - delta) * scale in place.
    void (*attentionGradRow)(Int n, const T* p, T* dp, T delta, T scale);
    T (*dotRow)(Int n, const T* a, const T* b);

    /// x = tanh(x), or max(x, 0), in place.
    void (*rnnRow)(Int n, bool relu, T* x);
    /// dx = dh * (what the activation's derivative is where it gave h).
    void (*rnnBackwardRow)(Int n, bool relu, const T* h, const T* dh, T* dx);

    /// gates [4n]: i, f, g, o before their activations, which are applied in place. c = f *
    /// previous
    /// + i * g, h = o * tanh(c).
    void (*lstmRow)(Int n, T* gates, const T* previous, T* c, T* h);
    /// gates after their activations. dc: gradient of c, becomes that of the previous c.
    void (*lstmBackwardRow)(Int n, const T* gates, const T* previous, const T* c, const T* dh,
                            T* dc, T* dgates);

    /// x, hidden [3n]: the input's and the state's share of r, z, n. kept [4n]: r, z, n after their
    /// activations and the state's share of n. h = (1 - z) * n + z * previous.
    void (*gruRow)(Int n, const T* x, const T* hidden, const T* previous, T* kept, T* h);
    /// dh becomes the part of the previous state's gradient that skips the gates.
    void (*gruBackwardRow)(Int n, const T* kept, const T* previous, T* dh, T* dx, T* dhidden);
};

struct SequenceTable {
    SequenceLoops<float> f32;
    SequenceLoops<double> f64;
};

namespace base {
extern const SequenceTable kSequenceTable;
}
namespace avx2 {
extern const SequenceTable kSequenceTable;
}
namespace avx512 {
extern const SequenceTable kSequenceTable;
}

}  // namespace tapescope::engine::cpu
