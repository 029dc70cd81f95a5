// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"

namespace tapescope::engine {

/// The gradient of batch_norm_backward and layer_norm_backward (grad, input, mean, invstd, weight →
/// gradients of input, weight, bias) in all five inputs. overStatistics: the dimensions mean and
/// invstd were taken over; overWeight: those weight is shared along. statisticsShape, weightShape:
/// mean and weight as they broadcast to input. fromInput: mean and invstd are input's own.
struct NormBackward {
    Dims view{};  ///< grad and input are seen with these sizes; empty: their own
    Dims overStatistics;
    Dims overWeight;
    Dims statisticsShape;
    Dims weightShape;
    bool fromInput = true;
};
void vjpNormBackward(const VjpArgs& v, const NormBackward& norm, std::span<Tensor> grads);

/// The input gradient of a normalisation, in differentiable operators: g is the gradient of the
/// normalised values; the statistics are those of x over dims.
Tensor normalizationInputGrad(const Tensor& g, const Tensor& x, const Dims& dims, double eps);
/// (x - mean) / sqrt(var + eps) over dims, differentiable.
Tensor normalizedOver(const Tensor& x, const Dims& dims, double eps);

}  // namespace tapescope::engine
