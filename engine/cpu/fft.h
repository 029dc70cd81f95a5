// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace tapescope::engine::cpu {

/// The discrete Fourier transform of one length: Stockham's self-sorting mixed radix where n has
/// only small prime factors, Bluestein's convolution otherwise; O(n log n) for every n. In double,
/// so that float32 results are exact to their last place. Sources: Van Loan 1992; Bluestein 1970.
class FftPlan final {
public:
    using Complex = std::complex<double>;
    /// n >= 1.
    explicit FftPlan(std::int64_t n);
    std::int64_t size() const { return m_n; }
    /// X[k] = sum_j x[j] e^(-+2 pi i jk / n) in place, not scaled. Any thread, with its own
    /// scratch, which grows as needed.
    void run(Complex* x, bool inverse, std::vector<Complex>& scratch) const;

private:
    void mixedRadix(Complex* x, std::vector<Complex>& scratch) const;
    void bluestein(Complex* x, std::vector<Complex>& scratch) const;

    std::int64_t m_n;
    std::vector<int> m_factors;
    std::vector<Complex> m_roots;   // e^(-2 pi i k / n)
    std::vector<Complex> m_chirp;   // Bluestein: e^(-pi i k^2 / n)
    std::vector<Complex> m_filter;  // its transformed conjugate
    std::vector<FftPlan> m_inner;   // Bluestein: the power of two it convolves with (one or none)
};

/// `lines` transforms of n dense elements each, real and imaginary parts apart; im null: zeros.
/// outIm may be null where only the real part is wanted. Every result is multiplied by scale.
/// Parallel over the lines.
template <class T>
void fftLines(std::int64_t lines, std::int64_t n, const T* re, const T* im, T* outRe, T* outIm,
              bool inverse, double scale);

extern template void fftLines(std::int64_t, std::int64_t, const float*, const float*, float*,
                              float*, bool, double);
extern template void fftLines(std::int64_t, std::int64_t, const double*, const double*, double*,
                              double*, bool, double);

}  // namespace tapescope::engine::cpu
