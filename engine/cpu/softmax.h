// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

namespace tapescope::engine::cpu {

/// out = softmax of x, or its logarithm, along dim. out is contiguous.
void softmaxInto(const Tensor& x, int dim, bool logarithm, const Tensor& out);
/// Gradient of the same given the output y and its gradient.
void softmaxBackwardInto(const Tensor& grad, const Tensor& y, int dim, bool logarithm,
                         const Tensor& out);

}  // namespace tapescope::engine::cpu
