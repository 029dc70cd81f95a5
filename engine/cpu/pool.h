// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <array>

namespace tapescope::engine::cpu {

/// The sizes of a pooling over planes [N, C, H, W], checked. Pairs are (height, width).
struct PoolShape {
    std::int64_t planes = 0;
    std::array<std::int64_t, 2> input{};
    std::array<std::int64_t, 2> output{};
    std::array<std::int64_t, 2> kernel{};
    std::array<std::int64_t, 2> stride{};
    std::array<std::int64_t, 2> padding{};
};

/// values, and where each was found: row * W + column of its plane (int64).
void maxPool(const PoolShape& shape, const Tensor& input, const Tensor& values,
             const Tensor& indices);
/// Throws IndexError if an index lies outside its plane.
void maxPoolBackward(const PoolShape& shape, const Tensor& grad, const Tensor& indices,
                     const Tensor& out);
/// Means over whole windows, padding counting as zeros.
void avgPool(const PoolShape& shape, const Tensor& input, const Tensor& out);
void avgPoolBackward(const PoolShape& shape, const Tensor& grad, const Tensor& out);
/// Means over windows that cut the input into output.height x output.width pieces. Kernel, stride,
/// padding are not read.
void adaptiveAvgPool(const PoolShape& shape, const Tensor& input, const Tensor& out);
void adaptiveAvgPoolBackward(const PoolShape& shape, const Tensor& grad, const Tensor& out);

}  // namespace tapescope::engine::cpu
