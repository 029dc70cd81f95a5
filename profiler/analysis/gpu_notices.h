// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiler/analysis/gpu_activity.h"
#include "storage/tape/gpu_records.h"

#include <string>
#include <vector>

namespace tapescope::profiler {

/// One line of what a reader must know about a GPU record before trusting it.
struct GpuNotice {
    enum class Kind : std::uint8_t {
        Fact,  ///< "ok", the clock's error, the cost of tracing
        Loss,  ///< something is missing or in doubt
        Off    ///< a source recorded nothing, with the reason
    };
    Kind kind = Kind::Fact;
    std::string process;  ///< "python3 train.py · pid 42"; "" = the whole tape
    std::string text;     ///< one sentence
    std::string detail;
    friend bool operator==(const GpuNotice&, const GpuNotice&) = default;
};

/// What the notices are made from.
struct GpuRecordFacts {
    std::vector<storage::GpuProcess> processes;
    std::vector<storage::GpuStatus> statuses;
    std::vector<storage::GpuCount> counts;
    GpuDoubts doubts;
    std::int64_t unplaced = 0;      ///< events for which there was no lane or row
    std::int64_t unknownFrees = 0;  ///< memory freed that was not seen allocated
    struct Overhead {
        storage::GpuProcessId process = 0;
        std::int64_t costNs = 0;
    };
    std::vector<Overhead> overheads;
    std::int64_t spanNs = 0;  ///< of the record, for shares
};

/// Losses first, then sources that are off, then facts; nothing that is zero.
std::vector<GpuNotice> gpuNotices(const GpuRecordFacts& facts);

/// True for counts of records that are not on the tape (dropped, not written, above the cap), not
/// for doubts about those that are.
bool countsMissingRecords(const storage::GpuCount& count);

/// "python3 train.py · pid 42 · rank 3": the program without its folder, cut to a title's length.
std::string gpuProcessTitle(const storage::GpuProcess& process);

}  // namespace tapescope::profiler
