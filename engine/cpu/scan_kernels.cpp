// SPDX-License-Identifier: Apache-2.0
// Reductions that keep a position or a running value: argmax, argmin, cumsum.
#include "engine/cpu/copy.h"
#include "engine/cpu/parallel.h"
#include "engine/cpu/reduce_kernels.h"
#include "engine/cpu/reduce_plan.h"
#include "engine/ops/checks.h"

#include <algorithm>
#include <type_traits>

namespace tapescope::engine::cpu {
namespace {

std::array<bool, kMaxRank> oneDim(std::string_view op, const OpArgs& args) {
    std::array<bool, kMaxRank> mask{};
    if (args[0].dim() > 0)
        mask[static_cast<unsigned>(wrapDim(op, args.attrs.integer(0), args[0].dim()))] = true;
    return mask;
}

/// The first of the extreme elements; NaN is more extreme than any number.
template <bool largest, class T>
std::int64_t extremeIndex(const T* x, std::int64_t n, std::int64_t stride) {
    std::int64_t best = 0;
    T value = x[0];
    for (std::int64_t i = 1; i < n; ++i) {
        if (value != value) break;
        const T candidate = x[i * stride];
        if ((largest ? candidate > value : candidate < value) || candidate != candidate) {
            value = candidate;
            best = i;
        }
    }
    return best;
}

template <bool largest>
void argExtreme(const OpArgs& args, std::span<Tensor> outputs) {
    const Tensor& x = args[0];
    auto* out = outputs[0].data<std::int64_t>();
    if (!args.attrs.has(0)) {
        const Tensor flat = x.is_contiguous() ? x : converted(x, x.dtype());
        visitDType(x.dtype(), [&]<class T>() {
            out[0] = extremeIndex<largest>(flat.data<T>(), flat.numel(), 1);
        });
        return;
    }
    const ReducePlan plan(x, oneDim(largest ? "argmax" : "argmin", args));
    const std::int64_t n = plan.reduced.count;
    const std::int64_t stride = plan.reduced.lastStride();
    visitDType(x.dtype(), [&]<class T>() {
        const T* data = x.data<T>();
        parallelFor(outputs[0].numel(),
                    std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(n, 1)),
                    [&](std::int64_t begin, std::int64_t end) {
                        for (std::int64_t o = begin; o < end; ++o)
                            out[o] = extremeIndex<largest>(data + plan.kept.offset(o), n, stride);
                    });
    });
}

}  // namespace

void argmax(const OpArgs& args, std::span<Tensor> outputs) { argExtreme<true>(args, outputs); }
void argmin(const OpArgs& args, std::span<Tensor> outputs) { argExtreme<false>(args, outputs); }

void cumsum(const OpArgs& args, std::span<Tensor> outputs) {
    const Tensor& x = args[0];
    const Tensor& y = outputs[0];
    const auto mask = oneDim("cumsum", args);
    const ReducePlan from(x, mask);
    const ReducePlan to(y, mask);
    const std::int64_t n = from.reduced.count;
    if (x.numel() == 0) return;
    const std::int64_t inStride = from.reduced.lastStride();
    const std::int64_t outStride = to.reduced.lastStride();
    visitDType(y.dtype(), [&]<class T>() {
        // Rounding once an element, not once an addition.
        using Acc = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;
        visitDType(x.dtype(), [&]<class S>() {
            const S* source = x.data<S>();
            T* out = y.data<T>();
            parallelFor(from.kept.count, std::max<std::int64_t>(1, kGrain / n),
                        [&](std::int64_t begin, std::int64_t end) {
                            for (std::int64_t k = begin; k < end; ++k) {
                                const S* in = source + from.kept.offset(k);
                                T* into = out + to.kept.offset(k);
                                Acc total{};
                                for (std::int64_t i = 0; i < n; ++i) {
                                    total += static_cast<Acc>(in[i * inStride]);
                                    into[i * outStride] = static_cast<T>(total);
                                }
                            }
                        });
        });
    });
}

}  // namespace tapescope::engine::cpu
