// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/families.h"
#include "engine/ops/pointwise_rows.h"

namespace tapescope::engine {
namespace {

constinit OpDef* const kRows[] = {&kAdd,          &kSub,          &kMul,
                                  &kDiv,          &kPow,          &kMaximum,
                                  &kMinimum,      &kLerp,         &kNeg,
                                  &kAbs,          &kSign,         &kExp,
                                  &kLog,          &kSqrt,         &kRsqrt,
                                  &kSquare,       &kReciprocal,   &kSin,
                                  &kCos,          &kTanh,         &kSigmoid,
                                  &kFloor,        &kRelu,         &kLeakyRelu,
                                  &kElu,          &kGelu,         &kSilu,
                                  &kSoftplus,     &kClamp,        &kWhere,
                                  &kMaskedFill,   &kTo,           &kAddInplace,
                                  &kSubInplace,   &kMulInplace,   &kDivInplace,
                                  &kReluInplace,  &kFillInplace,  &kZeroInplace,
                                  &kCopyInplace,  &kReluBackward, &kLeakyReluBackward,
                                  &kGeluBackward, &kTanhBackward, &kSigmoidBackward};

}  // namespace

std::span<OpDef* const> pointwiseOps() { return kRows; }

}  // namespace tapescope::engine
