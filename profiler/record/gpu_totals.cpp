// SPDX-License-Identifier: Apache-2.0
#include "profiler/record/gpu_totals.h"

#include "profiler/record/clock_align.h"

#include <algorithm>

namespace tapescope::profiler::record {

void GpuTotals::addRow(const storage::GpuSummary& row) {
    const auto [it, fresh] = m_rows.try_emplace({row.process, row.device, row.kind, row.name}, row);
    if (fresh) return;
    storage::GpuSummary& sum = it->second;
    sum.count += row.count;
    sum.totalNs = saturatingAdd(sum.totalNs, row.totalNs);
    sum.minNs = std::min(sum.minNs, row.minNs);
    sum.maxNs = std::max(sum.maxNs, row.maxNs);
    sum.bytes = saturatingAdd(sum.bytes, row.bytes);
}

std::vector<storage::GpuSummary> GpuTotals::rows() const {
    std::vector<storage::GpuSummary> out;
    out.reserve(m_rows.size());
    for (const auto& [key, row] : m_rows) out.push_back(row);
    return out;
}

}  // namespace tapescope::profiler::record
