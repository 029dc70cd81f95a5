// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/tape/records.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tapescope::profiler {

/// Per operator and phase: calls, time, self time, work. index is OpIdentity::index.
class OperatorTotals final {
public:
    void add(std::size_t index, storage::Phase phase, std::int64_t durationNs, std::int64_t selfNs,
             double flops, std::int64_t bytes) {
        if (index >= m_rows.size()) m_rows.resize(index + 1);
        storage::OpSummary& row = m_rows[index][static_cast<std::size_t>(phase)];
        row.minNs = row.calls == 0 ? durationNs : std::min(row.minNs, durationNs);
        row.maxNs = std::max(row.maxNs, durationNs);
        ++row.calls;
        row.totalNs += durationNs;
        row.selfNs += selfNs;
        row.flops += flops;
        row.bytes += bytes;
    }
    void setName(std::size_t index, std::string_view name) {
        if (index >= m_names.size()) m_names.resize(index + 1);
        m_names[index] = name;
    }
    std::vector<storage::OpSummary> rows() const {
        std::vector<storage::OpSummary> out;
        for (std::size_t i = 0; i < m_rows.size(); ++i) {
            for (std::size_t p = 0; p < m_rows[i].size(); ++p) {
                if (m_rows[i][p].calls == 0) continue;
                out.push_back(m_rows[i][p]);
                out.back().name = m_names.at(i);
                out.back().phase = static_cast<storage::Phase>(p);
            }
        }
        return out;
    }

private:
    static constexpr std::size_t kPhases = 6;
    std::vector<std::array<storage::OpSummary, kPhases>> m_rows;
    std::vector<std::string> m_names;
};

}  // namespace tapescope::profiler
