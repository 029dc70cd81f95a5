// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

namespace tapescope::engine::cpu {

/// Batch statistics of input [N, C, ...] into mean and invstd [C]; with running_* defined also
/// folds them in there, in place.
void batchNormStatistics(const Tensor& input, const Tensor& runningMean, const Tensor& runningVar,
                         double momentum, double eps, const Tensor& mean, const Tensor& invstd);
/// mean and invstd from the running statistics.
void batchNormFromRunning(const Tensor& runningMean, const Tensor& runningVar, double eps,
                          const Tensor& mean, const Tensor& invstd);
/// out = (input - mean) * invstd * weight + bias; weight and bias may be undefined.
void batchNormApply(const Tensor& input, const Tensor& weight, const Tensor& bias,
                    const Tensor& mean, const Tensor& invstd, const Tensor& out);
/// Gradients of the above; training: mean and invstd came from the batch.
void batchNormBackward(const Tensor& grad, const Tensor& input, const Tensor& weight,
                       const Tensor& mean, const Tensor& invstd, bool training,
                       const Tensor& gradInput, const Tensor& gradWeight, const Tensor& gradBias);

/// Rows of `length` elements to mean 0 and variance 1, then * weight + bias [length] (or
/// undefined).
void layerNorm(const Tensor& input, std::int64_t length, const Tensor& weight, const Tensor& bias,
               double eps, const Tensor& out, const Tensor& mean, const Tensor& invstd);
void layerNormBackward(const Tensor& grad, const Tensor& input, std::int64_t length,
                       const Tensor& weight, const Tensor& mean, const Tensor& invstd,
                       const Tensor& gradInput, const Tensor& gradWeight, const Tensor& gradBias);

}  // namespace tapescope::engine::cpu
