// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/fft.h"

#include "engine/cpu/parallel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

namespace tapescope::engine::cpu {

namespace {

using Complex = FftPlan::Complex;

/// Beyond this prime factor a convolution is cheaper than a direct sum.
constexpr int kLargestRadix = 31;

/// e^(-2 pi i k / n), the angle reduced first so that large k lose nothing.
Complex root(std::int64_t k, std::int64_t n) {
    const double angle =
        -2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n);
    return {std::cos(angle), std::sin(angle)};
}

std::vector<int> smallFactors(std::int64_t n) {
    std::vector<int> factors;
    for (const int radix : {4, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, kLargestRadix})
        for (; n % radix == 0; n /= radix) factors.push_back(radix);
    if (n > 1) factors.clear();
    return factors;
}

/// (a + bi)(c + di) without the checks for infinities that std::complex makes.
Complex times(Complex a, Complex b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// One pass of radix r: sub-transforms of length n are split into r of length n / r; stride of them
/// lie side by side. step: the table holds roots of unity of order n * step.
struct Pass {
    int radix;
    std::int64_t length;
    std::int64_t stride;
    std::int64_t step;
};

void pass2(const Pass& p, const Complex* roots, const Complex* x, Complex* y) {
    const std::int64_t m = p.length / 2;
    for (std::int64_t k = 0; k < m; ++k) {
        const Complex w = roots[k * p.step];
        for (std::int64_t q = 0; q < p.stride; ++q) {
            const Complex a = x[q + p.stride * k];
            const Complex b = x[q + p.stride * (k + m)];
            y[q + p.stride * 2 * k] = a + b;
            y[q + p.stride * (2 * k + 1)] = times(a - b, w);
        }
    }
}

void pass4(const Pass& p, const Complex* roots, const Complex* x, Complex* y) {
    const std::int64_t m = p.length / 4;
    for (std::int64_t k = 0; k < m; ++k) {
        const Complex w1 = roots[k * p.step];
        const Complex w2 = roots[2 * k * p.step];
        const Complex w3 = roots[3 * k * p.step];
        for (std::int64_t q = 0; q < p.stride; ++q) {
            const Complex a = x[q + p.stride * k];
            const Complex b = x[q + p.stride * (k + m)];
            const Complex c = x[q + p.stride * (k + 2 * m)];
            const Complex d = x[q + p.stride * (k + 3 * m)];
            const Complex even = a + c;
            const Complex odd = b + d;
            const Complex difference = a - c;
            const Complex turned{(b - d).imag(), -(b - d).real()};  // -i (b - d)
            Complex* const to = y + q + p.stride * 4 * k;
            to[0] = even + odd;
            to[p.stride] = times(difference + turned, w1);
            to[2 * p.stride] = times(even - odd, w2);
            to[3 * p.stride] = times(difference - turned, w3);
        }
    }
}

void passAny(const Pass& p, std::int64_t n, const Complex* roots, const Complex* x, Complex* y) {
    const std::int64_t m = p.length / p.radix;
    const std::int64_t turn = n / p.radix;  // roots[turn * k] are those of order radix
    for (std::int64_t k = 0; k < m; ++k) {
        for (int j = 0; j < p.radix; ++j) {
            const Complex w = roots[k * j * p.step];
            for (std::int64_t q = 0; q < p.stride; ++q) {
                Complex sum = x[q + p.stride * k];
                for (int i = 1; i < p.radix; ++i)
                    sum += times(x[q + p.stride * (k + m * i)], roots[turn * (i * j % p.radix)]);
                y[q + p.stride * (p.radix * k + j)] = times(sum, w);
            }
        }
    }
}

}  // namespace

FftPlan::FftPlan(std::int64_t n) : m_n(n), m_factors(smallFactors(n)) {
    if (n == 1) return;
    if (!m_factors.empty()) {
        for (std::int64_t k = 0; k < n; ++k) m_roots.push_back(root(k, n));
        return;
    }
    // jk = (j^2 + k^2 - (k - j)^2) / 2 makes the transform a convolution with a chirp.
    std::int64_t square = 0;  // k^2 modulo 2n, from one to the next so that it never overflows
    for (std::int64_t k = 0; k < n; ++k) {
        m_chirp.push_back(root(square, 2 * n));
        square = (square + 2 * k + 1) % (2 * n);
    }
    const auto size =
        static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * n - 1)));
    m_inner.emplace_back(size);
    m_filter.assign(static_cast<std::size_t>(size), Complex());
    for (std::int64_t k = 0; k < n; ++k) {
        const Complex value = std::conj(m_chirp[static_cast<std::size_t>(k)]);
        m_filter[static_cast<std::size_t>(k)] = value;
        if (k > 0) m_filter[static_cast<std::size_t>(size - k)] = value;
    }
    std::vector<Complex> scratch;
    m_inner[0].run(m_filter.data(), false, scratch);
}

