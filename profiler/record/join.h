// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/status.h"
#include "storage/tape/records.h"

#include <string>
#include <utility>
#include <vector>

namespace tapescope::profiler::record {

/// The recorder's own tape in a folder of shards: the command, the environment, counters. What it
/// knows of a process gives way to what that process wrote itself.
inline constexpr const char* kLauncherTape = "launcher.tape";
/// Ends the name of a file with PyTorch's allocator history (allocator_history.h).
inline constexpr const char* kAllocatorSuffix = ".allocator";
/// Environment key, with the host's name behind it: how far its wall clock may be off.
inline constexpr const char* kWallClockErrorKey = "wall_clock_error_ns";

struct JoinOptions {
    bool overwrite = false;  ///< else an existing file is an error
    std::string command;     ///< what to write where the parts name no command
    /// Where the tape is made before it moves to its place, on the same file system; "": beside it.
    std::string workFolder;
};
struct JoinReport {
    std::vector<std::string> joined;   ///< the files that are in it
    std::vector<std::string> refused;  ///< a sentence for each file that is not, and why
    std::vector<std::string> notes;    ///< what of the joined ones is not whole
    std::vector<std::string> live;     ///< the joined ones that were still written
    std::size_t damaged = 0;           ///< parts of the joined ones that cannot be read
    std::size_t processes = 0;         ///< that used CUDA, as far as is known
    std::int64_t gpuEvents = 0;
    std::int64_t allocatorEvents = 0;
    std::int64_t counterSamples = 0;
};

/// Whether a tape can be made at `output`: an early answer for who records for hours first.
storage::Status checkOutput(const std::string& output, bool overwrite);

/// Joins what processes wrote apart, also on several machines, into one tape: GPU events, counters
/// and allocator history on one time axis (ClockAligner), with names and ids renumbered. Inputs are
/// files, or folders whose *.tape and *.allocator files are all taken. Reads in pieces, so memory
/// does not grow with the events. Files that are no tapes are refused by name and the others
/// joined; an error if none is left. A process that several inputs tell of (a tape and the part it
/// was made from) is taken once, from the one with more of its events. The output appears complete
/// or not at all, and no input is changed. Memory grows with the samples of counters if two inputs
/// have some. Blocks on disk.
storage::Result<JoinReport> joinTapes(const std::vector<std::string>& inputs,
                                      const std::string& output, const JoinOptions& options = {});

}  // namespace tapescope::profiler::record
