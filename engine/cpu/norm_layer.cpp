// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/dense.h"
#include "engine/cpu/nn_isa.h"
#include "engine/cpu/norm.h"
#include "engine/cpu/parallel.h"
#include "engine/cpu/shape_kernels.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tapescope::engine::cpu {

namespace {

std::int64_t rowsPerPiece(std::int64_t length) {
    return std::max<std::int64_t>(kGrain / std::max<std::int64_t>(length, 1), 1);
}

}  // namespace

void layerNorm(const Tensor& input, std::int64_t length, const Tensor& weight, const Tensor& bias,
               double eps, const Tensor& out, const Tensor& mean, const Tensor& invstd) {
    if (input.numel() == 0) {
        fillZero(mean);
        fillZero(invstd);
        return;
    }
    const Tensor x = dense(input);
    const Tensor w = dense(weight);
    const Tensor b = dense(bias);
    visitFloating(x.dtype(), [&]<class T>() {
        const NnLoops<T>& loops = nnLoops<T>();
        const T* data = x.data<T>();
        const T* weights = dataOrNull<T>(w);
        const T* biases = dataOrNull<T>(b);
        T* to = out.data<T>();
        T* means = mean.data<T>();
        T* invstds = invstd.data<T>();
        parallelFor(
            x.numel() / length, rowsPerPiece(length), [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t row = begin; row < end; ++row) {
                    const T* from = data + row * length;
                    const double center = loops.sum(length, from) / static_cast<double>(length);
                    const double variance =
                        loops.squaredDiff(length, from, center) / static_cast<double>(length);
                    means[row] = static_cast<T>(center);
                    invstds[row] = static_cast<T>(1 / std::sqrt(variance + eps));
                    loops.normRow(length, from, means[row], invstds[row], weights, biases,
                                  to + row * length);
                }
            });
    });
}

void layerNormBackward(const Tensor& grad, const Tensor& input, std::int64_t length,
                       const Tensor& weight, const Tensor& mean, const Tensor& invstd,
                       const Tensor& gradInput, const Tensor& gradWeight, const Tensor& gradBias) {
    fillZero(gradWeight);
    fillZero(gradBias);
    if (input.numel() == 0) return;
    const Tensor g = dense(grad);
    const Tensor x = dense(input);
    const Tensor w = dense(weight);
    const Tensor m = dense(mean);
    const Tensor s = dense(invstd);
    const std::int64_t rows = x.numel() / length;
    const std::int64_t piece = rowsPerPiece(length);
    visitFloating(x.dtype(), [&]<class T>() {
        const NnLoops<T>& loops = nnLoops<T>();
        const T* grads = g.data<T>();
        const T* data = x.data<T>();
        const T* weights = dataOrNull<T>(w);
        const T* means = m.data<T>();
        const T* invstds = s.data<T>();
        T* to = gradInput.data<T>();
        // Parameter gradients sum over rows: each piece sums its own, then the pieces are added in
        // order.
        const std::int64_t pieces = (rows - 1) / piece + 1;
        const auto width = static_cast<std::size_t>(length);
        std::vector<T> partial(static_cast<std::size_t>(pieces) * 2 * width, T(0));
        parallelFor(rows, piece, [&](std::int64_t begin, std::int64_t end) {
            T* dw = partial.data() + static_cast<std::size_t>(begin / piece) * 2 * width;
            for (std::int64_t row = begin; row < end; ++row) {
                const std::int64_t at = row * length;
                loops.normBackwardRow(length, grads + at, data + at, means[row], invstds[row],
                                      weights, to + at);
                loops.normParamsRow(length, grads + at, data + at, means[row], invstds[row], dw,
                                    dw + width);
            }
        });
        for (std::int64_t p = 0; p < pieces; ++p) {
            const T* sums = partial.data() + static_cast<std::size_t>(p) * 2 * width;
            loops.addTap(length, sums, 1, gradWeight.data<T>());
            loops.addTap(length, sums + width, 1, gradBias.data<T>());
        }
    });
}

}  // namespace tapescope::engine::cpu
