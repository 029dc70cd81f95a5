// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <cstdint>
#include <string_view>

namespace tapescope::engine::cpu {

/// In the order of scatter_reduce's attribute, after Assign.
enum class Scatter : std::uint8_t { Assign, Sum, Prod, Mean, Amax, Amin };

/// out[..., index[..., i, ...], ...] takes source[..., i, ...] (or value where source is undefined)
/// by `how`, in order of i. index: of sizes no larger than source's, or 1-d along dim. Throws
/// IndexError naming op. includeSelf: what out holds before takes part.
void scatterInto(std::string_view op, Scatter how, const Tensor& out, int dim, const Tensor& index,
                 const Tensor& source, double value, bool includeSelf);

/// x, or a copy where it shares memory with what is going to be written.
Tensor apartFrom(const Tensor& x, const Tensor& written);

}  // namespace tapescope::engine::cpu
