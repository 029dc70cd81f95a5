// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <string_view>

namespace tapescope::engine::cpu {

/// Throws IndexError naming the first value of index (int64) outside [0, size). op and dim are for
/// the message.
void checkIndexRange(std::string_view op, const Tensor& index, int dim, std::int64_t size);

/// out[..., i, ...] = x[..., index[..., i, ...], ...] at position i of dim. index: of out's sizes,
/// or 1-d along dim. Indices have been checked.
void gatherInto(const Tensor& x, int dim, const Tensor& index, const Tensor& out);
/// out[..., index[..., i, ...], ...] += source[..., i, ...]; index: of sizes no larger than
/// source's, or 1-d along dim. Equal places are summed in order of i, whatever the number of
/// threads.
void scatterAddInto(const Tensor& out, int dim, const Tensor& index, const Tensor& source);
/// out [..., classes], int64: 1 at the class, else 0.
void oneHotInto(const Tensor& index, const Tensor& out);

}  // namespace tapescope::engine::cpu
