// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

namespace tapescope::engine::cpu {

enum class LossKind : std::uint8_t { Squared, Absolute, BceWithLogits };

/// out of the broadcast shape: one term an element.
void lossTerms(LossKind kind, const Tensor& x, const Tensor& y, const Tensor& out);
/// out 0-d: the sum of the terms over the broadcast shape `sizes`, times scale.
void lossSum(LossKind kind, const Tensor& x, const Tensor& y, const Dims& sizes, double scale,
             const Tensor& out);

}  // namespace tapescope::engine::cpu
