// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/workbench/session_types.h"
#include "viewers/models/tape_snapshot.h"

#include <cstdint>
#include <vector>

namespace tapescope::app {

/// What a tape knows of one operator, in the shape a stop has it: the modules around it as a stack,
/// and its inputs, outputs and costs as scopes (without values, which only a stopped model has).
/// Empty for an unknown seq.
std::vector<StackFrame> recordedFrames(const storage::Graph& graph, std::int64_t seq,
                                       const viewers::Structure& structure);
/// durationNs: of the operator in the step shown; 0 if not known.
std::vector<Scope> recordedScopes(const storage::Graph& graph, std::int64_t seq, double durationNs);

}  // namespace tapescope::app
