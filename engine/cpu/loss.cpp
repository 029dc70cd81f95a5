// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/loss.h"

#include "engine/cpu/dense.h"
#include "engine/cpu/nn_isa.h"
#include "engine/cpu/parallel.h"

#include <vector>

namespace tapescope::engine::cpu {

namespace {

/// x broadcast to sizes, dense.
Tensor spread(const Tensor& x, const Dims& sizes) {
    if (x.sizes() == sizes) return dense(x);
    Tensor full = Tensor::empty(sizes, x.dtype(), MemoryRole::Temporary);
    copyTensor(full, x);
    return full;
}

template <class T>
auto termsOf(LossKind kind) {
    const NnLoops<T>& loops = nnLoops<T>();
    switch (kind) {
        case LossKind::Absolute:
            return loops.absoluteError;
        case LossKind::BceWithLogits:
            return loops.bceTerm;
        case LossKind::Squared:
            break;
    }
    return loops.squaredError;
}
template <class T>
auto sumOf(LossKind kind) {
    const NnLoops<T>& loops = nnLoops<T>();
    switch (kind) {
        case LossKind::Absolute:
            return loops.absoluteErrors;
        case LossKind::BceWithLogits:
            return loops.bceTerms;
        case LossKind::Squared:
            break;
    }
    return loops.squaredErrors;
}

}  // namespace

void lossTerms(LossKind kind, const Tensor& x, const Tensor& y, const Tensor& out) {
    const Tensor left = spread(x, out.sizes());
    const Tensor right = spread(y, out.sizes());
    visitFloating(out.dtype(), [&]<class T>() {
        const T* a = left.data<T>();
        const T* b = right.data<T>();
        T* to = out.data<T>();
        const auto run = termsOf<T>(kind);
        parallelFor(out.numel(), kGrain, [=](std::int64_t begin, std::int64_t end) {
            run(end - begin, a + begin, b + begin, to + begin);
        });
    });
}

void lossSum(LossKind kind, const Tensor& x, const Tensor& y, const Dims& sizes, double scale,
             const Tensor& out) {
    const Tensor left = spread(x, sizes);
    const Tensor right = spread(y, sizes);
    visitFloating(out.dtype(), [&]<class T>() {
        const T* a = left.data<T>();
        const T* b = right.data<T>();
        const auto run = sumOf<T>(kind);
        const std::int64_t numel = left.numel();
        std::vector<double> partial(static_cast<std::size_t>((numel + kGrain - 1) / kGrain));
        parallelFor(numel, kGrain, [&](std::int64_t begin, std::int64_t end) {
            partial[static_cast<std::size_t>(begin / kGrain)] =
                run(end - begin, a + begin, b + begin);
        });
        double total = 0;
        for (const double part : partial) total += part;
        *out.data<T>() = static_cast<T>(total * scale);
    });
}

}  // namespace tapescope::engine::cpu
