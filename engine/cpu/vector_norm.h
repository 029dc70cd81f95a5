// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"

#include <span>

namespace tapescope::engine::cpu {

/// Attributes p, dims (empty: all), keepdim. Adds in double precision, in an order that depends on
/// the layout only.
void vectorNorm(const OpArgs& args, std::span<Tensor> outputs);

}  // namespace tapescope::engine::cpu
