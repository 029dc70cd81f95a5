// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/isa.h"
#include "engine/cpu/isa/draw_loops.h"

namespace tapescope::engine::cpu {

/// Null where this processor lacks the instruction set.
const DrawTable* drawTableFor(Isa isa);
/// The table of bestIsa().
const DrawTable& drawTable();

}  // namespace tapescope::engine::cpu
