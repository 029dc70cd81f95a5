// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <array>

namespace tapescope::engine::cpu {

/// The sizes of a pooling over planes of up to three dimensions, checked. Triples are (depth,
/// height, width); the ones not in use in front have size, kernel, stride and dilation 1 and
/// padding 0.
struct PoolShape {
    using Triple = std::array<std::int64_t, 3>;
    int rank = 2;
    std::int64_t planes = 0;
    Triple input{1, 1, 1};
    Triple output{1, 1, 1};
    Triple kernel{1, 1, 1};
    Triple stride{1, 1, 1};
    Triple padding{0, 0, 0};
    Triple dilation{1, 1, 1};

    std::int64_t inPlane() const { return input[0] * input[1] * input[2]; }
    std::int64_t outPlane() const { return output[0] * output[1] * output[2]; }
};

/// What a mean divides by: the window as far as it reaches into the padding, or into the input
/// only; a divisor other than 0 stands for both.
struct AverageRule {
    bool countIncludePad = true;
    std::int64_t divisor = 0;
};

/// values, and where each was found: its position in its plane, row by row (int64).
void maxPool(const PoolShape& shape, const Tensor& input, const Tensor& values,
             const Tensor& indices);
/// Adds each gradient at its index. Throws IndexError if an index lies outside its plane.
void maxPoolBackward(std::string_view op, const PoolShape& shape, const Tensor& grad,
                     const Tensor& indices, const Tensor& out);
/// Puts each value at its index, zeros elsewhere; the last of equal indices stays. Throws
/// IndexError likewise.
void maxUnpool(std::string_view op, const PoolShape& shape, const Tensor& input,
               const Tensor& indices, const Tensor& out);

void avgPool(const PoolShape& shape, const AverageRule& rule, const Tensor& input,
             const Tensor& out);
void avgPoolBackward(const PoolShape& shape, const AverageRule& rule, const Tensor& grad,
                     const Tensor& out);

/// Over windows that cut the input into output.depth x height x width pieces. Kernel, stride,
/// padding, dilation are not read.
void adaptiveAvgPool(const PoolShape& shape, const Tensor& input, const Tensor& out);
void adaptiveAvgPoolBackward(const PoolShape& shape, const Tensor& grad, const Tensor& out);
void adaptiveMaxPool(const PoolShape& shape, const Tensor& input, const Tensor& values,
                     const Tensor& indices);

}  // namespace tapescope::engine::cpu
