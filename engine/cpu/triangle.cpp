// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/triangle.h"

#include "engine/cpu/dense.h"
#include "engine/cpu/parallel.h"

#include <algorithm>

namespace tapescope::engine::cpu {

void triangleInto(const Tensor& input, std::int64_t diagonal, bool lower, const Tensor& out) {
    if (out.numel() == 0) return;
    const Tensor x = dense(input);
    const std::int64_t rows = x.size(-2);
    const std::int64_t columns = x.size(-1);
    // So that nothing below overflows.
    diagonal = std::clamp(diagonal, -rows - 1, columns + 1);
    visitDType(x.dtype(), [&]<class T>() {
        const T* const from = x.data<T>();
        T* const to = out.data<T>();
        parallelFor(x.numel() / columns, std::max<std::int64_t>(1, kGrain / columns),
                    [&](std::int64_t begin, std::int64_t end) {
                        for (std::int64_t r = begin; r < end; ++r) {
                            const T* const in = from + r * columns;
                            T* const o = to + r * columns;
                            const std::int64_t row = r % rows;
                            // Columns [0, cut) are kept by lower, [cut, …) by upper.
                            const std::int64_t cut = std::clamp<std::int64_t>(
                                row + diagonal + (lower ? 1 : 0), 0, columns);
                            std::copy_n(in + (lower ? 0 : cut), lower ? cut : columns - cut,
                                        o + (lower ? 0 : cut));
                            std::fill(o + (lower ? cut : 0), o + (lower ? columns : cut), T{});
                        }
                    });
    });
}

}  // namespace tapescope::engine::cpu
