// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

namespace tapescope::engine::cpu {

/// input [N, C, ...] in groups of C / groups channels: mean 0 and variance 1 each, then * weight +
/// bias [C] (or undefined). mean, invstd [N, groups].
void groupNorm(const Tensor& input, std::int64_t groups, const Tensor& weight, const Tensor& bias,
               double eps, const Tensor& out, const Tensor& mean, const Tensor& invstd);
void groupNormBackward(const Tensor& grad, const Tensor& input, std::int64_t groups,
                       const Tensor& weight, const Tensor& mean, const Tensor& invstd,
                       const Tensor& gradInput, const Tensor& gradWeight, const Tensor& gradBias);

}  // namespace tapescope::engine::cpu
