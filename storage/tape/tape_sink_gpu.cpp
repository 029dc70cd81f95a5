// SPDX-License-Identifier: Apache-2.0
#include "storage/tape/tape_sink.h"

namespace tapescope::storage {

Status TapeSink::writeRow(const GpuProcess& row) {
    return m_db->run("INSERT OR REPLACE INTO gpu_process VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)", row.id,
                     row.pid, row.parentPid, row.host, row.bootId, row.command, row.rank,
                     row.localRank, row.worldSize, row.monotonicZeroNs, row.realtimeZeroNs,
                     row.clockErrorNs, row.clock);
}
Status TapeSink::writeRow(const GpuDevice& row) {
    return m_db->run("INSERT OR REPLACE INTO gpu_device VALUES(?,?,?,?,?,?,?,?)", row.process,
                     row.device, row.name, row.uuid, row.memoryBytes, row.multiprocessors,
                     row.capabilityMajor, row.capabilityMinor);
}
Status TapeSink::writeRow(const GpuContext& row) {
    return m_db->run("INSERT OR REPLACE INTO gpu_context VALUES(?,?,?,?)", row.process, row.context,
                     row.device, row.nullStream);
}
Status TapeSink::writeRow(const GpuStream& row) {
    return m_db->run("INSERT OR REPLACE INTO gpu_stream VALUES(?,?,?,?,?)", row.process,
                     row.context, row.stream, row.priority, row.flag);
}
Status TapeSink::writeRow(const GpuObjectName& row) {
    return m_db->run("INSERT OR REPLACE INTO gpu_object_name VALUES(?,?,?,?,?)", row.process,
                     static_cast<int>(row.object), row.id, row.context, row.name);
}
Status TapeSink::writeRow(const GpuStatus& row) {
    return m_db->run("INSERT OR REPLACE INTO gpu_status VALUES(?,?,?,?,?,?)", row.process,
                     row.source, row.code, row.message, row.detail, row.timeNs);
}
Status TapeSink::writeRow(const GpuCount& row) {
    return m_db->run("INSERT OR REPLACE INTO gpu_count VALUES(?,?,?)", row.process, row.name,
                     row.count);
}
Status TapeSink::writeRow(const std::vector<GpuSummary>& rows) {
    for (const GpuSummary& r : rows) {
        Status s = m_db->run("INSERT OR REPLACE INTO gpu_summary VALUES(?,?,?,?,?,?,?,?,?)",
                             r.process, r.device, static_cast<int>(r.kind), r.name, r.count,
                             r.totalNs, r.minNs, r.maxNs, r.bytes);
        if (!s.ok()) return s;
    }
    return {};
}
Status TapeSink::writeRow(const GpuCounter& row) {
    return m_db->run("INSERT OR REPLACE INTO gpu_counter VALUES(?,?,?,?,?,?)", row.id, row.name,
                     row.unit, row.device, row.deviceName, row.host);
}

}  // namespace tapescope::storage
