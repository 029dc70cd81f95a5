// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"

#include <span>

namespace tapescope::engine::cpu {

void histc(const OpArgs& args, std::span<Tensor> outputs);     ///< attributes bins, min, max
void bincount(const OpArgs& args, std::span<Tensor> outputs);  ///< attribute minlength; allocates
/// Inputs x, edges or none, weight or none; attributes bins, min, max, density.
void histogram(const OpArgs& args, std::span<Tensor> outputs);

}  // namespace tapescope::engine::cpu
