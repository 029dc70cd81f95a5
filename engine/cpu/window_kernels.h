// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <array>

namespace tapescope::engine::cpu {

/// out, dense, becomes the sum of the windows of grad [..., size] put back along dim.
void unfoldBackwardInto(const Tensor& grad, int dim, std::int64_t step, const Tensor& out);

/// Elements as strides and an offset see them.
struct Geometry {
    Dims sizes;
    Dims strides;
    std::int64_t offset = 0;
    /// One past the last element; 0 if there is none.
    std::int64_t end() const;
};
/// Adds grad, element by element, to the places `from` of a buffer of zeros and reads out from its
/// places `to`.
void restrideInto(const Tensor& grad, const Geometry& from, const Geometry& to, const Tensor& out);

using Pair = std::array<std::int64_t, 2>;  ///< height, width
struct Blocks {
    Pair image, kernel, dilation, padding, stride;
    /// How many fit; 0 or less where none does.
    Pair counts() const;
};
/// images [n, c, h, w] -> columns [n, c * kh * kw, blocks], both dense.
void im2col(const Tensor& images, const Blocks& blocks, const Tensor& columns);
/// The transpose: overlapping blocks are summed, in a fixed order.
void col2im(const Tensor& columns, const Blocks& blocks, const Tensor& images);

enum class PadMode : std::uint8_t { Reflect, Replicate, Circular };
/// padding as pad()'s. out is dense.
void padModeInto(const Tensor& x, const Dims& padding, PadMode mode, const Tensor& out);
/// The transpose: every element of x takes the sum of its copies' gradients.
void padModeBackwardInto(const Tensor& grad, const Dims& padding, PadMode mode, const Tensor& out);

}  // namespace tapescope::engine::cpu
