// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/isa/loops.h"
#include "engine/ops/op_def.h"

#include <span>

namespace tapescope::engine::cpu {

// Kernels of the elementwise operators: inputs broadcast to the output, which may be an input
// itself (in place). The Float attributes of the call become the loop's parameters, in order.
void runUnary(UnaryOp op, const OpArgs& args, std::span<Tensor> outputs);
void runTest(TestOp op, const OpArgs& args, std::span<Tensor> outputs);
void runBinary(BinaryOp op, const OpArgs& args, std::span<Tensor> outputs);
void runCompare(CompareOp op, const OpArgs& args, std::span<Tensor> outputs);
void runTernary(TernaryOp op, const OpArgs& args, std::span<Tensor> outputs);

template <UnaryOp op>
void unary(const OpArgs& args, std::span<Tensor> outputs) {
    runUnary(op, args, outputs);
}
template <TestOp op>
void test(const OpArgs& args, std::span<Tensor> outputs) {
    runTest(op, args, outputs);
}
template <BinaryOp op>
void binary(const OpArgs& args, std::span<Tensor> outputs) {
    runBinary(op, args, outputs);
}
template <CompareOp op>
void compare(const OpArgs& args, std::span<Tensor> outputs) {
    runCompare(op, args, outputs);
}
template <TernaryOp op>
void ternary(const OpArgs& args, std::span<Tensor> outputs) {
    runTernary(op, args, outputs);
}

/// x where mask is false, else attribute 0.
void maskedFill(const OpArgs& args, std::span<Tensor> outputs);
/// Input 0 (to) or input 1 (copy_) into the output.
void convert(const OpArgs& args, std::span<Tensor> outputs);
void copyInto(const OpArgs& args, std::span<Tensor> outputs);
/// Every element of the output = attribute 0; absent: 0.
void fill(const OpArgs& args, std::span<Tensor> outputs);

/// The types an operator's loops take, for its dtype check.
bool takes(UnaryOp op, DType dtype);
bool takes(BinaryOp op, DType dtype);

}  // namespace tapescope::engine::cpu
