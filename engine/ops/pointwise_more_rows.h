// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"

namespace tapescope::engine {

// Functions of one real number (pointwise_math.cpp, pointwise_special.cpp).
extern OpDef kAcos, kAsin, kAtan, kAcosh, kAsinh, kAtanh, kSinh, kCosh, kTan, kExpm1, kExp2, kLog1p,
    kLog2, kLog10, kDeg2rad, kRad2deg, kSinc, kLogit;
extern OpDef kErf, kErfc, kErfinv, kLgamma, kDigamma, kPolygamma;
// Rounding and signs (pointwise_round.cpp).
extern OpDef kCeil, kRound, kTrunc, kFrac, kSgn, kNanToNum;
// Activations (pointwise_activations.cpp, pointwise_gates.cpp).
extern OpDef kHardtanh, kRelu6, kHardswish, kHardsigmoid, kMish, kSelu, kCelu, kLogSigmoid,
    kSoftsign, kTanhshrink, kHardshrink, kSoftshrink, kThreshold, kPrelu, kGlu;
extern OpDef kHardswishBackward, kMishBackward, kGeluTanh, kGeluTanhBackward;
// Two operands (pointwise_arithmetic.cpp, pointwise_binary_math.cpp, pointwise_bits.cpp).
extern OpDef kRemainder, kFmod, kFloorDivide, kDivTrunc, kFmax, kFmin, kClampMin, kClampMax,
    kHeaviside;
extern OpDef kAtan2, kHypot, kCopysign, kLogAddExp, kLogAddExp2, kNextafter, kXlogy;
extern OpDef kBitwiseAnd, kBitwiseOr, kBitwiseXor, kBitwiseNot, kBitwiseLeftShift,
    kBitwiseRightShift, kGcd, kLcm;
// Three operands (pointwise_ternary.cpp).
extern OpDef kAddcmul, kAddcdiv;

// What each source contributes to the table.
std::span<OpDef* const> mathRows();
std::span<OpDef* const> specialRows();
std::span<OpDef* const> roundRows();
std::span<OpDef* const> activationRows();
std::span<OpDef* const> gateRows();
std::span<OpDef* const> arithmeticRows();
std::span<OpDef* const> binaryMathRows();
std::span<OpDef* const> bitRows();
std::span<OpDef* const> ternaryRows();
std::span<OpDef* const> testRows();
std::span<OpDef* const> creationRows();
std::span<OpDef* const> randomDrawRows();
std::span<OpDef* const> inplaceRows();

}  // namespace tapescope::engine
