// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

namespace tapescope::engine::cpu {

/// mask (bool) = which elements stay: each with probability 1 - p, by the current Context's
/// generator. out = x * mask * scale.
void dropout(const Tensor& x, double p, double scale, const Tensor& out, const Tensor& mask);
/// out = x * mask * scale; zero where the mask is false, even for a NaN.
void maskAndScale(const Tensor& x, const Tensor& mask, double scale, const Tensor& out);

}  // namespace tapescope::engine::cpu
