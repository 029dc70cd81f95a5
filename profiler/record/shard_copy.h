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
    /// Processes whose GPU events another input has as well, and not fewer of them: by the file's
    /// own id, the input's index and the id there.
    std::map<storage::GpuProcessId, std::pair<std::size_t, storage::GpuProcessId>> repeated;
    bool counters = false;  ///< it has samples of counters

    bool weak() const { return allocatorFile || launcher; }
    /// Nothing of its processes is taken from it but what only it has.
    bool onlyRepeats() const { return !repeated.empty() && repeated.size() == processes.size(); }
    std::string name() const;  ///< the file's name without its folder
};

/// Copies sources into one tape, each renumbered and moved onto the axis.
class ShardCopier final {
public:
    ShardCopier(storage::TapeWriter& writer, const ClockAligner& clocks, JoinReport& report)
        : m_writer(writer), m_clocks(clocks), m_report(report) {}

    /// Before the first source: all of them, numbered.
    void expects(const std::vector<Source>& sources);
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
    void copyStatuses(storage::TapeReader& tape, const Source& source);
    storage::Status copyGpuEvents(storage::TapeReader& tape, const Source& source);
    storage::Status copySamples(storage::TapeReader& tape, const Source& source);
    storage::Status copyAllocatorEvents(storage::TapeReader& tape, const Source& source);
    void noteWhatIsNotTaken(storage::TapeReader& tape, const Source& source);

    storage::GpuProcessId processOf(const Source& source, storage::GpuProcessId id) const;
    std::int64_t offsetOf(const Source& source, storage::GpuProcessId id) const;
    storage::NameId nameOf(storage::NameId id) const;
    void unreadable(const Source& source, const storage::Status& why);
    void note(const Source& source, const std::string& text);
    void noteOpenEnd(const Source& source);
    std::string endOf(storage::GpuProcessId process) const;

    storage::TapeWriter& m_writer;
    const ClockAligner& m_clocks;
    JoinReport& m_report;
    GpuTotals m_totals;
    std::vector<storage::NameId> m_names;  ///< new id by the current source's
    std::unordered_map<storage::GpuProcessId, std::int64_t> m_offsets;  ///< by its process ids
    std::map<std::tuple<std::string, std::string, std::string, std::string>, std::uint32_t>
        m_counters;
    std::set<std::pair<storage::GpuProcessId, std::string>> m_statuses;
    // By the processes' new ids:
    std::map<storage::GpuProcessId, std::int64_t> m_records;  ///< of those that used CUDA
    std::map<storage::GpuProcessId, std::int64_t> m_lastNs;   ///< end of what is known of them
    std::set<storage::GpuProcessId> m_allocatorFiles;         ///< have their history in a file
    std::set<storage::GpuProcessId> m_allocatorTapes;         ///< had it on a tape
    /// What is taken of each counter, kept only where two inputs have counters.
    bool m_manyCounters = false;
    std::set<std::pair<std::uint32_t, std::int64_t>> m_samples;
    std::set<std::pair<std::string, std::string>> m_facts;
};

}  // namespace tapescope::profiler::record
