// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/status.h"
#include "storage/tape/chunk_appender.h"
#include "storage/tape/database.h"
#include "storage/tape/write_batch.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>

namespace tapescope::storage {

/// Turns batches into rows: the writer thread's half of a TapeWriter. Knows nothing of queues and
/// threads. After an error the batch is rolled back and the sink must not be used further.
class TapeSink final {
public:
    explicit TapeSink(std::unique_ptr<Database> db) : m_db(std::move(db)) {}

    /// One transaction; losses are added to the counts on the tape.
    Status write(const WriteBatch& batch);
    Status heartbeat();
    /// The last transaction, then one file again.
    Status seal(RunOutcome outcome, std::string_view message);
    /// After an error: tells readers, if the disk allows it, that nothing more will come.
    void giveUp();

private:
    struct TagState {
        std::int64_t nextSeq = 0;
        ScalarSummary open;
    };
    Status writeScalar(TagId tag, const ScalarPoint& point);
    Status writeSummary(TagId tag, const ScalarSummary& s);
    Status writeHistogram(TagId tag, const Histogram& h);
    Status writeRow(const LaneRow& row);
    Status writeRow(const ModuleRow& row);
    Status writeRow(const SiteRow& row);
    Status writeRow(const SourceRow& row);
    Status writeRow(const Graph& graph);
    Status writeRow(const WriteBatch::DropGraph& drop);
    Status writeRow(const StepRow& row);
    Status writeRow(const std::vector<OpSummary>& rows);
    Status writeRow(const LogRow& row);
    Status writeRow(const LossCount& loss);
    Status writeRow(const WriteBatch::Environment& row);
    // tape_sink_gpu.cpp
    Status writeRow(const GpuProcess& row);
    Status writeRow(const GpuDevice& row);
    Status writeRow(const GpuContext& row);
    Status writeRow(const GpuStream& row);
    Status writeRow(const GpuObjectName& row);
    Status writeRow(const GpuStatus& row);
    Status writeRow(const GpuCount& row);
    Status writeRow(const std::vector<GpuSummary>& rows);
    Status writeRow(const GpuCounter& row);
    Status writeNode(GraphId graph, const GraphNode& node);
    Status stamp();

    std::unique_ptr<Database> m_db;
    std::unordered_map<std::int64_t, TagState> m_tags;
    /// Incomplete graphs as they stand on the tape: while a debugger steps they grow at the end
    /// only.
    std::map<GraphId, std::vector<GraphNode>> m_partial;
    ChunkAppender<OpEvent> m_opEvents;
    ChunkAppender<MemoryEvent> m_memoryEvents;
    ChunkAppender<GpuEvent> m_gpuEvents;
    ChunkAppender<CounterSample> m_counterSamples;
    ChunkAppender<AllocatorEvent> m_allocatorEvents;
};

/// Adds a point to a summary; count 0 starts one.
void addToSummary(ScalarSummary& summary, std::int64_t seq, const ScalarPoint& point);

std::string_view outcomeName(RunOutcome outcome);
RunOutcome outcomeFromName(std::string_view name);

}  // namespace tapescope::storage
