// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace tapescope::engine::cpu {

/// The discrete Fourier transform of one length, in T (float or double): Stockham's self-sorting
/// mixed radix where n has only small prime factors, else Bluestein's convolution, always in
/// double; O(n log n) for every n. Complex numbers are two arrays, real and imaginary parts apart;
/// `lanes` transforms lie side by side: number j of them at [j * lanes]. Sources: Van Loan 1992;
/// Bluestein 1970.
template <class T>
class FftPlan final {
public:
    struct Planes {
        T* re;
        T* im;
    };
    /// n >= 1.
    explicit FftPlan(std::int64_t n);

    std::int64_t size() const { return m_n; }
    /// Elements of T that run() needs beside x.
    std::int64_t scratchSize(std::int64_t lanes) const;
    /// X[k] = sum_j x[j] e^(-+2 pi i jk / n), not scaled. x is overwritten; the result lies where
    /// the returned planes say, in x or in scratch. Any thread.
    Planes run(Planes x, T* scratch, std::int64_t lanes, bool inverse) const;

private:
    struct Step {
        int radix;
        std::int64_t count;
        std::int64_t stride;
        std::size_t twiddles;  // where they start
        std::size_t roots;
    };
    Planes mixedRadix(Planes x, T* scratch, std::int64_t lanes) const;
    void bluestein(Planes x, T* scratch, std::int64_t lanes) const;

    std::int64_t m_n;
    std::vector<Step> m_steps;
    std::vector<T> m_re;  // twiddles and roots
    std::vector<T> m_im;
    // Bluestein: e^(-pi i k^2 / n), its transformed conjugate, and the power of two it convolves
    // with.
    std::vector<double> m_chirpRe, m_chirpIm, m_filterRe, m_filterIm;
    std::shared_ptr<const FftPlan<double>> m_inner;
};

extern template class FftPlan<float>;
extern template class FftPlan<double>;

/// e^(-2 pi i k / n) for k < count, each within 2e-15; count <= n.
void fftRoots(std::int64_t n, std::int64_t count, double* re, double* im);

/// Twiddles that join the transform of half the length to that of a real signal of length n = 2
/// half, and the plan of that half.
struct RealFftPlan {
    explicit RealFftPlan(std::int64_t n);
    std::shared_ptr<const FftPlan<float>> half;
    std::vector<float> re;
    std::vector<float> im;
};

// The last few plans made are kept: making one takes longer than to run it.
std::shared_ptr<const FftPlan<float>> fftPlan(std::int64_t n);
std::shared_ptr<const RealFftPlan> realFftPlan(std::int64_t n);

}  // namespace tapescope::engine::cpu
