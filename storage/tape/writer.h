// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/status.h"
#include "storage/tape/gpu_records.h"
#include "storage/tape/records.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tapescope::storage {

struct WriterOptions {
    bool overwrite = false;                    ///< else an existing file is an error
    int commitMs = 100;                        ///< longest time a record waits for its commit
    std::size_t maxBacklogBytes = 64U << 20U;  ///< above it, events are dropped and counted
};

/// Writes one tape from any number of threads: calls enqueue, one writer thread owns the SQLite
/// connection (WAL, synchronous=NORMAL). Only flush(), seal() and, while the backlog is full,
/// scalars, histograms, graphs and log rows block. After a write error (disk full) the writer stops
/// accepting, keeps what was committed, and every later flush()/seal() returns the error. While it
/// lives it leaves a heartbeat, so that readers can tell a live run from a cut one.
class TapeWriter final {
public:
    /// The file appears complete, under its name, or not at all. Errors name it: exists already,
    /// being written by another process, folder missing or not writable, no space.
    static Result<std::unique_ptr<TapeWriter>> create(const std::string& path, const RunInfo& info,
                                                      const WriterOptions& options = {});
    ~TapeWriter();  ///< seals with RunOutcome::Unknown if seal() was not called
    TapeWriter(const TapeWriter&) = delete;
    TapeWriter& operator=(const TapeWriter&) = delete;

    /// Interning; any thread, cheap when known.
    TagId tag(std::string_view name, TagKind kind);
    NameId name(std::string_view text);

    void scalar(TagId tag, ScalarPoint point);
    void histogram(TagId tag, Histogram histogram);
    /// Batches of one producer thread, in time order; about 4096 a call is best.
    void opEvents(std::vector<OpEvent> batch);
    void memoryEvents(std::vector<MemoryEvent> batch);
    /// GPU events in any order, as CUPTI hands them out; counter samples and allocator events of
    /// one producer in time order. Dropped and counted like the two above.
    void gpuEvents(std::vector<GpuEvent> batch);
    void counterSamples(std::vector<CounterSample> batch);
    void allocatorEvents(std::vector<AllocatorEvent> batch);
    /// For a producer of events that may wait: returns when a quarter of the backlog is free, or
    /// nothing more is accepted.
    void waitForRoom();
    /// Each replaces an earlier row of the same ids.
    void gpuProcess(GpuProcess row);
    void gpuDevice(GpuDevice row);
    void gpuContext(GpuContext row);
    void gpuStream(GpuStream row);
    void gpuObjectName(GpuObjectName row);
    void gpuStatus(GpuStatus row);
    void gpuCount(GpuCount row);
    void gpuSummary(std::vector<GpuSummary> rows);
    void gpuCounter(GpuCounter row);
    void lane(LaneRow row);
    void module(ModuleRow row);
    void site(SiteRow row);
    void source(SourceRow row);
    /// A graph with complete=false replaces an earlier incomplete one of the same id; ids are the
    /// caller's, from 1.
    void graph(Graph graph);
    /// Drops an incomplete graph whose step turned out to equal another one.
    void dropGraph(GraphId id);
    void step(StepRow row);
    void opSummary(std::vector<OpSummary> rows);  ///< replaces the rows written before
    void log(LogRow row);
    void lost(std::string_view what, std::int64_t count, std::string_view reason);
    void environment(std::string_view key, std::string_view value);

    /// Everything enqueued before is committed when this returns.
    Status flush();
    /// Flushes, marks the tape complete and folds the WAL into the one file. The writer accepts
    /// nothing afterwards.
    Status seal(RunOutcome outcome, std::string_view message = {});
    Status status() const;
    const std::string& path() const;
    /// Unix seconds of time 0 (RunInfo::startWall; the time of create() if that was 0).
    double startWall() const;

private:
    struct Impl;
    explicit TapeWriter(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

}  // namespace tapescope::storage
