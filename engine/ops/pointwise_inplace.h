// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/pointwise.h"

#include <limits>

namespace tapescope::engine {

// In-place forms of operators, beyond those of pointwise.h. They return x, throw ShapeError where
// the result would not have x's shape and DTypeError where it would not fit its dtype, and count as
// a write: what backward saved of x before throws InPlaceError.
Tensor neg_(const Tensor& x, Site site = {});
Tensor abs_(const Tensor& x, Site site = {});
Tensor sign_(const Tensor& x, Site site = {});
Tensor exp_(const Tensor& x, Site site = {});
Tensor exp2_(const Tensor& x, Site site = {});
Tensor expm1_(const Tensor& x, Site site = {});
Tensor log_(const Tensor& x, Site site = {});
Tensor log2_(const Tensor& x, Site site = {});
Tensor log10_(const Tensor& x, Site site = {});
Tensor log1p_(const Tensor& x, Site site = {});
Tensor sqrt_(const Tensor& x, Site site = {});
Tensor rsqrt_(const Tensor& x, Site site = {});
Tensor square_(const Tensor& x, Site site = {});
Tensor reciprocal_(const Tensor& x, Site site = {});
Tensor sin_(const Tensor& x, Site site = {});
Tensor cos_(const Tensor& x, Site site = {});
Tensor tan_(const Tensor& x, Site site = {});
Tensor sinh_(const Tensor& x, Site site = {});
Tensor cosh_(const Tensor& x, Site site = {});
Tensor tanh_(const Tensor& x, Site site = {});
Tensor erf_(const Tensor& x, Site site = {});
Tensor erfc_(const Tensor& x, Site site = {});
Tensor sigmoid_(const Tensor& x, Site site = {});
Tensor floor_(const Tensor& x, Site site = {});
Tensor ceil_(const Tensor& x, Site site = {});
Tensor trunc_(const Tensor& x, Site site = {});
Tensor frac_(const Tensor& x, Site site = {});
Tensor round_(const Tensor& x, std::int64_t decimals = 0, Site site = {});
Tensor nan_to_num_(const Tensor& x, double nan = 0,
                   double posinf = std::numeric_limits<double>::infinity(),
                   double neginf = -std::numeric_limits<double>::infinity(), Site site = {});

Tensor pow_(const Tensor& x, const Operand& exponent, Site site = {});
Tensor remainder_(const Tensor& x, const Operand& other, Site site = {});
Tensor fmod_(const Tensor& x, const Operand& other, Site site = {});
Tensor floor_divide_(const Tensor& x, const Operand& other, Site site = {});
Tensor atan2_(const Tensor& x, const Operand& other, Site site = {});
Tensor clamp_(const Tensor& x, double min, double max, Site site = {});
Tensor clamp_min_(const Tensor& x, const Operand& min, Site site = {});
Tensor clamp_max_(const Tensor& x, const Operand& max, Site site = {});
Tensor bitwise_and_(const Tensor& x, const Operand& other, Site site = {});
Tensor bitwise_or_(const Tensor& x, const Operand& other, Site site = {});
Tensor bitwise_xor_(const Tensor& x, const Operand& other, Site site = {});
Tensor masked_fill_(const Tensor& x, const Tensor& mask, double value, Site site = {});
Tensor lerp_(const Tensor& x, const Tensor& end, const Tensor& weight, Site site = {});
Tensor lerp_(const Tensor& x, const Tensor& end, double weight, Site site = {});
Tensor addcmul_(const Tensor& x, const Tensor& a, const Tensor& b, double value = 1,
                Site site = {});
Tensor addcdiv_(const Tensor& x, const Tensor& a, const Tensor& b, double value = 1,
                Site site = {});

Tensor leaky_relu_(const Tensor& x, double negative_slope = 0.01, Site site = {});
Tensor elu_(const Tensor& x, double alpha = 1, Site site = {});
Tensor selu_(const Tensor& x, Site site = {});
Tensor celu_(const Tensor& x, double alpha = 1, Site site = {});
Tensor silu_(const Tensor& x, Site site = {});
Tensor mish_(const Tensor& x, Site site = {});
Tensor hardtanh_(const Tensor& x, double min_val = -1, double max_val = 1, Site site = {});
Tensor relu6_(const Tensor& x, Site site = {});
Tensor hardswish_(const Tensor& x, Site site = {});
Tensor hardsigmoid_(const Tensor& x, Site site = {});
Tensor threshold_(const Tensor& x, double threshold, double value, Site site = {});

// The forms of pointwise.h for numbers.
Tensor add_(const Tensor& x, double other, Site site = {});
Tensor sub_(const Tensor& x, double other, Site site = {});
Tensor mul_(const Tensor& x, double other, Site site = {});
Tensor div_(const Tensor& x, double other, Site site = {});

}  // namespace tapescope::engine
