// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/fft.h"

#include "engine/cpu/fft_isa.h"
#include "engine/tensor/tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <list>
#include <mutex>
#include <numbers>
#include <type_traits>
#include <utility>

namespace tapescope::engine::cpu {
namespace {

using Int = std::int64_t;

/// Between two arrays of one size: apart by some cache lines, so that elements of equal index do
/// not share a set of the cache.
constexpr Int kGap = 48;

std::size_t asSize(Int n) { return static_cast<std::size_t>(n); }

/// Large radices first: they leave the long inner loops that the later passes are fast with. Empty
/// if a prime factor is too large.
std::vector<int> factorsOf(Int n) {
    std::vector<int> factors;
    int twos = std::countr_zero(static_cast<std::uint64_t>(n));
    n >>= twos;
    for (; twos >= 5 || twos == 3; twos -= 3) factors.push_back(8);
    for (; twos >= 2; twos -= 2) factors.push_back(4);
    if (twos == 1) factors.push_back(2);
    for (const int radix : {3, 5, 7, 11, 13, 17, 19, 23, 29, kLargestRadix})
        for (; n % radix == 0; n /= radix) factors.push_back(radix);
    if (n > 1) factors.clear();
    return factors;
}

}  // namespace

void fftRoots(Int n, Int count, double* re, double* im) {
    // Two exact tables of about sqrt(count) angles each, multiplied.
    const Int step = std::max<Int>(1, static_cast<Int>(std::sqrt(static_cast<double>(count))));
    const auto angleOf = [n](Int k) {
        return -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    };
    std::vector<double> fineRe(asSize(step));
    std::vector<double> fineIm(asSize(step));
    for (Int i = 0; i < step; ++i) {
        fineRe[asSize(i)] = std::cos(angleOf(i));
        fineIm[asSize(i)] = std::sin(angleOf(i));
    }
    for (Int base = 0; base < count; base += step) {
        const double c = std::cos(angleOf(base));
        const double s = std::sin(angleOf(base));
        for (Int i = 0; i < std::min(step, count - base); ++i) {
            re[base + i] = c * fineRe[asSize(i)] - s * fineIm[asSize(i)];
            im[base + i] = c * fineIm[asSize(i)] + s * fineRe[asSize(i)];
        }
    }
}

template <class T>
FftPlan<T>::FftPlan(Int n) : m_n(n) {
    if (n == 1) return;
    const std::vector<int> factors = factorsOf(n);
    if (factors.empty()) {
        // jk = (j^2 + k^2 - (k - j)^2) / 2 makes the transform a convolution with a chirp.
        const auto size = static_cast<Int>(std::bit_ceil(static_cast<std::uint64_t>(2 * n - 1)));
        m_inner = std::make_shared<const FftPlan<double>>(size);
        std::vector<double> rootRe(asSize(2 * n));
        std::vector<double> rootIm(asSize(2 * n));
        fftRoots(2 * n, 2 * n, rootRe.data(), rootIm.data());
        std::vector<double> re(asSize(size));
        std::vector<double> im(asSize(size));
        Int square = 0;  // k^2 modulo 2n, from one to the next so that it never overflows
        for (Int k = 0; k < n; ++k) {
            m_chirpRe.push_back(rootRe[asSize(square)]);
            m_chirpIm.push_back(rootIm[asSize(square)]);
            for (const Int at : {k, (size - k) % size}) {
                re[asSize(at)] = m_chirpRe.back() / static_cast<double>(size);
                im[asSize(at)] = -m_chirpIm.back() / static_cast<double>(size);
            }
            square = (square + 2 * k + 1) % (2 * n);
        }
        std::vector<double> scratch(asSize(m_inner->scratchSize(1)));
        const auto filter = m_inner->run({re.data(), im.data()}, scratch.data(), 1, false);
        m_filterRe.assign(filter.re, filter.re + size);
        m_filterIm.assign(filter.im, filter.im + size);
        return;
    }
    std::vector<double> rootRe(asSize(n));
    std::vector<double> rootIm(asSize(n));
    fftRoots(n, n, rootRe.data(), rootIm.data());
    const auto push = [&](Int k) {
        m_re.push_back(static_cast<T>(rootRe[asSize(k)]));
        m_im.push_back(static_cast<T>(rootIm[asSize(k)]));
    };
    Int length = n;
    for (const int radix : factors) {
        Step step{radix, length / radix, n / length, m_re.size(), 0};
        // e^(-2 pi i jk / length) in the table of order n.
        for (Int j = 1; j < radix; ++j)
            for (Int k = 0; k < step.count; ++k) push(j * k * step.stride);
        step.roots = m_re.size();
        for (Int j = 0; j < radix; ++j) push(j * (n / radix));
        m_steps.push_back(step);
        length = step.count;
    }
}

template <class T>
Int FftPlan<T>::scratchSize(Int lanes) const {
    if (!m_inner) return 2 * (m_n * lanes + kGap);
    const Int doubles = 2 * (m_inner->size() + kGap) + m_inner->scratchSize(1);
    // One more, so that the doubles can be aligned.
    return doubles * static_cast<Int>(sizeof(double) / sizeof(T)) + 1;
}

template <class T>
typename FftPlan<T>::Planes FftPlan<T>::mixedRadix(Planes x, T* scratch, Int lanes) const {
    Planes from = x;
    Planes to{scratch, scratch + m_n * lanes + kGap};
    for (const Step& s : m_steps) {
        const T* const re = m_re.data();
        const T* const im = m_im.data();
        const FftPass<T> pass{s.radix,         s.count,      s.stride * lanes, re + s.twiddles,
                              im + s.twiddles, re + s.roots, im + s.roots};
        fftLoops<T>().pass(pass, from.re, from.im, to.re, to.im);
        std::swap(from, to);
    }
    return from;
}

template <class T>
void FftPlan<T>::bluestein(Planes x, T* scratch, Int lanes) const {
    const Int size = m_inner->size();
    void* place = scratch;
    if constexpr (!std::is_same_v<T, double>) {
        std::size_t space = (asSize(scratchSize(1))) * sizeof(T);
        std::align(alignof(double), space - sizeof(T), place, space);
    }
    auto* const re = static_cast<double*>(place);
    double* const im = re + size + kGap;
    double* const inner = im + size + kGap;
    for (Int lane = 0; lane < lanes; ++lane) {
        for (Int k = 0; k < m_n; ++k) {
            const auto a = static_cast<double>(x.re[k * lanes + lane]);
            const auto b = static_cast<double>(x.im[k * lanes + lane]);
            const double c = m_chirpRe[asSize(k)];
            const double s = m_chirpIm[asSize(k)];
            re[k] = a * c - b * s;
            im[k] = a * s + b * c;
        }
        std::fill(re + m_n, re + size, 0.0);
        std::fill(im + m_n, im + size, 0.0);
        const auto there = m_inner->run({re, im}, inner, 1, false);
        for (Int k = 0; k < size; ++k) {
            const double a = there.re[k];
            const double b = there.im[k];
            const double c = m_filterRe[asSize(k)];
            const double s = m_filterIm[asSize(k)];
            there.re[k] = a * c - b * s;
            there.im[k] = a * s + b * c;
        }
        // Both pairs of arrays are laid out as run() lays out its scratch.
        const auto back = m_inner->run(there, there.re == re ? inner : re, 1, true);
        for (Int k = 0; k < m_n; ++k) {
            const double a = back.re[k];
            const double b = back.im[k];
            const double c = m_chirpRe[asSize(k)];
            const double s = m_chirpIm[asSize(k)];
            x.re[k * lanes + lane] = static_cast<T>(a * c - b * s);
            x.im[k * lanes + lane] = static_cast<T>(a * s + b * c);
        }
    }
}

template <class T>
typename FftPlan<T>::Planes FftPlan<T>::run(Planes x, T* scratch, Int lanes, bool inverse) const {
    // The inverse is the transform with real and imaginary parts changed over, before and after.
    if (inverse) std::swap(x.re, x.im);
    if (m_inner)
        bluestein(x, scratch, lanes);
    else
        x = mixedRadix(x, scratch, lanes);
    if (inverse) std::swap(x.re, x.im);
    return x;
}

template class FftPlan<float>;
template class FftPlan<double>;

RealFftPlan::RealFftPlan(Int n) : half(fftPlan(n / 2)) {
    std::vector<double> rootRe(asSize(n / 2));
    std::vector<double> rootIm(asSize(n / 2));
    fftRoots(n, n / 2, rootRe.data(), rootIm.data());
    for (const double v : rootRe) re.push_back(static_cast<float>(v));
    for (const double v : rootIm) im.push_back(static_cast<float>(v));
}

namespace {

/// Tables take up to this many bytes a point while they are made (Bluestein's, in double).
constexpr Int kTableBytes = 128;
constexpr Int kLongTransform = Int{1} << 20;

/// Throws OutOfMemoryError where the tables of a long transform do not fit the allocator's limit:
/// they are no tensors, and would be written before anybody is asked.
void checkRoomForTables(Int n) {
    if (n >= kLongTransform) Tensor::empty({n, kTableBytes}, DType::U8, MemoryRole::Temporary);
}

/// The latest plans by length, newest first. Thread-safe; two threads may make the same plan once.
template <class Plan>
class PlanCache {
public:
    std::shared_ptr<const Plan> of(Int n) {
        {
            const std::lock_guard lock(m_mutex);
            for (auto it = m_plans.begin(); it != m_plans.end(); ++it) {
                if (it->first != n) continue;
                m_plans.splice(m_plans.begin(), m_plans, it);
                return it->second;
            }
        }
        checkRoomForTables(n);
        auto plan = std::make_shared<const Plan>(n);
        if (n > kLargest) return plan;
        const std::lock_guard lock(m_mutex);
        m_plans.emplace_front(n, plan);
        if (m_plans.size() > kMost) m_plans.pop_back();
        return plan;
    }

private:
    static constexpr std::size_t kMost = 16;
    static constexpr Int kLargest = Int{1} << 21;  // some 16 MiB; longer ones are not worth keeping
    std::mutex m_mutex;
    std::list<std::pair<Int, std::shared_ptr<const Plan>>> m_plans;  // guarded by m_mutex
};

}  // namespace

std::shared_ptr<const FftPlan<float>> fftPlan(Int n) {
    static PlanCache<FftPlan<float>> cache;
    return cache.of(n);
}

std::shared_ptr<const RealFftPlan> realFftPlan(Int n) {
    static PlanCache<RealFftPlan> cache;
    return cache.of(n);
}

}  // namespace tapescope::engine::cpu
