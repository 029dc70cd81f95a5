// SPDX-License-Identifier: Apache-2.0
#include "engine/debug/tensor_stats.h"

#include "engine/debug/element_runs.h"
#include "engine/errors.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

namespace tapescope::engine::debug {
namespace {

/// An element of a complex tensor that counts by its magnitude.
struct Magnitude {
    float re;
    float im;
    operator float() const { return std::hypot(re, im); }  // NOLINT(google-explicit-constructor)
};
static_assert(sizeof(Magnitude) == itemSize(DType::C64));

/// Sums of float fit a double; those of double and int64 need its range and precision extended.
template <class T>
using Sum = std::conditional_t<std::is_same_v<T, double> || std::is_same_v<T, std::int64_t>,
                               long double, double>;

/// What an element is calculated with.
template <class T>
struct NumberOf {
    using Type = Widened<T>;
    static constexpr bool kFloating = kIsFloatingElement<T>;
};
template <>
struct NumberOf<Magnitude> {
    using Type = float;
    static constexpr bool kFloating = true;
};
template <class T>
using Number = typename NumberOf<T>::Type;
template <class T>
inline constexpr bool kHasNonFinite = NumberOf<T>::kFloating;

template <class T, class Fn>
void forEachFinite(const Tensor& t, Fn&& fn) {
    forEachRun<T>(t, 0, t.numel(), [&](const T* from, std::int64_t count, std::int64_t stride) {
        for (std::int64_t i = 0; i < count; ++i) {
            const Number<T> value = from[i * stride];
            if constexpr (kHasNonFinite<T>) {
                if (!std::isfinite(value)) continue;
            }
            fn(value);
        }
    });
}

template <class T>
void countNonFinite(const Tensor& t, TensorStats& stats) {
    if constexpr (kHasNonFinite<T>) {
        forEachRun<T>(t, 0, t.numel(), [&](const T* from, std::int64_t count, std::int64_t stride) {
            for (std::int64_t i = 0; i < count; ++i) {
                const Number<T> value = from[i * stride];
                stats.nanCount += std::isnan(value) ? 1 : 0;
                stats.infCount += std::isinf(value) ? 1 : 0;
            }
        });
    }
}

template <class T>
void addMoments(const Tensor& t, TensorStats& stats) {
    const std::int64_t finite = stats.numel - stats.nanCount - stats.infCount;
    if (finite == 0) return;
    Number<T> low = std::numeric_limits<Number<T>>::max();
    Number<T> high = std::numeric_limits<Number<T>>::lowest();
    Sum<T> sum = 0;
    forEachFinite<T>(t, [&](Number<T> value) {
        low = std::min(low, value);
        high = std::max(high, value);
        sum += static_cast<Sum<T>>(value);
    });
    const Sum<T> mean = sum / static_cast<Sum<T>>(finite);
    Sum<T> squares = 0;
    forEachFinite<T>(t, [&](Number<T> value) {
        const Sum<T> distance = static_cast<Sum<T>>(value) - mean;
        squares += distance * distance;
    });
    stats.min = static_cast<double>(low);
    stats.max = static_cast<double>(high);
    stats.mean = static_cast<double>(mean);
    stats.std = static_cast<double>(std::sqrt(squares / static_cast<Sum<T>>(finite)));
}

template <class T>
void addHistogram(const Tensor& t, int bins, TensorStats& stats) {
    // numpy's edges: one value alone gets a bin's width of its own.
    const bool flat = stats.min == stats.max;
    const long double low = static_cast<long double>(stats.min) - (flat ? 0.5L : 0.0L);
    const long double high = static_cast<long double>(stats.max) + (flat ? 0.5L : 0.0L);
    const long double width = (high - low) / bins;
    stats.edges.resize(static_cast<std::size_t>(bins) + 1);
    for (int i = 0; i <= bins; ++i) {
        stats.edges[static_cast<std::size_t>(i)] =
            static_cast<double>(i == bins ? high : low + width * i);
    }
    stats.counts.assign(static_cast<std::size_t>(bins), 0);
    if (flat) {
        // Where numpy puts it, also when the magnitude swallows the half added on each side.
        stats.counts[static_cast<std::size_t>(bins / 2)] =
            stats.numel - stats.nanCount - stats.infCount;
        return;
    }
    const auto scale = static_cast<Sum<T>>(1 / width);
    const auto start = static_cast<Sum<T>>(low);
    const auto last = static_cast<std::size_t>(bins - 1);
    forEachFinite<T>(t, [&](Number<T> value) {
        // An int64 may lie below its minimum rounded to double.
        const Sum<T> distance = std::max(static_cast<Sum<T>>(value) - start, Sum<T>{0});
        std::size_t bin = std::min(static_cast<std::size_t>(distance * scale), last);
        // The product may round across an edge; the edges decide.
        const auto x = static_cast<double>(value);
        if (x < stats.edges[bin] && bin > 0) --bin;
        if (x >= stats.edges[bin + 1] && bin < last) ++bin;
        ++stats.counts[bin];
    });
}

}  // namespace

TensorStats tensorStats(const Tensor& tensor, int bins) {
    if (!tensor.defined()) throw Error("An undefined tensor has no statistics.");
    if (bins < 0 || bins > kMaxHistogramBins) {
        throw Error("A histogram of " + std::to_string(bins) +
                    " bins was asked for: give a number from 0 to " +
                    std::to_string(kMaxHistogramBins) + ".");
    }
    TensorStats stats;
    stats.numel = tensor.numel();
    const auto look = [&]<class T>() {
        countNonFinite<T>(tensor, stats);
        addMoments<T>(tensor, stats);
        if (bins > 0 && !std::isnan(stats.min)) addHistogram<T>(tensor, bins, stats);
    };
    stats.magnitudes = isComplex(tensor.dtype());
    if (stats.magnitudes)
        look.operator()<Magnitude>();
    else
        visitEveryDType(tensor.dtype(), look);
    return stats;
}

}  // namespace tapescope::engine::debug
