// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/isa.h"
#include "engine/cpu/isa/real_loops.h"
#include "engine/ops/op_def.h"

#include <span>

namespace tapescope::engine::cpu {

/// Null if this processor or this build has no such instructions.
const RealTable* realTableFor(Isa isa);
const RealBinaryTable* realBinaryTableFor(Isa isa);

// Kernels over float32 and float64 tensors: inputs broadcast to the output, which may be an input
// itself (in place). The Float attributes of the call become the loop's parameters, in order.
void runReal(RealUnary op, const Tensor& x, const LoopParams& params, const Tensor& out);
void runReal(RealBinary op, const Tensor& a, const Tensor& b, const Tensor& out);
LoopParams realParams(const Attrs& attrs);

template <RealUnary op>
void real(const OpArgs& args, std::span<Tensor> outputs) {
    runReal(op, args[0], realParams(args.attrs), outputs[0]);
}
template <RealBinary op>
void realBinary(const OpArgs& args, std::span<Tensor> outputs) {
    runReal(op, args[0], args[1], outputs[0]);
}

}  // namespace tapescope::engine::cpu
