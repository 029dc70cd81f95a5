// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Inner loops of the Fourier transforms; see loops.h for the rules of this folder. Complex numbers
// come in two arrays, real and imaginary parts apart.
namespace tapescope::engine::cpu {

/// The largest prime factor that a pass takes.
inline constexpr int kLargestRadix = 31;

/// One pass of Stockham's self-sorting transform: sub-transforms of length radix * count, `stride`
/// of them side by side, become `radix` times as many of length count.
template <class T>
struct FftPass {
    int radix;
    std::int64_t count;
    std::int64_t stride;
    const T* twiddleRe;  ///< [radix - 1][count]: e^(-2 pi i j k / (radix count)), j from 1
    const T* twiddleIm;
    const T* rootRe;  ///< [radix]: e^(-2 pi i j / radix)
    const T* rootIm;
};

template <class T>
struct FftLoops {
    using Int = std::int64_t;
    void (*pass)(const FftPass<T>& pass, const T* xRe, const T* xIm, T* yRe, T* yIm);
    /// Of n pairs (re, im).
    void (*split)(Int n, const T* pairs, T* re, T* im);
    void (*join)(Int n, const T* re, const T* im, T scale, T* pairs);
    /// From the transform z of x[2j] + i x[2j+1], j < half, that of the real x: half + 1 numbers.
    /// w: e^(-2 pi i k / (2 half)). `lanes` transforms side by side.
    void (*fromHalf)(Int half, Int lanes, const T* wRe, const T* wIm, const T* zRe, const T* zIm,
                     T* yRe, T* yIm);
    /// The inverse: from half + 1 numbers what the inverse transform of length half turns into the
    /// real values, two at a time. The imaginary parts at both ends do not count.
    void (*toHalf)(Int half, Int lanes, const T* wRe, const T* wIm, const T* yRe, const T* yIm,
                   T* zRe, T* zIm);
};

struct FftTable {
    FftLoops<float> f32;
    FftLoops<double> f64;
};

namespace base {
extern const FftTable kFftTable;
}
namespace avx2 {
extern const FftTable kFftTable;
}
namespace avx512 {
extern const FftTable kFftTable;
}

}  // namespace tapescope::engine::cpu
