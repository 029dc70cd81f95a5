// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"

namespace tapescope::engine {

/// True if op's kernel does not take every type of this call itself (OpDef::native).
bool needsConversion(const OpDef& op, const OpArgs& args, const OutputMetas& metas);

/// Runs the kernel in computeType of the types it does not take: 16-bit floats are calculated in
/// float32 and rounded once, small integers in int64, from where they wrap. What the kernel writes
/// in place comes back to its tensor. role: of the memory the outputs get.
void executeConverted(const OpDef& op, KernelFn kernel, const OpArgs& args,
                      const OutputMetas& metas, MemoryRole role, Outputs& out);

}  // namespace tapescope::engine