void FftPlan::mixedRadix(Complex* x, std::vector<Complex>& scratch) const {
    if (scratch.size() < static_cast<std::size_t>(m_n))
        scratch.resize(static_cast<std::size_t>(m_n));
    Complex* from = x;
    Complex* to = scratch.data();
    Pass pass{0, m_n, 1, 1};
    for (const int radix : m_factors) {
        pass.radix = radix;
        if (radix == 4)
            pass4(pass, m_roots.data(), from, to);
        else if (radix == 2)
            pass2(pass, m_roots.data(), from, to);
        else
            passAny(pass, m_n, m_roots.data(), from, to);
        std::swap(from, to);
        pass.length /= radix;
        pass.stride *= radix;
        pass.step *= radix;
    }
    if (from != x) std::copy_n(from, m_n, x);
}

void FftPlan::bluestein(Complex* x, std::vector<Complex>& scratch) const {
    const FftPlan& inner = m_inner[0];
    std::vector<Complex> work(static_cast<std::size_t>(inner.size()));
    for (std::size_t k = 0; k < m_chirp.size(); ++k) work[k] = times(x[k], m_chirp[k]);
    inner.run(work.data(), false, scratch);
    for (std::size_t k = 0; k < work.size(); ++k) work[k] = times(work[k], m_filter[k]);
    inner.run(work.data(), true, scratch);
    const double scale = 1 / static_cast<double>(inner.size());
    for (std::size_t k = 0; k < m_chirp.size(); ++k) x[k] = times(work[k], m_chirp[k]) * scale;
}

void FftPlan::run(Complex* x, bool inverse, std::vector<Complex>& scratch) const {
    if (m_n == 1) return;
    // The inverse is the transform of what is mirrored: conjugates before and after.
    const auto conjugate = [&] {
        if (inverse) std::transform(x, x + m_n, x, [](Complex c) { return std::conj(c); });
    };
    conjugate();
    if (m_inner.empty())
        mixedRadix(x, scratch);
    else
        bluestein(x, scratch);
    conjugate();
}

template <class T>
void fftLines(std::int64_t lines, std::int64_t n, const T* re, const T* im, T* outRe, T* outIm,
              bool inverse, double scale) {
    if (lines <= 0 || n <= 0) return;
    const FftPlan plan(n);
    // About 20 simple operations an element.
    const std::int64_t grain = std::max<std::int64_t>(kGrain / (20 * n), 1);
    parallelFor(lines, grain, [&](std::int64_t begin, std::int64_t end) {
        std::vector<Complex> line(static_cast<std::size_t>(n));
        std::vector<Complex> scratch;
        for (std::int64_t l = begin; l < end; ++l) {
            for (std::int64_t i = 0; i < n; ++i)
                line[static_cast<std::size_t>(i)] = {static_cast<double>(re[l * n + i]),
                                                     im ? static_cast<double>(im[l * n + i]) : 0.0};
            plan.run(line.data(), inverse, scratch);
            for (std::int64_t i = 0; i < n; ++i) {
                const Complex value = line[static_cast<std::size_t>(i)] * scale;
                outRe[l * n + i] = static_cast<T>(value.real());
                if (outIm) outIm[l * n + i] = static_cast<T>(value.imag());
            }
        }
    });
}

template void fftLines(std::int64_t, std::int64_t, const float*, const float*, float*, float*, bool,
                       double);
template void fftLines(std::int64_t, std::int64_t, const double*, const double*, double*, double*,
                       bool, double);

}  // namespace tapescope::engine::cpu
