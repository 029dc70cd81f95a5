// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiler/record/clock_align.h"
#include "profiler/record/gpu_totals.h"
#include "profiler/record/join.h"
#include "storage/tape/reader.h"
#include "storage/tape/writer.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tapescope::profiler::record {

/// One input of a join, after a first look.
struct Source {
    std::string path;
    bool allocatorFile = false;
    bool launcher = false;
    storage::RunInfo info;
    storage::TapeState state = storage::TapeState::Sealed;
    storage::RunOutcome outcome = storage::RunOutcome::Unknown;
    std::string outcomeMessage;
    /// As in the file. Without any: one row with id 0 that stands for its clock.
    std::vector<storage::GpuProcess> processes;
    /// New id by the file's own.
    std::unordered_map<storage::GpuProcessId, storage::GpuProcessId> ids;

    bool weak() const { return allocatorFile || launcher; }
    std::string name() const;  ///< the file's name without its folder
};

/// Copies sources into one tape, each renumbered and moved onto the axis.
class ShardCopier final {
public:
    ShardCopier(storage::TapeWriter& writer, const ClockAligner& clocks, JoinReport& report)
        : m_writer(writer), m_clocks(clocks), m_report(report) {}

    /// The output has these already.
    void knows(const std::vector<std::pair<std::string, std::string>>& environment);
    /// An error only if the output cannot be written; what cannot be read is noted.
    storage::Status copy(Source& source);
    /// After the last source.
    void finish();

private:
    storage::Status copyTape(Source& source);
    storage::Status copyAllocatorFile(Source& source);
    void copyRows(storage::TapeReader& tape, const Source& source);
    storage::Status copyGpuEvents(storage::TapeReader& tape, const Source& source);
    storage::Status copySamples(storage::TapeReader& tape, const Source& source);
    storage::Status copyAllocatorEvents(storage::TapeReader& tape, const Source& source);
    void noteWhatIsNotTaken(storage::TapeReader& tape, const Source& source);

    storage::GpuProcessId processOf(const Source& source, storage::GpuProcessId id) const;
    std::int64_t offsetOf(const Source& source, storage::GpuProcessId id) const;
    storage::NameId nameOf(storage::NameId id) const;
    void unreadable(const Source& source, const storage::Status& why);
    void note(const Source& source, const std::string& text);

    storage::TapeWriter& m_writer;
    const ClockAligner& m_clocks;
    JoinReport& m_report;
    GpuTotals m_totals;
    std::vector<storage::NameId> m_names;  ///< new id by the current source's
    std::unordered_map<storage::GpuProcessId, std::int64_t> m_offsets;  ///< by its process ids
    std::map<std::tuple<std::string, std::string, std::string, std::string>, std::uint32_t>
        m_counters;
    std::set<std::pair<storage::GpuProcessId, std::string>> m_statuses;
    std::set<std::pair<std::string, std::string>> m_facts;
};

}  // namespace tapescope::profiler::record
