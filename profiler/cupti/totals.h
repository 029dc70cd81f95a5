// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/tape/gpu_records.h"

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

namespace tapescope::profiler::cupti {

/// Sums of a session by device, kind and name, kept while events pass by. One thread.
class Totals final {
public:
    /// directionName: the tape's name of a copy's direction, by GpuCopyKind.
    void add(const storage::GpuEvent& e,
             const std::function<storage::NameId(storage::GpuCopyKind)>& directionName);
    /// Rows that have changed since the last call.
    std::vector<storage::GpuSummary> changed();

private:
    struct Sum {
        storage::GpuSummary row;
        bool changed = false;
    };
    // name << 32 | device << 8 | kind; devices above 2^24 do not exist.
    std::unordered_map<std::uint64_t, Sum> m_sums;
};

}  // namespace tapescope::profiler::cupti
