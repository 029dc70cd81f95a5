// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiler/analysis/gpu_activity.h"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tapescope::profiler {

/// When device work and event records were asked for, told as soon as both they and a call that has
/// a time are known, whichever came first. One thread.
class LaunchJoin final {
public:
    struct Launched {
        GpuOrdinal work = 0;
        std::int64_t callNs = 0;             ///< start of its call
        std::optional<std::int64_t> before;  ///< told earlier: a call around that one has come
        friend bool operator==(const Launched&, const Launched&) = default;
    };
    /// What became known by the events from `first` on. O(their number · log), as long as the
    /// events of a correlation id lie close together.
    std::vector<Launched> append(const GpuActivity& activity, GpuOrdinal first);

private:
    /// Ids only grow: above it nothing was seen, and nothing need be looked for.
    std::unordered_map<storage::GpuProcessId, std::uint32_t> m_highest;
};

}  // namespace tapescope::profiler
