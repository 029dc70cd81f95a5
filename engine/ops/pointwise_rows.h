// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"

namespace tapescope::engine {

// Two operands (pointwise_binary.cpp) and three (pointwise_select.cpp).
extern OpDef kAdd, kSub, kMul, kDiv, kPow, kMaximum, kMinimum;
extern OpDef kLerp, kWhere, kMaskedFill, kTo;
// One operand (pointwise_unary.cpp).
extern OpDef kNeg, kAbs, kSign, kExp, kLog, kSqrt, kRsqrt, kSquare, kReciprocal, kSin, kCos, kTanh,
    kSigmoid, kFloor;
extern OpDef kTanhBackward, kSigmoidBackward;
// Activations (pointwise_activation.cpp).
extern OpDef kRelu, kLeakyRelu, kElu, kGelu, kSilu, kSoftplus, kClamp;
extern OpDef kReluBackward, kLeakyReluBackward, kGeluBackward;
// In place (pointwise_inplace.cpp).
extern OpDef kAddInplace, kSubInplace, kMulInplace, kDivInplace, kReluInplace, kFillInplace,
    kZeroInplace, kCopyInplace;

// Shared by an operator and its in-place form.
void addVjp(const VjpArgs& a, std::span<Tensor> out);
void subVjp(const VjpArgs& a, std::span<Tensor> out);
void mulVjp(const VjpArgs& a, std::span<Tensor> out);
void divVjp(const VjpArgs& a, std::span<Tensor> out);
void reluVjp(const VjpArgs& a, std::span<Tensor> out);

/// Throws ShapeError "add: shapes [2, 3] and [4] do not broadcast".
Dims broadcastOf(std::string_view op, const Dims& a, const Dims& b);

/// One floating operand; the output looks like it.
template <const OpDef& row>
void inferLikeInput(const OpArgs& args, OutputMetas& out) {
    out.add(args[0].sizes(), args[0].dtype());
}
/// The operands, already of one dtype, broadcast.
template <const OpDef& row>
void inferBroadcast(const OpArgs& args, OutputMetas& out) {
    out.add(broadcastOf(row.name, args[0].sizes(), args[1].sizes()), args[0].dtype());
}
/// Writes input 0: what it reads must broadcast to it.
void inferInplaceFor(const OpDef& row, const OpArgs& args, OutputMetas& out);
template <const OpDef& row>
void inferInplace(const OpArgs& args, OutputMetas& out) {
    inferInplaceFor(row, args, out);
}

}  // namespace tapescope::engine
