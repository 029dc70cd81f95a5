// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ctime>
#include <deque>

namespace tapescope::profiler::cupti {

std::int64_t nowNs(clockid_t clock);

/// Places CLOCK_REALTIME, in which CUPTI stamps records, on CLOCK_MONOTONIC, which is never set:
/// pairs of both are sampled all through the session, and a time is converted with the offset that
/// held around it. So NTP's slewing is followed, and a step (settimeofday, resume) is found.
/// One thread.
class ClockMap final {
public:
    struct Sample {
        std::int64_t monotonic = 0;
        std::int64_t realtime = 0;
        std::int64_t widthNs = 0;  ///< between the two readings around it
        std::int64_t offset() const { return realtime - monotonic; }
    };
    struct Time {
        std::int64_t monotonic = 0;
        bool stepped = false;  ///< the clock was being set around then: the place is uncertain
    };

    static Sample measure();
    void add(Sample sample);
    void sample() { add(measure()); }
    Time toMonotonic(std::int64_t realtime) const;

    int steps() const { return m_steps; }
    /// Half the widest pair: how far converted times may be off.
    std::int64_t errorNs() const { return m_widest / 2; }
    std::int64_t firstMonotonic() const {
        return m_samples.empty() ? 0 : m_samples.front().monotonic;
    }
    std::int64_t lastMonotonic() const {
        return m_samples.empty() ? 0 : m_samples.back().monotonic;
    }

private:
    static bool isStep(const Sample& a, const Sample& b);

    std::deque<Sample> m_samples;
    mutable std::size_t m_last = 0;  ///< index of the pair that served last
    std::int64_t m_widest = 0;
    int m_steps = 0;
};

}  // namespace tapescope::profiler::cupti
