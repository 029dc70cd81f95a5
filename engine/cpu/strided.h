// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/parallel.h"
#include "engine/tensor/tensor.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tapescope::engine::cpu {

/// Strides, in elements, of t seen with the sizes `target` to which it broadcasts: 0 where it
/// repeats.
inline Dims broadcastStrides(const Tensor& t, const Dims& target) {
    Dims strides = Dims::filled(target.size(), 0);
    const Dims& sizes = t.sizes();
    const int lead = target.size() - sizes.size();
    for (int i = 0; i < sizes.size(); ++i) {
        if (sizes[i] != 1) strides[lead + i] = t.strides()[i];
    }
    return strides;
}

/// N operands of the same sizes walked together. Dimension 0 is the INNERMOST here. Size-1
/// dimensions are dropped, dimensions are ordered by operand 0's strides, and neighbours merged
/// where every operand allows it, so that equal dense layouts become one long row.
template <std::size_t N>
struct StridedPlan {
    int rank = 1;
    std::int64_t numel = 0;
    std::array<std::int64_t, kMaxRank> sizes{};
    std::array<std::array<std::int64_t, kMaxRank>, N>
        strides{};  ///< in elements, [operand][dimension]

    std::int64_t innerSize() const { return sizes[0]; }
    std::int64_t innerStride(std::size_t operand) const { return strides[operand][0]; }
};

/// strides[k]: operand k's, one per dimension of sizes (see broadcastStrides). Operand 0 is the one
/// written.
template <std::size_t N>
StridedPlan<N> planStrided(const Dims& sizes, const std::array<Dims, N>& strides) {
    StridedPlan<N> plan;
    plan.numel = 1;
    for (std::int64_t size : sizes) plan.numel *= size;
    plan.sizes[0] = plan.numel;
    if (plan.numel <= 1) {
        for (std::size_t k = 0; k < N; ++k) plan.strides[k][0] = 1;
        return plan;
    }
    std::array<int, kMaxRank> order{};
    int rank = 0;
    for (int i = sizes.size() - 1; i >= 0; --i) {
        if (sizes[i] == 1) continue;
        int at = rank++;
        for (; at > 0 && strides[0][order[static_cast<unsigned>(at - 1)]] > strides[0][i]; --at) {
            order[static_cast<unsigned>(at)] = order[static_cast<unsigned>(at - 1)];
        }
        order[static_cast<unsigned>(at)] = i;
    }
    unsigned last = 0;
    for (int i = 0; i < rank; ++i) {
        const int d = order[static_cast<unsigned>(i)];
        bool merge = i > 0;
        for (std::size_t k = 0; merge && k < N; ++k) {
            merge = strides[k][d] == plan.strides[k][last] * plan.sizes[last];
        }
        if (merge) {
            plan.sizes[last] *= sizes[d];
            continue;
        }
        if (i > 0) ++last;
        plan.sizes[last] = sizes[d];
        for (std::size_t k = 0; k < N; ++k) plan.strides[k][last] = strides[k][d];
    }
    plan.rank = static_cast<int>(last) + 1;
    return plan;
}

/// fn(offsets, n): rows covering the positions [begin, end) of the plan in order; offsets[k] is
/// where operand k's row starts, in elements; within the row operand k steps by
/// plan.innerStride(k).
template <std::size_t N, class Fn>
void forEachRow(const StridedPlan<N>& plan, std::int64_t begin, std::int64_t end, const Fn& fn) {
    if (begin >= end) return;  // an empty plan has sizes of 0, which divide nothing
    std::array<std::int64_t, kMaxRank> index{};
    std::array<std::int64_t, N> offsets{};
    std::int64_t rest = begin;
    for (unsigned d = 0; d < static_cast<unsigned>(plan.rank); ++d) {
        index[d] = rest % plan.sizes[d];
        rest /= plan.sizes[d];
        for (std::size_t k = 0; k < N; ++k) offsets[k] += index[d] * plan.strides[k][d];
    }
    for (std::int64_t at = begin; at < end;) {
        const std::int64_t left = plan.sizes[0] - index[0];
        const std::int64_t n = left < end - at ? left : end - at;
        fn(offsets, n);
        at += n;
        if (at >= end) return;
        for (std::size_t k = 0; k < N; ++k) offsets[k] -= index[0] * plan.strides[k][0];
        index[0] = 0;
        for (unsigned d = 1; d < static_cast<unsigned>(plan.rank); ++d) {
            for (std::size_t k = 0; k < N; ++k) offsets[k] += plan.strides[k][d];
            if (++index[d] < plan.sizes[d]) break;
            for (std::size_t k = 0; k < N; ++k) offsets[k] -= plan.sizes[d] * plan.strides[k][d];
            index[d] = 0;
        }
    }
}

/// forEachRow over the whole plan, in parallel in pieces of `grain` elements. fn must not throw.
template <std::size_t N, class Fn>
void parallelRows(const StridedPlan<N>& plan, std::int64_t grain, const Fn& fn) {
    parallelFor(plan.numel, grain,
                [&](std::int64_t begin, std::int64_t end) { forEachRow(plan, begin, end, fn); });
}

}  // namespace tapescope::engine::cpu
