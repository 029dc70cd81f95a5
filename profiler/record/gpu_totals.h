// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/tape/gpu_records.h"

#include <map>
#include <string_view>
#include <tuple>
#include <vector>

namespace tapescope::profiler::record {

/// Adds events up to the rows of gpu_summary. Its size is that of the distinct names, not of the
/// events.
class GpuTotals final {
public:
    /// The name of an event without a usable time, or of a kind without duration, is not looked at.
    /// Copies count under the name of their direction: `nameOf` interns it.
    template <class NameOf>
    void add(const storage::GpuEvent& e, NameOf&& nameOf) {
        using storage::GpuEventKind;
        const bool timed = storage::runsOnDevice(e.kind) || storage::runsOnHost(e.kind) ||
                           e.kind == GpuEventKind::Overhead;
        if (!timed || !e.drawable()) return;
        storage::NameId name = e.name;
        std::int64_t bytes = 0;
        if (e.kind == GpuEventKind::Memcpy || e.kind == GpuEventKind::MemcpyPeer) {
            name = nameOf(storage::gpuCopyKindName(storage::gpuTransfer(e).copyKind));
        }
        if (e.kind == GpuEventKind::Memcpy || e.kind == GpuEventKind::MemcpyPeer ||
            e.kind == GpuEventKind::Memset) {
            bytes = static_cast<std::int64_t>(e.u[0] & INT64_MAX);
        }
        addRow({e.process, e.device, e.kind, name, 1, e.durationNs, e.durationNs, e.durationNs,
                bytes});
    }
    std::vector<storage::GpuSummary> rows() const;

private:
    void addRow(const storage::GpuSummary& row);

    using Key =
        std::tuple<storage::GpuProcessId, std::uint32_t, storage::GpuEventKind, storage::NameId>;
    std::map<Key, storage::GpuSummary> m_rows;
};

}  // namespace tapescope::profiler::record
