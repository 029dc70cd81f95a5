// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/tape/process_identity.h"

#include <string>
#include <vector>

namespace tapescope::profiler::record {

/// Ends the name of a file that a `tapescope record` leaves in the parts of the one around it.
inline constexpr const char* kNestedSuffix = ".nested";

/// A process that started CUDA and has written no tape, by the mark that it left.
struct Mark {
    storage::ProcessIdentity process;  ///< of this machine and boot
    std::string command;
};
/// The marks of a folder of parts whose shards are missing, or do not even name their process.
std::vector<Mark> marksWithoutShard(const std::string& folder);

}  // namespace tapescope::profiler::record
