// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <optional>
#include <string_view>

namespace tapescope::engine {

/// A view: windows of `size` elements along dimension, `step` apart, as a new last dimension
/// (Tensor.unfold).
Tensor unfold(const Tensor& x, std::int64_t dimension, std::int64_t size, std::int64_t step,
              Site site = {});
/// A view of x's storage with sizes, strides and offset in elements. Throws ShapeError where it
/// would reach outside the storage.
Tensor as_strided(const Tensor& x, const Dims& sizes, const Dims& strides,
                  std::optional<std::int64_t> storage_offset = {}, Site site = {});

/// nn.functional.unfold: the blocks of images [n, c, h, w] as columns: [n, c * kh * kw, blocks].
/// [c, h, w] without n.
Tensor unfold(const Tensor& x, const Dims& kernel_size, const Dims& dilation = {1, 1},
              const Dims& padding = {0, 0}, const Dims& stride = {1, 1}, Site site = {});
/// nn.functional.fold: the reverse, where blocks overlap summed.
Tensor fold(const Tensor& x, const Dims& output_size, const Dims& kernel_size,
            const Dims& dilation = {1, 1}, const Dims& padding = {0, 0},
            const Dims& stride = {1, 1}, Site site = {});

/// mode: "constant" (value), "reflect", "replicate" or "circular". The latter three pad the last 1,
/// 2 or 3 dimensions of a tensor with one or two more. Negative padding cuts off.
Tensor pad(const Tensor& x, const Dims& padding, std::string_view mode, double value = 0,
           Site site = {});

}  // namespace tapescope::engine
