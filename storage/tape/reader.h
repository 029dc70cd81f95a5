// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/status.h"
#include "storage/tape/gpu_records.h"
#include "storage/tape/records.h"

#include <memory>
#include <string>
#include <vector>

namespace tapescope::storage {

/// Reads a tape, also while another process writes it. One connection, one thread at a time: a
/// worker opens its own. No read transaction outlives a call, so the writer's WAL cannot grow
/// because of us.
class TapeReader final {
public:
    /// Errors name the file and the remedy: missing, not SQLite, not a tape, written by a newer
    /// version, damaged.
    static Result<std::unique_ptr<TapeReader>> open(const std::string& path);
    ~TapeReader();
    TapeReader(const TapeReader&) = delete;
    TapeReader& operator=(const TapeReader&) = delete;

    Result<RunInfo> info() const;
    TapeState state() const;
    RunOutcome outcome() const;
    std::string outcomeMessage() const;
    /// True if another connection committed since the last call (first call: true). Cheap; poll it.
    bool changed();

    Result<std::vector<TagRow>> tags() const;
    /// Points with sequence number >= fromSeq, in order; seq of the first point is 0. For tailing:
    /// pass the number read so far.
    Result<std::vector<ScalarPoint>> scalars(TagId tag, std::int64_t fromSeq = 0,
                                             std::size_t maxRows = SIZE_MAX) const;
    Result<std::vector<ScalarSummary>> scalarSummaries(TagId tag) const;
    Result<std::vector<Histogram>> histograms(TagId tag, std::int64_t fromStep = INT64_MIN) const;

    Result<std::vector<std::string>> names() const;  ///< index = NameId; [0] is ""
    Result<std::vector<ModuleRow>> modules() const;
    Result<std::vector<SiteRow>> sites() const;
    Result<std::vector<SourceRow>> sources() const;
    Result<std::vector<LaneRow>> lanes() const;
    Result<std::vector<StepRow>> steps(std::int64_t fromStep = 0) const;
    /// Without nodes.
    Result<std::vector<Graph>> graphs() const;
    Result<Graph> graph(GraphId id) const;

    /// Events appended since a cursor (0 = from the start), each exactly once, in the order of
    /// writing: on a lane by their end, because an event is known when it is over. So an outer
    /// event follows its inner ones, and within a lane and depth events are in order of start,
    /// without overlap.
    struct OpEvents {
        std::vector<OpEvent> events;
        std::int64_t cursor = 0;  ///< pass to the next call
    };
    Result<OpEvents> opEvents(std::int64_t cursor = 0, std::size_t maxEvents = SIZE_MAX) const;
    struct MemoryEvents {
        std::vector<MemoryEvent> events;
        std::int64_t cursor = 0;
    };
    Result<MemoryEvents> memoryEvents(std::int64_t cursor = 0,
                                      std::size_t maxEvents = SIZE_MAX) const;

    /// What GPUs did; all empty on a tape without a GPU part, also on one of schema version 1.
    /// Events in the order of writing, which is neither that of time nor that of cause: a kernel
    /// may come before its launch call, and an ExternalId after both.
    struct GpuEvents {
        std::vector<GpuEvent> events;
        std::int64_t cursor = 0;
    };
    Result<GpuEvents> gpuEvents(std::int64_t cursor = 0, std::size_t maxEvents = SIZE_MAX) const;
    struct CounterSamples {
        std::vector<CounterSample> samples;
        std::int64_t cursor = 0;
    };
    Result<CounterSamples> counterSamples(std::int64_t cursor = 0,
                                          std::size_t maxSamples = SIZE_MAX) const;
    struct AllocatorEvents {
        std::vector<AllocatorEvent> events;
        std::int64_t cursor = 0;
    };
    Result<AllocatorEvents> allocatorEvents(std::int64_t cursor = 0,
                                            std::size_t maxEvents = SIZE_MAX) const;
    Result<std::vector<GpuProcess>> gpuProcesses() const;
    Result<std::vector<GpuDevice>> gpuDevices() const;
    Result<std::vector<GpuContext>> gpuContexts() const;
    Result<std::vector<GpuStream>> gpuStreams() const;
    Result<std::vector<GpuObjectName>> gpuObjectNames() const;
    Result<std::vector<GpuStatus>> gpuStatuses() const;
    Result<std::vector<GpuCount>> gpuCounts() const;
    Result<std::vector<GpuSummary>> gpuSummary() const;  ///< most total time first
    Result<std::vector<GpuCounter>> gpuCounters() const;

    Result<std::vector<OpSummary>> opSummary() const;
    Result<std::vector<LogRow>> log() const;
    Result<std::vector<LossCount>> losses() const;

private:
    struct Impl;
    explicit TapeReader(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

}  // namespace tapescope::storage
