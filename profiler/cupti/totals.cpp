// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/totals.h"

#include <algorithm>

namespace tapescope::profiler::cupti {

using storage::GpuEventKind;

namespace {

// Just-in-time compilers can make a name for each launch; such a program's table stays bounded.
constexpr std::size_t kMaxRows = 100'000;

bool counts(GpuEventKind kind) {
    return storage::runsOnDevice(kind) || kind == GpuEventKind::RuntimeApi ||
           kind == GpuEventKind::DriverApi;
}

}  // namespace

void Totals::add(const storage::GpuEvent& e,
                 const std::function<storage::NameId(storage::GpuCopyKind)>& directionName) {
    if (!counts(e.kind) || !e.drawable()) return;
    const bool transfer = e.kind >= GpuEventKind::Memcpy && e.kind <= GpuEventKind::Memset;
    const std::uint64_t kindOfName =
        transfer && e.kind != GpuEventKind::Memset ? e.x[0] & 15U : e.name;
    const std::uint64_t key = kindOfName << 32U |
                              (static_cast<std::uint64_t>(e.device) & 0xFFFFFFU) << 8U |
                              static_cast<std::uint64_t>(e.kind);
    auto found = m_sums.find(key);
    if (found == m_sums.end()) {
        if (m_sums.size() >= kMaxRows) return;
        found = m_sums.emplace(key, Sum{}).first;
        storage::GpuSummary& row = found->second.row;
        row.process = e.process;
        row.device = e.device;
        row.kind = e.kind;
        row.name = transfer && e.kind != GpuEventKind::Memset
                       ? directionName(storage::gpuTransfer(e).copyKind)
                       : e.name;
        row.minNs = row.maxNs = e.durationNs;
    }
    storage::GpuSummary& row = found->second.row;
    ++row.count;
    row.totalNs += e.durationNs;
    row.minNs = std::min(row.minNs, e.durationNs);
    row.maxNs = std::max(row.maxNs, e.durationNs);
    // Wrapping: what a record claims to have copied is not ours to judge.
    if (transfer)
        row.bytes = static_cast<std::int64_t>(static_cast<std::uint64_t>(row.bytes) + e.u[0]);
    found->second.changed = true;
}

std::vector<storage::GpuSummary> Totals::changed() {
    std::vector<storage::GpuSummary> out;
    for (auto& [key, sum] : m_sums) {
        if (!sum.changed) continue;
        out.push_back(sum.row);
        sum.changed = false;
    }
    return out;
}

}  // namespace tapescope::profiler::cupti
