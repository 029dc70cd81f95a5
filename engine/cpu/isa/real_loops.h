// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/isa/loops.h"

// Inner loops of functions of real numbers: float and double only. See loops.h for the rules of
// this folder; LoopParams carries the operator's numbers, in order.
namespace tapescope::engine::cpu {

enum class RealUnary : std::uint8_t {
    Erf,
    Erfc,
    Erfinv,
    Atanh,
    Lgamma,
    Expm1,
    Log1p,
    Exp2,
    Log2,
    Tan,
    Asin,
    Acos,
    Atan,
    Ceil,
    Trunc,
    Round,  ///< half to even
    Frac,
    GeluTanh,
    Hardswish,
    Hardsigmoid,
    Mish,
    Selu,
    Celu,  ///< a: alpha
    LogSigmoid,
    Softsign,
    Tanhshrink,
    Hardshrink,  ///< a: lambd
    Softshrink,  ///< a: lambd
    Threshold,   ///< a: threshold, b: value
    kCount
};
/// The *Backward ones take the output gradient and the input.
enum class RealBinary : std::uint8_t {
    Atan2,
    Hypot,
    LogAddExp,
    Fmod,
    Remainder,
    FloorDivide,
    GeluTanhBackward,
    HardswishBackward,
    MishBackward,
    kCount
};

struct RealTable {
    UnaryLoop f32[static_cast<int>(RealUnary::kCount)];
    UnaryLoop f64[static_cast<int>(RealUnary::kCount)];
};
struct RealBinaryTable {
    BinaryLoop f32[static_cast<int>(RealBinary::kCount)];
    BinaryLoop f64[static_cast<int>(RealBinary::kCount)];
};

#define TAPESCOPE_DECLARE_ISA(isa)                 \
    namespace isa {                                \
    extern const RealTable kRealTable;             \
    extern const RealBinaryTable kRealBinaryTable; \
    }
TAPESCOPE_DECLARE_ISA(base)
TAPESCOPE_DECLARE_ISA(avx2)
TAPESCOPE_DECLARE_ISA(avx512)
#undef TAPESCOPE_DECLARE_ISA

}  // namespace tapescope::engine::cpu
