// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/parallel.h"
#include "engine/cpu/reduce_plan.h"

#include <algorithm>

namespace tapescope::engine::cpu {

/// A tensor as lines of elements along one dimension; a 0-d tensor is one line of one element.
/// Lines count row-major over the other dimensions: line i of two tensors that agree off `dim` is
/// at the same place.
class Lines {
public:
    Lines(const Tensor& t, int dim) : m_plan(t, maskOf(t, dim)) {}
    std::int64_t count() const { return m_plan.kept.count; }
    std::int64_t length() const { return m_plan.reduced.count; }
    std::int64_t stride() const { return m_plan.reduced.lastStride(); }
    /// Of line i's first element.
    std::int64_t offset(std::int64_t i) const { return m_plan.kept.offset(i); }
    /// fn(i) for every line, in parallel. cost: what an element costs, against a simple one. fn
    /// must not throw.
    template <class Fn>
    void forEach(std::int64_t cost, const Fn& fn) const {
        const std::int64_t line = std::max<std::int64_t>(length() * cost, 1);
        parallelFor(count(), std::max<std::int64_t>(1, kGrain / line),
                    [&](std::int64_t begin, std::int64_t end) {
                        for (std::int64_t i = begin; i < end; ++i) fn(i);
                    });
    }

private:
    static std::array<bool, kMaxRank> maskOf(const Tensor& t, int dim) {
        std::array<bool, kMaxRank> mask{};
        if (t.dim() > 0) mask[static_cast<unsigned>(dim)] = true;
        return mask;
    }
    ReducePlan m_plan;
};

/// a < b, with NaN above every number and equal to itself.
template <class T>
constexpr bool lessWithNan(T a, T b) {
    return a < b || (b != b && a == a);
}
template <class T>
constexpr bool isNan(T a) {
    return a != a;
}

}  // namespace tapescope::engine::cpu
