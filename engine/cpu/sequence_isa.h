// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/isa.h"
#include "engine/cpu/isa/sequence_loops.h"

namespace tapescope::engine::cpu {

/// The table of bestIsa().
const SequenceTable& sequenceTable();
template <class T>
const SequenceLoops<T>& sequenceLoops();
template <>
inline const SequenceLoops<float>& sequenceLoops<float>() {
    return sequenceTable().f32;
}
template <>
inline const SequenceLoops<double>& sequenceLoops<double>() {
    return sequenceTable().f64;
}

}  // namespace tapescope::engine::cpu
