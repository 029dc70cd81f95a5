// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/status.h"
#include "storage/tape/reader.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tapescope::profiler {

/// What a run did, in the numbers one asks for first. They come from the tape's summaries; the
/// events are only read to see whether they can be.
struct RunReport {
    storage::RunInfo info;
    storage::TapeState state = storage::TapeState::Sealed;
    storage::RunOutcome outcome = storage::RunOutcome::Unknown;
    std::string outcomeMessage;

    std::int64_t steps = 0;
    double meanStepNs = 0;
    double medianStepNs = 0;
    double p95StepNs = 0;
    double firstStepNs = 0;
    std::int64_t peakBytes = 0;  ///< highest allocated bytes of any step
    std::int64_t peakStep = -1;
    std::int64_t graphs = 0;  ///< distinct step graphs

    struct Operator {
        std::string name;
        std::string phase;
        std::int64_t calls = 0;
        std::int64_t totalNs = 0;
        std::int64_t selfNs = 0;
        double selfShare = 0;  ///< of all operators' self time
        double gflops = 0;     ///< GFLOP/s over totalNs
    };
    std::vector<Operator> operators;  ///< by self time, all of them

    struct Scalar {
        std::string tag;
        std::int64_t step = 0;
        double value = 0;
        std::int64_t points = 0;
    };
    std::vector<Scalar> scalars;  ///< the last point of every tag, in the tape's order
    std::vector<storage::LossCount> losses;
    std::vector<storage::LogRow> problems;  ///< warnings and errors of the log
    std::vector<std::string> damage;        ///< parts of the tape that cannot be read, and why
};

std::string_view stateName(storage::TapeState state);  ///< "live", "complete", "cut"
std::string_view outcomeName(
    storage::RunOutcome outcome);  ///< "finished", "stopped", "failed", "unknown"

/// Blocks on disk. Errors are the reader's.
storage::Result<RunReport> makeRunReport(storage::TapeReader& tape);

}  // namespace tapescope::profiler
