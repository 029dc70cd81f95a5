// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <functional>
#include <span>
#include <vector>

namespace tapescope::engine {

struct GradcheckOptions {
    double eps = 1e-6;
    double atol = 1e-5;
    double rtol = 1e-3;
    bool raise_exception = true;  ///< else the answer is the return value alone
};

/// torch.autograd.gradcheck: compares the gradients of fn with central differences, element by
/// element, for every floating-point input that requires a gradient. Meant for f64: throws
/// DTypeError for others, AutogradError where they disagree ("output 0, input 1: …") or nothing
/// requires one.
bool gradcheck(const std::function<std::vector<Tensor>(std::span<const Tensor>)>& fn,
               std::span<const Tensor> inputs, GradcheckOptions options = {}, Site site = {});
/// The same for the gradients themselves, with fixed random gradients of the outputs.
bool gradgradcheck(const std::function<std::vector<Tensor>(std::span<const Tensor>)>& fn,
                   std::span<const Tensor> inputs, GradcheckOptions options = {}, Site site = {});

}  // namespace tapescope::engine
