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

/// out [N] = -x[i, target[i]], or 0-d: their sum times scale. Targets have been checked.
void nllTerms(const Tensor& x, const Tensor& target, const Tensor& out);
void nllSum(const Tensor& x, const Tensor& target, double scale, const Tensor& out);
/// out [N, C]: -grad * scale at the targets, else 0. grad [N] or 0-d.
void nllBackward(const Tensor& grad, const Tensor& target, double scale, const Tensor& out);

}  // namespace tapescope::engine::cpu
