// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <limits>

namespace tapescope::engine {

// Elementwise functions of one operand beyond those of pointwise.h; PyTorch's definitions. Those of
// real numbers take integers and bools as float32; outside their domain they give NaN.
Tensor acos(const Tensor& x, Site site = {});
Tensor asin(const Tensor& x, Site site = {});
Tensor atan(const Tensor& x, Site site = {});
Tensor acosh(const Tensor& x, Site site = {});
Tensor asinh(const Tensor& x, Site site = {});
Tensor atanh(const Tensor& x, Site site = {});
Tensor sinh(const Tensor& x, Site site = {});
Tensor cosh(const Tensor& x, Site site = {});
Tensor tan(const Tensor& x, Site site = {});
Tensor expm1(const Tensor& x, Site site = {});
Tensor exp2(const Tensor& x, Site site = {});
Tensor log1p(const Tensor& x, Site site = {});
Tensor log2(const Tensor& x, Site site = {});
Tensor log10(const Tensor& x, Site site = {});
Tensor deg2rad(const Tensor& x, Site site = {});
Tensor rad2deg(const Tensor& x, Site site = {});
Tensor sinc(const Tensor& x, Site site = {});  ///< sin(pi x) / (pi x), 1 at 0
/// log(x / (1 - x)). eps >= 0: x is first clamped to [eps, 1 - eps].
Tensor logit(const Tensor& x, double eps = -1, Site site = {});

Tensor erf(const Tensor& x, Site site = {});
Tensor erfc(const Tensor& x, Site site = {});
Tensor erfinv(const Tensor& x, Site site = {});
Tensor lgamma(const Tensor& x, Site site = {});
Tensor digamma(const Tensor& x, Site site = {});
/// The n-th derivative of digamma. Throws Error for negative n.
Tensor polygamma(std::int64_t n, const Tensor& x, Site site = {});

// Rounding keeps the dtype; integers come back as they are.
Tensor ceil(const Tensor& x, Site site = {});
Tensor trunc(const Tensor& x, Site site = {});
/// Half to even, to `decimals` places (negative: to tens, hundreds). Throws DTypeError for decimals
/// of integers.
Tensor round(const Tensor& x, std::int64_t decimals = 0, Site site = {});
Tensor frac(const Tensor& x, Site site = {});  ///< x - trunc(x); floating only
Tensor sgn(const Tensor& x, Site site = {});   ///< sign; x / |x| for complex
/// x itself. Throws DTypeError for bool.
Tensor positive(const Tensor& x, Site site = {});
/// Replaces NaN and the infinities; by default the infinities by the largest finite numbers.
Tensor nan_to_num(const Tensor& x, double nan = 0,
                  double posinf = std::numeric_limits<double>::infinity(),
                  double neginf = -std::numeric_limits<double>::infinity(), Site site = {});

// Tests give bool.
Tensor signbit(const Tensor& x, Site site = {});  ///< true for -0.0
Tensor isfinite(const Tensor& x, Site site = {});
Tensor isposinf(const Tensor& x, Site site = {});
Tensor isneginf(const Tensor& x, Site site = {});

}  // namespace tapescope::engine
