// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/pointwise.h"

#include <string_view>

namespace tapescope::engine {

// Elementwise functions of two and three operands beyond those of pointwise.h, with broadcasting
// and type promotion; an Operand is a tensor or a number. PyTorch's definitions.

// Division. Integers divided by 0 throw Error.
Tensor remainder(const Operand& a, const Operand& b, Site site = {});  ///< b's sign, as Python's %
Tensor fmod(const Operand& a, const Operand& b, Site site = {});       ///< a's sign, as C's fmod
Tensor floor_divide(const Operand& a, const Operand& b, Site site = {});
Tensor true_divide(const Operand& a, const Operand& b, Site site = {});  ///< div
/// rounding_mode: "" (none), "floor" or "trunc". Throws Error for another word.
Tensor div(const Operand& a, const Operand& b, std::string_view rounding_mode, Site site = {});

// Of real numbers; integers are taken as float32 by atan2, copysign, xlogy, float_power.
Tensor atan2(const Operand& y, const Operand& x, Site site = {});
Tensor hypot(const Operand& a, const Operand& b, Site site = {});
Tensor copysign(const Operand& a, const Operand& b, Site site = {});
Tensor logaddexp(const Operand& a, const Operand& b, Site site = {});
Tensor logaddexp2(const Operand& a, const Operand& b, Site site = {});
Tensor nextafter(const Operand& a, const Operand& b, Site site = {});
Tensor xlogy(const Operand& a, const Operand& b, Site site = {});        ///< a log(b), 0 at a = 0
Tensor float_power(const Operand& a, const Operand& b, Site site = {});  ///< pow in float64
Tensor ldexp(const Operand& a, const Operand& b, Site site = {});        ///< a 2^b

/// 0 where x < 0, values where x = 0, else 1. Both of one dtype.
Tensor heaviside(const Operand& x, const Operand& values, Site site = {});
Tensor fmax(const Operand& a, const Operand& b, Site site = {});  ///< a number wins over NaN
Tensor fmin(const Operand& a, const Operand& b, Site site = {});
Tensor clamp_min(const Operand& x, const Operand& min, Site site = {});
Tensor clamp_max(const Operand& x, const Operand& max, Site site = {});
/// An undefined bound is none; throws Error where both are. The upper bound wins where they cross.
Tensor clamp(const Tensor& x, const Tensor& min, const Tensor& max, Site site = {});

// Of integers and bools. Shifts by less than 0 or more than 63 shift every bit out.
Tensor bitwise_and(const Operand& a, const Operand& b, Site site = {});
Tensor bitwise_or(const Operand& a, const Operand& b, Site site = {});
Tensor bitwise_xor(const Operand& a, const Operand& b, Site site = {});
Tensor bitwise_not(const Tensor& x, Site site = {});
Tensor bitwise_left_shift(const Operand& a, const Operand& b, Site site = {});
Tensor bitwise_right_shift(const Operand& a, const Operand& b, Site site = {});
Tensor gcd(const Operand& a, const Operand& b, Site site = {});
Tensor lcm(const Operand& a, const Operand& b, Site site = {});

Tensor logical_xor(const Operand& a, const Operand& b, Site site = {});
/// |a - b| <= atol + rtol |b|, bool. Infinities are close if equal, NaNs if equal_nan.
Tensor isclose(const Operand& a, const Operand& b, double rtol = 1e-5, double atol = 1e-8,
               bool equal_nan = false, Site site = {});
bool allclose(const Tensor& a, const Tensor& b, double rtol = 1e-5, double atol = 1e-8,
              bool equal_nan = false, Site site = {});
/// The same shape and values (a NaN equals nothing). Throws DTypeError unless both have one dtype.
bool equal(const Tensor& a, const Tensor& b, Site site = {});

/// x + value a b
Tensor addcmul(const Tensor& x, const Tensor& a, const Tensor& b, double value = 1, Site site = {});
/// x + value a / b; floating only.
Tensor addcdiv(const Tensor& x, const Tensor& a, const Tensor& b, double value = 1, Site site = {});
Tensor lerp(const Tensor& start, const Tensor& end, double weight, Site site = {});
Tensor where(const Tensor& condition, const Operand& a, const Operand& b, Site site = {});
/// value: a 0-d tensor, converted to x's dtype.
Tensor masked_fill(const Tensor& x, const Tensor& mask, const Tensor& value, Site site = {});

}  // namespace tapescope::engine
