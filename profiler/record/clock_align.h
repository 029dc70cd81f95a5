// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/tape/gpu_records.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tapescope::profiler::record {

/// Puts processes of any number of machines on one time axis. Time 0 is that of the process whose
/// tape began first (by wall clock). Processes of one boot of one machine share CLOCK_MONOTONIC and
/// are placed by it exactly; between machines only the wall clocks are there to go by, and how far
/// apart those are is stated if every machine's clock error is known, else as "not known".
class ClockAligner final {
public:
    /// True for clocks that can be: from 1970 to 2084.
    static bool plausible(const storage::GpuProcess& process);
    /// Everything must be added before the first question. False: its clocks cannot be (negative or
    /// beyond the year 2084), and it is not added.
    bool add(const storage::GpuProcess& process);
    /// How far a machine's wall clock may be off, as its kernel said when it recorded.
    void setWallClockError(const std::string& host, std::int64_t errorNs);

    /// Unix nanoseconds of the axis' 0.
    std::int64_t zeroRealtimeNs() const;
    /// What to add to the times of the process' events, which count from its own zeros.
    std::int64_t offsetNs(const storage::GpuProcess& process) const;
    /// The process with its clock fields restated for the axis.
    storage::GpuProcess aligned(storage::GpuProcess process) const;

private:
    /// One CLOCK_MONOTONIC: a boot of a machine.
    struct Boot {
        std::string id;
        std::string host;
        std::int64_t monotonicNs = 0;  ///< both clocks when its first process began
        std::int64_t realtimeNs = 0;
        std::int64_t lowestDifference = 0;  ///< of realtime - monotonic, over its processes
        std::int64_t highestDifference = 0;
    };
    /// m_boots.size() if it is of none of them.
    std::size_t indexOf(const storage::GpuProcess& process) const;
    const Boot& reference() const;
    std::int64_t zeroMonotonicNs(const Boot& boot) const;
    std::int64_t wallErrorNs(const Boot& boot) const;

    std::vector<Boot> m_boots;
    std::map<std::string, std::int64_t> m_wallErrorNs;
};

/// GpuProcess::clock of one that was placed without a clock; kept as it is.
inline constexpr const char* kWallClockNotSet = "its wall clock was not set";

/// a + b, at the ends of the range instead of beyond it: times on a tape may be anything.
std::int64_t saturatingAdd(std::int64_t a, std::int64_t b);

}  // namespace tapescope::profiler::record
