// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiler/record/child.h"
#include "storage/status.h"

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tapescope::profiler::record {

struct RecordOptions {
    std::vector<std::string> command;  ///< the program and its arguments
    std::string output;
    bool overwrite = false;
    bool allocatorHistory = false;
    bool counters = false;
    std::string kinds;             ///< TAPESCOPE_GPU_KINDS
    std::string injectionLibrary;  ///< "" = none was found; recording then sees no GPU
    std::string pythonHook;        ///< folder
    std::string commandLine;       ///< ours, for the tape
    std::vector<std::pair<std::string, std::string>> environment;  ///< facts, for the tape
    std::chrono::milliseconds samplePeriod{200};
    std::string nvmlLibrary = "libnvidia-ml.so.1";
    /// How long processes that outlive the program may take to finish their tapes.
    std::chrono::milliseconds patience{3000};
    /// Called with a sentence for the user, as it becomes known.
    std::function<void(const std::string&)> say;
};

struct RecordResult {
    int startError = 0;  ///< errno: the program could not be started; nothing was recorded
    Ending ending;
    bool recorded = false;  ///< the tape is there
};

/// Starts the program with what makes its CUDA processes write tapes, waits for it, and joins them
/// into one tape. An error if it cannot even begin (output not writable); then nothing was started.
/// A failure to record never changes how the program ends. If the tape cannot be made at the end,
/// say() tells where the parts are.
storage::Result<RecordResult> recordProgram(const RecordOptions& options);

/// How far this machine's wall clock may be off, by its own account; -1 = not known.
std::int64_t wallClockErrorNs();

}  // namespace tapescope::profiler::record
