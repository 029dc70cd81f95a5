// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/distance.h"

#include "engine/cpu/dense.h"
#include "engine/cpu/matrix_batch.h"

#include <cmath>

namespace tapescope::engine::cpu {

namespace {

/// The distance of two rows of n elements.
template <class T>
T distance(const T* a, const T* b, std::int64_t n, double p) {
    T sum = 0;
    if (p == 2) {
        for (std::int64_t i = 0; i < n; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
        return std::sqrt(sum);
    }
    if (p == 1) {
        for (std::int64_t i = 0; i < n; ++i) sum += std::fabs(a[i] - b[i]);
        return sum;
    }
    if (p == 0) {
        for (std::int64_t i = 0; i < n; ++i) sum += a[i] == b[i] ? T(0) : T(1);
        return sum;
    }
    if (std::isinf(p)) {
        for (std::int64_t i = 0; i < n; ++i) {
            const T d = std::fabs(a[i] - b[i]);
            sum = d > sum || std::isnan(d) ? d : sum;
        }
        return sum;
    }
    for (std::int64_t i = 0; i < n; ++i) sum += std::pow(std::fabs(a[i] - b[i]), static_cast<T>(p));
    return std::pow(sum, static_cast<T>(1 / p));
}

}  // namespace

void cdistInto(const Tensor& x1, const Tensor& x2, double p, const Tensor& out) {
    if (out.numel() == 0) return;
    const Dims batch = batchOf(out);
    const Tensor left = dense(x1);
    const Tensor right = dense(x2);
    const std::int64_t rows = out.size(-2);
    const std::int64_t cols = out.size(-1);
    const std::int64_t n = x1.size(-1);
    visitFloating(out.dtype(), [&]<class T>() {
        const MatrixBatch<T> a(left, batch);
        const MatrixBatch<T> b(right, batch);
        T* const to = out.data<T>();
        const std::int64_t grain =
            std::max<std::int64_t>(kGrain / std::max<std::int64_t>(n * cols, 1), 1);
        parallelFor(out.numel() / cols, grain, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                const T* row = a.at(i / rows) + i % rows * n;
                const T* others = b.at(i / rows);
                for (std::int64_t j = 0; j < cols; ++j)
                    to[i * cols + j] = distance(row, others + j * n, n, p);
            }
        });
    });
}

}  // namespace tapescope::engine::cpu
