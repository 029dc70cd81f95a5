// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "storage/tape/reader.h"
#include "viewers/models/gpu_builder.h"
#include "viewers/models/tape_session.h"
#include "viewers/models/timeline_builder.h"

#include <memory>
#include <stop_token>
#include <string>
#include <unordered_map>

namespace tapescope::viewers {

/// Reads what is new in a tape, one round at a time. Belongs to one worker thread; blocks on disk.
class TapeFollower final {
public:
    explicit TapeFollower(std::string path) : m_path(std::move(path)) {}

    /// One round: everything but events completely, events up to kEventsPerRound, so that a big
    /// tape shows up piece by piece. Returns what changed in snapshot().
    TapeSession::Parts poll(TapeSession::Parts interest, const std::stop_token& stop);
    const TapeSnapshot& snapshot() const { return m_snapshot; }
    /// More events wait: poll again at once.
    bool more() const { return m_more; }
    /// Reads no more events until told to go on; everything else is still followed.
    void holdEvents(bool hold) { m_eventsHeld = hold; }
    /// The next poll() looks for events even if the tape has not changed.
    void readAgain() { m_more = true; }

    /// Null if it is not in the tape yet; an error if it cannot be read and never will be.
    storage::Result<GraphPtr> loadGraph(storage::GraphId id);

private:
    static constexpr std::size_t kEventsPerRound = 1U << 18U;

    storage::Status open();
    storage::Status readRun();
    storage::Status readStructure();
    storage::Status readTags();
    storage::Status readEvents(const std::stop_token& stop);
    storage::Status readGpu(const std::stop_token& stop, bool& grown);
    void mark(TapeSession::Part part) { m_parts |= part; }

    std::string m_path;
    std::unique_ptr<storage::TapeReader> m_reader;
    TapeSnapshot m_snapshot;
    TapeSession::Parts m_parts;
    TapeSession::Parts m_interest;
    std::unordered_map<std::int64_t, std::size_t> m_scalarsRead;     ///< by tag
    std::unordered_map<std::int64_t, std::int64_t> m_histogramStep;  ///< by tag: the last step read
    TimelineBuilder m_builder;
    std::int64_t m_opCursor = 0;
    std::int64_t m_memoryCursor = 0;
    GpuBuilder m_gpu;
    std::int64_t m_gpuCursor = 0;
    std::int64_t m_sampleCursor = 0;
    std::int64_t m_allocatorCursor = 0;
    bool m_eventsHeld = false;
    std::uint64_t m_stateSeen = UINT64_MAX;
    bool m_more = false;
};

}  // namespace tapescope::viewers
