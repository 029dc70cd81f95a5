// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiler/record/join.h"
#include "profiler/record/shard_copy.h"

#include <vector>

namespace tapescope::profiler::record {

/// Finds processes that several inputs tell of (a part and a tape that was joined from it) and
/// fills Source::repeated of all but the fuller one. Two are the same if host, boot, pid and
/// command are and their first events happened at the same moment of the boot, which joining does
/// not change; a pid that was given twice has other events. Reads the events only of inputs that
/// share such a triple.
void findRepeats(std::vector<Source>& sources, JoinReport& report);

}  // namespace tapescope::profiler::record
