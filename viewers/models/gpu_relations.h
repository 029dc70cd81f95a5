// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "profiler/analysis/gpu_activity.h"
#include "viewers/models/timeline_model.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tapescope::viewers {

/// How one event of a timeline hangs together with others, across host and device. Pure functions;
/// any thread; O(log n) an event found.

/// Where an event of the GPU record stands; none if it was not drawn.
std::optional<EventRef> findGpu(const TimelineData& data, profiler::GpuOrdinal ordinal);

struct GpuRelations {
    static constexpr std::size_t kMostWork = 256;  ///< a graph launch starts thousands

    std::optional<EventRef> launch;  ///< of device work or a wait
    std::vector<EventRef> work;      ///< of a call, a range, an operator; by start
    bool workIsCut = false;          ///< there is more
    std::vector<EventRef> ranges;    ///< NVTX ranges around the call, innermost first
    std::optional<EventRef> op;      ///< the engine's operator around the call
    std::optional<profiler::GpuActivity::Operator> opId;  ///< what the tape says of it
    /// Device work: from the call's start and end to the work's start. Negative: it began while the
    /// call had not returned.
    std::optional<std::int64_t> sinceCallNs;
    std::optional<std::int64_t> sinceReturnNs;
    /// Work of the stream that was launched before and not over at the time of the launch call.
    std::optional<std::size_t> queued;
    std::int64_t deviceNs = 0;  ///< calls, ranges and operators: sum of the durations of `work`
};
GpuRelations gpuRelations(const TimelineData& data, EventRef event);

/// Kernels and copies of a stream that were launched (their call had begun) and not over at time t,
/// the running one included; those without a call on the tape do not count. The slow form of a
/// Queue chart's curve: O(result · log n).
std::size_t queueDepth(const TimelineData& data, std::size_t streamRow, std::int64_t t);

/// Time in [begin, end) that a row's events cover. O(log n).
std::int64_t coveredNs(const TimelineRow& row, TimeRange range);

}  // namespace tapescope::viewers
