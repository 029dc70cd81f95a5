// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

namespace tapescope::engine::cpu {

/// x [N, C, d...] or [C] with one class of C for each position; weight [C] or undefined.
struct NllArgs {
    std::int64_t batch = 1;
    std::int64_t classes = 1;
    std::int64_t plane = 1;  ///< elements of d...
    std::int64_t ignoreIndex = -100;
    Tensor target;  ///< int64, batch * plane elements
    Tensor weight;
};

/// Throws IndexError naming a target that is neither a class nor ignored.
void nllCheck(std::string_view op, const NllArgs& args);
/// The weights of the targets that count, together.
double nllWeight(const NllArgs& args, DType dtype);
/// out: one term a target, 0 where it is ignored.
void nllTerms(const NllArgs& args, const Tensor& x, const Tensor& out);
/// out 0-d: their sum; divided by nllWeight if mean.
void nllSum(const NllArgs& args, const Tensor& x, bool mean, const Tensor& out);
/// out of x's sizes. grad: one a target, or 0-d; divided by nllWeight if mean.
void nllBackward(const NllArgs& args, const Tensor& grad, bool mean, const Tensor& out);

}  // namespace tapescope::engine::cpu
