// SPDX-License-Identifier: Apache-2.0
#include "storage/tape/chunk_scan.h"
#include "storage/tape/reader.h"
#include "storage/tape/reader_impl.h"

namespace tapescope::storage {
namespace {

constexpr const char* kGpuChunks =
    "SELECT first, n, codec, data FROM gpu_event_chunk WHERE first >= "
    "ifnull((SELECT max(first) FROM gpu_event_chunk WHERE first <= ?1), 0) ORDER BY first";
constexpr const char* kSampleChunks =
    "SELECT first, n, codec, data FROM counter_sample_chunk WHERE first >= "
    "ifnull((SELECT max(first) FROM counter_sample_chunk WHERE first <= ?1), 0) ORDER BY first";
constexpr const char* kAllocatorChunks =
    "SELECT first, n, codec, data FROM allocator_event_chunk WHERE first >= "
    "ifnull((SELECT max(first) FROM allocator_event_chunk WHERE first <= ?1), 0) ORDER BY first";

std::int32_t small(std::int64_t value, std::int32_t otherwise) {
    return value < INT32_MIN || value > INT32_MAX ? otherwise : static_cast<std::int32_t>(value);
}

}  // namespace

Result<TapeReader::GpuEvents> TapeReader::gpuEvents(std::int64_t cursor,
                                                    std::size_t maxEvents) const {
    GpuEvents out{{}, cursor};
    if (!m_impl->hasGpuTables) return out;
    if (Status s = scanChunks(*m_impl, kGpuChunks, maxEvents, out.events, out.cursor); !s.ok())
        return s;
    return out;
}
Result<TapeReader::CounterSamples> TapeReader::counterSamples(std::int64_t cursor,
                                                              std::size_t maxSamples) const {
    CounterSamples out{{}, cursor};
    if (!m_impl->hasGpuTables) return out;
    if (Status s = scanChunks(*m_impl, kSampleChunks, maxSamples, out.samples, out.cursor); !s.ok())
        return s;
    return out;
}
Result<TapeReader::AllocatorEvents> TapeReader::allocatorEvents(std::int64_t cursor,
                                                                std::size_t maxEvents) const {
    AllocatorEvents out{{}, cursor};
    if (!m_impl->hasGpuTables) return out;
    if (Status s = scanChunks(*m_impl, kAllocatorChunks, maxEvents, out.events, out.cursor);
        !s.ok())
        return s;
    return out;
}

Result<std::vector<GpuProcess>> TapeReader::gpuProcesses() const {
    return m_impl->gpuRows<GpuProcess>(
        [](const Query& q) {
            GpuProcess p;
            p.id = id32(q.integer(0));
            p.pid = q.integer(1);
            p.parentPid = q.integer(2);
            p.host = q.text(3);
            p.bootId = q.text(4);
            p.command = q.text(5);
            p.rank = small(q.integer(6), -1);
            p.localRank = small(q.integer(7), -1);
            p.worldSize = small(q.integer(8), -1);
            p.monotonicZeroNs = q.integer(9);
            p.realtimeZeroNs = q.integer(10);
            p.clockErrorNs = q.integer(11);
            p.clock = q.text(12);
            return p;
        },
        "SELECT id, pid, parent_pid, host, boot, command, rank, local_rank, world_size, "
        "monotonic_zero_ns, realtime_zero_ns, clock_error_ns, clock FROM gpu_process ORDER BY id");
}
Result<std::vector<GpuDevice>> TapeReader::gpuDevices() const {
    return m_impl->gpuRows<GpuDevice>(
        [](const Query& q) {
            return GpuDevice{id32(q.integer(0)),
                             id32(q.integer(1)),
                             q.text(2),
                             q.text(3),
                             static_cast<std::uint64_t>(q.integer(4)),
                             id32(q.integer(5)),
                             id32(q.integer(6)),
                             id32(q.integer(7))};
        },
        "SELECT process, device, name, uuid, memory_bytes, multiprocessors, capability_major, "
        "capability_minor FROM gpu_device ORDER BY process, device");
}
Result<std::vector<GpuContext>> TapeReader::gpuContexts() const {
    return m_impl->gpuRows<GpuContext>(
        [](const Query& q) {
            return GpuContext{id32(q.integer(0)), id32(q.integer(1)), id32(q.integer(2)),
                              id32(q.integer(3))};
        },
        "SELECT process, context, device, null_stream FROM gpu_context ORDER BY process, context");
}
Result<std::vector<GpuStream>> TapeReader::gpuStreams() const {
    return m_impl->gpuRows<GpuStream>(
        [](const Query& q) {
            return GpuStream{id32(q.integer(0)), id32(q.integer(1)), id32(q.integer(2)),
                             small(q.integer(3), 0), id32(q.integer(4))};
        },
        "SELECT process, context, stream, priority, flag FROM gpu_stream "
        "ORDER BY process, context, stream");
}
Result<std::vector<GpuObjectName>> TapeReader::gpuObjectNames() const {
    return m_impl->gpuRows<GpuObjectName>(
        [](const Query& q) {
            return GpuObjectName{id32(q.integer(0)), enumOf(q.integer(1), GpuObject::Stream),
                                 id32(q.integer(2)), id32(q.integer(3)), q.text(4)};
        },
        "SELECT process, object, id, context, name FROM gpu_object_name "
        "ORDER BY process, object, id, context");
}
Result<std::vector<GpuStatus>> TapeReader::gpuStatuses() const {
    return m_impl->gpuRows<GpuStatus>(
        [](const Query& q) {
            return GpuStatus{id32(q.integer(0)), q.text(1), q.text(2),
                             q.text(3),          q.text(4), q.integer(5)};
        },
        "SELECT process, source, code, message, detail, time_ns FROM gpu_status "
        "ORDER BY process, source");
}
Result<std::vector<GpuCount>> TapeReader::gpuCounts() const {
    return m_impl->gpuRows<GpuCount>(
        [](const Query& q) {
            return GpuCount{id32(q.integer(0)), q.text(1), q.integer(2)};
        },
        "SELECT process, name, count FROM gpu_count ORDER BY process, name");
}
Result<std::vector<GpuSummary>> TapeReader::gpuSummary() const {
    return m_impl->gpuRows<GpuSummary>(
        [](const Query& q) {
            return GpuSummary{id32(q.integer(0)),
                              id32(q.integer(1)),
                              enumOf(q.integer(2), GpuEventKind::GraphLaunch),
                              id32(q.integer(3)),
                              q.integer(4),
                              q.integer(5),
                              q.integer(6),
                              q.integer(7),
                              q.integer(8)};
        },
        "SELECT process, device, kind, name, count, total_ns, min_ns, max_ns, bytes FROM "
        "gpu_summary ORDER BY total_ns DESC, process, device, kind, name");
}
Result<std::vector<GpuCounter>> TapeReader::gpuCounters() const {
    return m_impl->gpuRows<GpuCounter>(
        [](const Query& q) {
            return GpuCounter{id32(q.integer(0)), q.text(1), q.text(2),
                              q.text(3),          q.text(4), q.text(5)};
        },
        "SELECT id, name, unit, device, device_name, host FROM gpu_counter ORDER BY id");
}

}  // namespace tapescope::storage
