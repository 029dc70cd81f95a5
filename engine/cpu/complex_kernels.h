// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/isa/loops.h"
#include "engine/tensor/tensor.h"

#include <span>

namespace tapescope::engine::cpu {

// Elementwise on complex64; inputs broadcast to out, which may be an input itself. Products and
// quotients follow IEEE arithmetic part by part, without C99's rules for infinities, as PyTorch's.
void complexUnary(UnaryOp op, const Tensor& x, const Tensor& out);
void complexBinary(BinaryOp op, const Tensor& a, const Tensor& b, const Tensor& out);
/// Eq and Ne.
void complexCompare(CompareOp op, const Tensor& a, const Tensor& b, const Tensor& out);
void complexTest(TestOp op, const Tensor& x, const Tensor& out);
bool takesComplex(UnaryOp op);
bool takesComplex(BinaryOp op);

// One operand and another type of element.
void complexConj(const Tensor& x, const Tensor& out);
/// x / |x|, 0 where x is 0.
void complexSgn(const Tensor& x, const Tensor& out);
/// float32: atan2(imag, real).
void complexAngle(const Tensor& x, const Tensor& out);
/// From float32 magnitudes and angles.
void complexPolar(const Tensor& magnitude, const Tensor& angle, const Tensor& out);

/// Sums over the dimensions in mask, divided by divisor, in double.
void complexSum(const Tensor& x, const Dims& dims, double divisor, const Tensor& out);

}  // namespace tapescope::engine::cpu
