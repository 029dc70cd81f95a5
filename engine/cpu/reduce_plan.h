// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <array>
#include <cstdint>

namespace tapescope::engine::cpu {

/// Dimensions walked as one index, the last fastest.
struct AxisList {
    int rank = 0;
    std::int64_t count = 1;
    std::array<std::int64_t, kMaxRank> sizes{};
    std::array<std::int64_t, kMaxRank> strides{};

    /// Appends a faster dimension, merging it with the last where the strides allow.
    void push(std::int64_t size, std::int64_t stride) {
        count *= size;
        if (size == 1) return;
        if (rank > 0 && strides[last()] == stride * size) {
            sizes[last()] *= size;
            strides[last()] = stride;
            return;
        }
        sizes[static_cast<unsigned>(rank)] = size;
        strides[static_cast<unsigned>(rank++)] = stride;
    }
    std::int64_t lastSize() const { return rank > 0 ? sizes[last()] : 1; }
    std::int64_t lastStride() const { return rank > 0 ? strides[last()] : 1; }
    /// Without its last dimension.
    AxisList outer() const {
        AxisList list = *this;
        if (rank > 0) {
            list.count = count / lastSize();
            --list.rank;
        }
        return list;
    }
    /// Where index i lies.
    std::int64_t offset(std::int64_t i) const {
        std::int64_t result = 0;
        for (int d = rank - 1; d >= 0; --d) {
            const std::int64_t size = sizes[static_cast<unsigned>(d)];
            result += i % size * strides[static_cast<unsigned>(d)];
            i /= size;
        }
        return result;
    }

private:
    unsigned last() const { return static_cast<unsigned>(rank - 1); }
};

/// x's dimensions, split into those that stay (in order) and those reduced away (the largest stride
/// outermost).
struct ReducePlan {
    AxisList kept;
    AxisList reduced;
    ReducePlan(const Tensor& x, const std::array<bool, kMaxRank>& mask);
};

}  // namespace tapescope::engine::cpu
