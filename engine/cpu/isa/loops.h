// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Inner loops of the CPU kernels. Every source in this folder is compiled once per instruction set,
// with TAPESCOPE_ISA set to the namespace its symbols go to. Such a source includes nothing but
// <cstdint> and the headers of this folder, and keeps its functions in an unnamed namespace: an
// inline function of the standard library compiled for AVX-512 could otherwise be the one copy the
// linker keeps, and crash older machines.
namespace tapescope::engine::cpu {

/// Indexed by DType: bool, int64, float, double, float16, bfloat16, int32, int16, int8, uint8.
inline constexpr int kLoopTypes = 10;

/// Elementwise with the result in the type of the operand.
enum class UnaryOp : std::uint8_t {
    Neg,
    Abs,
    Sign,
    Exp,
    Log,
    Sqrt,
    Rsqrt,
    Square,
    Reciprocal,
    Sin,
    Cos,
    Tanh,
    Sigmoid,
    Floor,
    Relu,
    LeakyRelu,
    Elu,
    Gelu,
    Silu,
    Softplus,
    Clamp,
    kCount
};
/// Elementwise with a bool result.
enum class TestOp : std::uint8_t { Not, IsNan, IsInf, kCount };
/// The *Backward ones take the output gradient and what forward kept.
enum class BinaryOp : std::uint8_t {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Maximum,
    Minimum,
    ReluBackward,
    LeakyReluBackward,
    TanhBackward,
    SigmoidBackward,
    GeluBackward,
    kCount
};
enum class CompareOp : std::uint8_t { Eq, Ne, Lt, Le, Gt, Ge, And, Or, kCount };
enum class TernaryOp : std::uint8_t {
    Where,  ///< the first operand is bool
    Lerp,
    kCount
};
/// How a reduction takes in an element. Squares etc. are sums of a function of it.
enum class ReduceOp : std::uint8_t {
    Sum,
    Prod,
    Max,
    Min,
    Any,
    All,
    Squares,
    SquaredDiff,  ///< (x - p)^2
    ExpDiff,      ///< exp(x - p)
    kCount
};

/// Numbers an operator is called with: clamp's bounds, leaky_relu's slope.
struct LoopParams {
    double a = 0;
    double b = 0;
};

// n elements; strides in elements, 0 to repeat one. out may be one of the inputs, but not partly
// overlap one.
using UnaryLoop = void (*)(std::int64_t n, void* out, std::int64_t outStride, const void* x,
                           std::int64_t xStride, const LoopParams& params);
using BinaryLoop = void (*)(std::int64_t n, void* out, std::int64_t outStride, const void* a,
                            std::int64_t aStride, const void* b, std::int64_t bStride,
                            const LoopParams& params);
using TernaryLoop = void (*)(std::int64_t n, void* out, std::int64_t outStride, const void* a,
                             std::int64_t aStride, const void* b, std::int64_t bStride,
                             const void* c, std::int64_t cStride);
/// Takes n elements into *acc: a double for floating x, else an int64. param: the same type, may be
/// null.
using RowReduceLoop = void (*)(std::int64_t n, const void* x, std::int64_t stride, void* acc,
                               const void* param);
/// Takes rows of `columns` unit-stride elements into acc[columns].
using ColumnReduceLoop = void (*)(std::int64_t rows, std::int64_t rowStride, std::int64_t columns,
                                  const void* x, void* acc, const void* params);

/// [to][from]
struct ConvertTable {
    UnaryLoop loops[kLoopTypes][kLoopTypes];
};
// A null entry: the operator does not take that type, or only by way of the one it calculates in
// (computeType).
struct UnaryTable {
    UnaryLoop loops[static_cast<int>(UnaryOp::kCount)][kLoopTypes];
    UnaryLoop tests[static_cast<int>(TestOp::kCount)][kLoopTypes];
};
struct BinaryTable {
    BinaryLoop loops[static_cast<int>(BinaryOp::kCount)][kLoopTypes];
    BinaryLoop compares[static_cast<int>(CompareOp::kCount)][kLoopTypes];
    TernaryLoop ternary[static_cast<int>(TernaryOp::kCount)][kLoopTypes];
};
struct ReduceTable {
    RowReduceLoop rows[static_cast<int>(ReduceOp::kCount)][kLoopTypes];
    ColumnReduceLoop columns[static_cast<int>(ReduceOp::kCount)][kLoopTypes];
};

#define TAPESCOPE_DECLARE_ISA(isa)           \
    namespace isa {                          \
    extern const ConvertTable kConvertTable; \
    extern const UnaryTable kUnaryTable;     \
    extern const BinaryTable kBinaryTable;   \
    extern const ReduceTable kReduceTable;   \
    }
TAPESCOPE_DECLARE_ISA(base)
TAPESCOPE_DECLARE_ISA(avx2)
TAPESCOPE_DECLARE_ISA(avx512)
#undef TAPESCOPE_DECLARE_ISA

}  // namespace tapescope::engine::cpu
