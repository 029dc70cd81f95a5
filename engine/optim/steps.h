// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

namespace tapescope::engine {

// One optimiser update of one parameter, fused: one pass over memory, one row of the timeline. They
// write param and the state in place and return param. All tensors: the same sizes and floating
// dtype; param and the state contiguous. Numbers that change from step to step are attributes of
// kind Float, so that all steps share one graph.

struct SgdStep {
    double lr = 0;
    double momentum = 0;
    double dampening = 0;
    double weight_decay = 0;
    bool nesterov = false;
};
/// g = grad + weight_decay · param; buffer = momentum · buffer + (1 - dampening) · g;
/// param -= lr · (nesterov ? g + momentum · buffer : buffer). Without momentum the buffer is
/// undefined and g is used.
Tensor sgd_step_(const Tensor& param, const Tensor& grad, const Tensor& momentum_buffer,
                 const SgdStep& step, Site site = {});

struct AdamStep {
    double lr = 0;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double eps = 1e-8;
    double weight_decay = 0;
    double bias_correction1 = 1;  ///< 1 - beta1^t
    double bias_correction2 = 1;  ///< 1 - beta2^t
    bool decoupled = false;  ///< AdamW: param shrinks by lr · weight_decay; else the decay is part
                             ///< of the gradient
};
/// m = beta1·m + (1-beta1)·g; v = beta2·v + (1-beta2)·g²; param -= lr/bc1 · m / (√v/√bc2 + eps).
Tensor adam_step_(const Tensor& param, const Tensor& grad, const Tensor& exp_avg,
                  const Tensor& exp_avg_sq, const AdamStep& step, Site site = {});

}  // namespace tapescope::engine
