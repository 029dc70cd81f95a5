// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/softmax.h"

#include "engine/cpu/dense.h"
#include "engine/cpu/nn_isa.h"
#include "engine/cpu/parallel.h"
#include "engine/tensor/tensor_impl.h"

#include <algorithm>
#include <utility>

namespace tapescope::engine::cpu {

namespace {

/// x with dim moved to the end.
Tensor rowsLast(const Tensor& x, int dim) {
    Dims sizes = x.sizes();
    Dims strides = x.strides();
    std::swap(sizes[dim], sizes[x.dim() - 1]);
    std::swap(strides[dim], strides[x.dim() - 1]);
    return makeView(x, sizes, strides, x.storage_offset());
}

/// Runs fn(length, operands dense along dim, result of the same layout) and brings the result into
/// out.
template <std::size_t N, class Fn>
void alongRows(const std::array<const Tensor*, N>& operands, int dim, const Tensor& out,
               const Fn& fn) {
    if (out.numel() == 0) return;
    if (out.dim() == 0 || dim == out.dim() - 1) {
        std::array<Tensor, N> rows;
        for (std::size_t i = 0; i < N; ++i) rows[i] = dense(*operands[i]);
        fn(out.dim() == 0 ? 1 : out.sizes().back(), rows, out);
        return;
    }
    std::array<Tensor, N> rows;
    for (std::size_t i = 0; i < N; ++i) rows[i] = dense(rowsLast(*operands[i], dim));
    const Tensor target = rowsLast(out, dim);
    const Tensor result = Tensor::empty(target.sizes(), out.dtype(), MemoryRole::Temporary);
    fn(result.sizes().back(), rows, result);
    copyTensor(target, result);
}

/// fn(offset of a row) for every row of `length` elements.
template <class Fn>
void forEachLine(std::int64_t numel, std::int64_t length, const Fn& fn) {
    parallelFor(numel / length, std::max<std::int64_t>(kGrain / length, 1),
                [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t row = begin; row < end; ++row) fn(row * length);
                });
}

}  // namespace

void softmaxInto(const Tensor& x, int dim, bool logarithm, const Tensor& out) {
    visitFloating(x.dtype(), [&]<class T>() {
        const NnLoops<T>& loops = nnLoops<T>();
        const auto run = logarithm ? loops.logSoftmaxRow : loops.softmaxRow;
        alongRows<1>({&x}, dim, out,
                     [run](std::int64_t length, const auto& rows, const Tensor& result) {
                         const T* from = rows[0].template data<T>();
                         T* to = result.data<T>();
                         forEachLine(result.numel(), length,
                                     [=](std::int64_t at) { run(length, from + at, to + at); });
                     });
    });
}

void softmaxBackwardInto(const Tensor& grad, const Tensor& y, int dim, bool logarithm,
                         const Tensor& out) {
    visitFloating(y.dtype(), [&]<class T>() {
        const NnLoops<T>& loops = nnLoops<T>();
        const auto run = logarithm ? loops.logSoftmaxBackwardRow : loops.softmaxBackwardRow;
        alongRows<2>({&grad, &y}, dim, out,
                     [run](std::int64_t length, const auto& rows, const Tensor& result) {
                         const T* g = rows[0].template data<T>();
                         const T* value = rows[1].template data<T>();
                         T* to = result.data<T>();
                         forEachLine(result.numel(), length, [=](std::int64_t at) {
                             run(length, g + at, value + at, to + at);
                         });
                     });
    });
}

}  // namespace tapescope::engine::cpu
