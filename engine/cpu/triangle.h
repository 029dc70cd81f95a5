// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

namespace tapescope::engine::cpu {

/// out = x where column - row <= diagonal (lower) or >= diagonal (upper) in the last two
/// dimensions, 0 elsewhere.
void triangleInto(const Tensor& x, std::int64_t diagonal, bool lower, const Tensor& out);

}  // namespace tapescope::engine::cpu
