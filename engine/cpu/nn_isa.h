// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/isa.h"
#include "engine/cpu/isa/nn_loops.h"

namespace tapescope::engine::cpu {

/// Null if this processor or this build has no such instructions.
const NnTable* nnTableFor(Isa isa);
/// The table of bestIsa().
const NnTable& nnTable();
template <class T>
const NnLoops<T>& nnLoops();
template <>
inline const NnLoops<float>& nnLoops<float>() {
    return nnTable().f32;
}
template <>
inline const NnLoops<double>& nnLoops<double>() {
    return nnTable().f64;
}

}  // namespace tapescope::engine::cpu
