// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tapescope::profiler {

struct Interval {
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
    friend bool operator==(const Interval&, const Interval&) = default;
};

/// When at least one of many intervals runs: a device is busy while any of its streams is. Kept
/// sorted, apart from each other, and growing in any order; intervals that touch are one.
class IntervalUnion final {
public:
    /// Empty and reversed intervals count for nothing. Returns the index of the first interval that
    /// may have changed. Cost: the batch and what lies after its first interval.
    std::size_t add(std::vector<Interval> batch);
    /// Joins intervals that are not more than gapNs apart.
    void closeGaps(std::int64_t gapNs);
    const std::vector<Interval>& intervals() const { return m_intervals; }
    std::int64_t totalNs() const;
    /// Busy time inside [begin, end).
    std::int64_t within(std::int64_t beginNs, std::int64_t endNs) const;

private:
    std::vector<Interval> m_intervals;
};

}  // namespace tapescope::profiler
