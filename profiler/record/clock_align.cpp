// SPDX-License-Identifier: Apache-2.0
#include "profiler/record/clock_align.h"

#include <algorithm>
#include <cstdlib>

namespace tapescope::profiler::record {
namespace {

// 2085: half of what 64 bits hold from 1970 to 2200, so that sums and differences stay in range.
constexpr std::int64_t kLatestNs = 3'629'059'200'000'000'000;
// Copies of a running virtual machine keep its boot id. Clocks of one boot that differ by more than
// a clock adjustment explains are therefore taken for those of different machines.
constexpr std::int64_t kLargestStepNs = 60'000'000'000;

bool possible(std::int64_t ns) { return ns >= 0 && ns <= kLatestNs; }

std::int64_t difference(const storage::GpuProcess& p) {
    return p.realtimeZeroNs - p.monotonicZeroNs;
}

}  // namespace

std::int64_t saturatingAdd(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    if (!__builtin_add_overflow(a, b, &sum)) return sum;
    return b > 0 ? INT64_MAX : INT64_MIN;
}

std::size_t ClockAligner::indexOf(const storage::GpuProcess& p) const {
    // Without a boot id nothing says that two clocks are the same one.
    for (std::size_t i = 0; i < m_boots.size(); ++i) {
        const Boot& boot = m_boots[i];
        const bool known = !p.bootId.empty() && boot.id == p.bootId;
        const bool itself = p.bootId.empty() && boot.id.empty() && boot.host == p.host &&
                            boot.monotonicNs == p.monotonicZeroNs &&
                            boot.realtimeNs == p.realtimeZeroNs;
        if (itself || (known && std::abs(boot.realtimeNs - boot.monotonicNs - difference(p)) <
                                    kLargestStepNs))
            return i;
    }
    return m_boots.size();
}

bool ClockAligner::plausible(const storage::GpuProcess& p) {
    return possible(p.monotonicZeroNs) && possible(p.realtimeZeroNs);
}

bool ClockAligner::add(const storage::GpuProcess& p) {
    if (!plausible(p)) return false;
    const std::size_t i = indexOf(p);
    if (i == m_boots.size()) {
        m_boots.push_back(
            {p.bootId, p.host, p.monotonicZeroNs, p.realtimeZeroNs, difference(p), difference(p)});
        return true;
    }
    Boot& boot = m_boots[i];
    boot.lowestDifference = std::min(boot.lowestDifference, difference(p));
    boot.highestDifference = std::max(boot.highestDifference, difference(p));
    if (p.monotonicZeroNs < boot.monotonicNs) {
        boot.monotonicNs = p.monotonicZeroNs;
        boot.realtimeNs = p.realtimeZeroNs;
    }
    return true;
}

void ClockAligner::setWallClockError(const std::string& host, std::int64_t errorNs) {
    if (errorNs >= 0) m_wallErrorNs[host] = errorNs;
}

const ClockAligner::Boot& ClockAligner::reference() const {
    return *std::min_element(m_boots.begin(), m_boots.end(), [](const Boot& a, const Boot& b) {
        return a.realtimeNs < b.realtimeNs;
    });
}

std::int64_t ClockAligner::zeroRealtimeNs() const {
    return m_boots.empty() ? 0 : reference().realtimeNs;
}

std::int64_t ClockAligner::zeroMonotonicNs(const Boot& boot) const {
    return boot.monotonicNs - (boot.realtimeNs - zeroRealtimeNs());
}

std::int64_t ClockAligner::wallErrorNs(const Boot& boot) const {
    const auto known = m_wallErrorNs.find(boot.host);
    if (known == m_wallErrorNs.end()) return -1;
    return saturatingAdd(known->second, boot.highestDifference - boot.lowestDifference);
}

std::int64_t ClockAligner::offsetNs(const storage::GpuProcess& p) const {
    const std::size_t i = indexOf(p);
    return i < m_boots.size() ? p.monotonicZeroNs - zeroMonotonicNs(m_boots[i]) : 0;
}

storage::GpuProcess ClockAligner::aligned(storage::GpuProcess p) const {
    const std::size_t i = indexOf(p);
    if (i == m_boots.size()) {
        p.clockErrorNs = -1;
        p.clock = "its clock is not known";
        return p;
    }
    const Boot& boot = m_boots[i];
    const Boot& first = reference();
    p.realtimeZeroNs -= offsetNs(p);
    p.monotonicZeroNs = zeroMonotonicNs(boot);
    if (&boot == &first) {
        if (p.clock.empty()) p.clock = "same clock";
        return p;
    }
    if (p.clock == kWallClockNotSet) return p;
    p.clock = "aligned by wall clock";
    const std::int64_t here = wallErrorNs(boot);
    const std::int64_t there = wallErrorNs(first);
    const bool known = here >= 0 && there >= 0 && p.clockErrorNs >= 0;
    p.clockErrorNs =
        known ? saturatingAdd(p.clockErrorNs, saturatingAdd(here, there)) : std::int64_t{-1};
    return p;
}

}  // namespace tapescope::profiler::record
