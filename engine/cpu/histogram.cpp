// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/histogram.h"

#include "engine/cpu/dense.h"
#include "engine/ops/checks.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tapescope::engine::cpu {
namespace {

struct Bounds {
    double low;
    double high;
};
/// The range given, or x's own where both ends are equal; never empty.
template <class T>
Bounds boundsOf(std::string_view op, const T* x, std::int64_t n, double low, double high) {
    if (low == high && n > 0) {
        const auto [smallest, largest] = std::minmax_element(x, x + n);
        low = static_cast<double>(*smallest);
        high = static_cast<double>(*largest);
        // NaN makes minmax_element miss others: it has no range either.
        if (std::any_of(x, x + n, [](T v) { return !std::isfinite(v); })) low = NAN;
    }
    if (low == high) {
        low -= 1;
        high += 1;
    }
    if (!std::isfinite(low) || !std::isfinite(high))
        throw Error(message(op, ": the values' range is not finite; give min and max"));
    return {low, high};
}

}  // namespace

void histc(const OpArgs& args, std::span<Tensor> outputs) {
    const Tensor x = dense(args[0]);
    const std::int64_t bins = args.attrs.integer(0);
    visitFloating(x.dtype(), [&]<class T>() {
        const T* const data = x.data<T>();
        const Bounds b = boundsOf("histc", data, x.numel(), args.attrs.real(1), args.attrs.real(2));
        std::vector<std::int64_t> counts(static_cast<std::size_t>(bins));
        const auto low = static_cast<T>(b.low);
        const auto high = static_cast<T>(b.high);
        const T scale = static_cast<T>(bins) / (high - low);
        for (std::int64_t i = 0; i < x.numel(); ++i) {
            if (!(data[i] >= low && data[i] <= high)) continue;
            const auto bin = static_cast<std::int64_t>((data[i] - low) * scale);
            ++counts[static_cast<std::size_t>(std::min(bin, bins - 1))];
        }
        std::transform(counts.begin(), counts.end(), outputs[0].data<T>(),
                       [](std::int64_t v) { return static_cast<T>(v); });
    });
}

void bincount(const OpArgs& args, std::span<Tensor> outputs) {
    const Tensor x = dense(args[0]);
    const auto* const data = x.data<std::int64_t>();
    std::int64_t size = args.attrs.integer(0);
    for (std::int64_t i = 0; i < x.numel(); ++i) {
        if (data[i] < 0)
            throw IndexError(message("bincount: the input has ", data[i],
                                     "; only numbers from 0 on can be counted"));
        if (data[i] >= size) size = checkedAdd("bincount", data[i], 1);
    }
    checkSizes("bincount", {size});
    if (!args.has(1)) {
        outputs[0] = Tensor::empty({size}, DType::I64);
        auto* const out = outputs[0].data<std::int64_t>();
        std::fill_n(out, size, std::int64_t{0});
        for (std::int64_t i = 0; i < x.numel(); ++i) ++out[data[i]];
        return;
    }
    const Tensor weights = dense(args[1]);
    outputs[0] = Tensor::empty({size}, weights.dtype() == DType::F32 ? DType::F32 : DType::F64);
    visitFloating(outputs[0].dtype(), [&]<class T>() {
        T* const out = outputs[0].data<T>();
        std::fill_n(out, size, T{0});
        visitDType(weights.dtype(), [&]<class W>() {
            const W* const w = weights.data<W>();
            for (std::int64_t i = 0; i < x.numel(); ++i) out[data[i]] += static_cast<T>(w[i]);
        });
    });
}

void histogram(const OpArgs& args, std::span<Tensor> outputs) {
    const Tensor x = dense(args[0]);
    const Tensor weight = args.has(2) ? dense(args[2]) : Tensor();
    visitFloating(x.dtype(), [&]<class T>() {
        const T* const data = x.data<T>();
        T* const edges = outputs[1].data<T>();
        const std::int64_t bins = outputs[0].numel();
        if (args.has(1)) {
            copyTensor(outputs[1], args[1]);
            for (std::int64_t i = 0; i < bins; ++i) {
                if (!(edges[i] <= edges[i + 1]))
                    throw Error("histogram: the edges must not descend");
            }
        } else {
            const Bounds b =
                boundsOf("histogram", data, x.numel(), args.attrs.real(1), args.attrs.real(2));
            const auto low = static_cast<T>(b.low);
            const auto high = static_cast<T>(b.high);
            const T step = (high - low) / static_cast<T>(bins);
            // From both ends, so that both are exact.
            for (std::int64_t i = 0; i <= bins; ++i)
                edges[i] = i < (bins + 1) / 2 ? low + step * static_cast<T>(i)
                                              : high - step * static_cast<T>(bins - i);
        }
        std::vector<double> sums(static_cast<std::size_t>(bins));
        const T* const w = dataOrNull<T>(weight);
        for (std::int64_t i = 0; i < x.numel(); ++i) {
            if (!(data[i] >= edges[0] && data[i] <= edges[bins])) continue;
            const std::int64_t after = std::upper_bound(edges, edges + bins + 1, data[i]) - edges;
            const std::int64_t bin = std::min(after - 1, bins - 1);  // the last edge belongs to it
            sums[static_cast<std::size_t>(bin)] += w ? static_cast<double>(w[i]) : 1.0;
        }
        double total = 0;
        for (const double sum : sums) total += sum;
        T* const out = outputs[0].data<T>();
        for (std::int64_t i = 0; i < bins; ++i) {
            const double sum = sums[static_cast<std::size_t>(i)];
            const auto width = static_cast<double>(edges[i + 1] - edges[i]);
            out[i] = static_cast<T>(args.attrs.flag(3) ? sum / (total * width) : sum);
        }
    });
}

}  // namespace tapescope::engine::cpu
