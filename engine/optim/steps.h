// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

namespace tapescope::engine {

// One optimiser update of one parameter, fused: one pass over memory, one row of the timeline. They
// write param and the state in place and return param. All tensors: the same sizes and floating
// dtype; param and the state contiguous. Numbers that change from step to step are attributes of
// kind Float, so that all steps share one graph. maximize: the gradient counts negated. g below is
// grad + weight_decay · param; where a step takes a shrink, param is multiplied by it first
// (decoupled weight decay: 1 - lr · weight_decay).

struct SgdStep {
    double lr = 0;
    double momentum = 0;
    double dampening = 0;
    double weight_decay = 0;
    bool nesterov = false;
    bool maximize = false;
};
/// buffer = momentum · buffer + (1 - dampening) · g; param -= lr · (nesterov ? g + momentum ·
/// buffer : buffer). Without momentum the buffer is undefined and g is used.
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
    bool maximize = false;
};
/// m = beta1·m + (1-beta1)·g; v = beta2·v + (1-beta2)·g²; param -= lr/bc1 · m / (√v/√bc2 + eps).
/// max_exp_avg_sq may be undefined; else (amsgrad) it keeps the largest v and stands in for it.
Tensor adam_step_(const Tensor& param, const Tensor& grad, const Tensor& exp_avg,
                  const Tensor& exp_avg_sq, const Tensor& max_exp_avg_sq, const AdamStep& step,
                  Site site = {});
Tensor adam_step_(const Tensor& param, const Tensor& grad, const Tensor& exp_avg,
                  const Tensor& exp_avg_sq, const AdamStep& step, Site site = {});

struct RmspropStep {
    double lr = 0;
    double alpha = 0.99;
    double eps = 1e-8;
    double weight_decay = 0;
    double momentum = 0;
    bool maximize = false;
};
/// v = alpha·v + (1-alpha)·g²; u = g / (√(v - a²) + eps), where a, the averaged gradient, is 0 if
/// grad_avg is undefined; with momentum b = momentum·b + u; param -= lr·b, else lr·u.
Tensor rmsprop_step_(const Tensor& param, const Tensor& grad, const Tensor& square_avg,
                     const Tensor& momentum_buffer, const Tensor& grad_avg, const RmspropStep& step,
                     Site site = {});

struct AdagradStep {
    double lr = 0;  ///< of this step, decayed
    double weight_decay = 0;
    double eps = 1e-10;
    bool maximize = false;
};
/// s += g²; param -= lr · g / (√s + eps).
Tensor adagrad_step_(const Tensor& param, const Tensor& grad, const Tensor& state_sum,
                     const AdagradStep& step, Site site = {});

struct AdadeltaStep {
    double lr = 1;
    double rho = 0.9;
    double eps = 1e-6;
    double weight_decay = 0;
    bool maximize = false;
};
/// v = rho·v + (1-rho)·g²; d = √(a + eps)/√(v + eps) · g; a = rho·a + (1-rho)·d²; param -= lr·d.
Tensor adadelta_step_(const Tensor& param, const Tensor& grad, const Tensor& square_avg,
                      const Tensor& acc_delta, const AdadeltaStep& step, Site site = {});

struct AdamaxStep {
    double step_size = 0;  ///< lr / (1 - beta1^t)
    double beta1 = 0.9;
    double beta2 = 0.999;
    double eps = 1e-8;
    double weight_decay = 0;
    bool maximize = false;
};
/// m = beta1·m + (1-beta1)·g; u = max(beta2·u, |g| + eps); param -= step_size · m/u.
Tensor adamax_step_(const Tensor& param, const Tensor& grad, const Tensor& exp_avg,
                    const Tensor& exp_inf, const AdamaxStep& step, Site site = {});

struct RpropStep {
    double etaminus = 0.5;
    double etaplus = 1.2;
    double step_size_min = 1e-6;
    double step_size_max = 50;
    bool maximize = false;
};
/// step_size grows by etaplus where the gradient kept its sign (prev) and shrinks by etaminus where
/// it turned, there without a step; param -= sign(g) · step_size.
Tensor rprop_step_(const Tensor& param, const Tensor& grad, const Tensor& prev,
                   const Tensor& step_size, const RpropStep& step, Site site = {});

struct NadamStep {
    double grad_rate = 0;      ///< lr · (1 - mu_t) / (1 - Π mu)
    double momentum_rate = 0;  ///< lr · mu_(t+1) / (1 - Π mu · mu_(t+1))
    double beta1 = 0.9;
    double beta2 = 0.999;
    double eps = 1e-8;
    double weight_decay = 0;
    double shrink = 1;
    double bias_correction2 = 1;
    bool maximize = false;
};
/// m, v as Adam's; d = √(v/bc2) + eps; param -= (grad_rate · g + momentum_rate · m) / d.
Tensor nadam_step_(const Tensor& param, const Tensor& grad, const Tensor& exp_avg,
                   const Tensor& exp_avg_sq, const NadamStep& step, Site site = {});

struct RadamStep {
    double step_size = 0;  ///< lr / bc1, times √bc2 · rectification where rectified
    double beta1 = 0.9;
    double beta2 = 0.999;
    double eps = 1e-8;
    double weight_decay = 0;
    double shrink = 1;
    bool rectified = false;
    bool maximize = false;
};
/// m, v as Adam's; param -= step_size · m, divided by √v + eps where rectified.
Tensor radam_step_(const Tensor& param, const Tensor& grad, const Tensor& exp_avg,
                   const Tensor& exp_avg_sq, const RadamStep& step, Site site = {});

struct LionStep {
    double lr = 0;
    double beta1 = 0.9;
    double beta2 = 0.99;
    double shrink = 1;
    bool maximize = false;
};
/// param -= lr · sign(beta1·m + (1-beta1)·grad); m = beta2·m + (1-beta2)·grad.
Tensor lion_step_(const Tensor& param, const Tensor& grad, const Tensor& exp_avg,
                  const LionStep& step, Site site = {});

struct AsgdStep {
    double eta = 0;
    double lambd = 1e-4;
    double mu = 1;
    double weight_decay = 0;
    bool maximize = false;
};
/// param = param · (1 - lambd · eta) - eta · g; ax += mu · (param - ax).
Tensor asgd_step_(const Tensor& param, const Tensor& grad, const Tensor& ax, const AsgdStep& step,
                  Site site = {});

}  // namespace tapescope::engine
