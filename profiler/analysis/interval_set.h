// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiler/analysis/interval_union.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tapescope::profiler {

/// The union of intervals that come in any order, in bounded memory. Above `limit` pieces the
/// smallest gaps between them are closed: resolutionNs() says up to which size gaps may be missing.
class IntervalSet final {
public:
    using Interval = profiler::Interval;
    explicit IntervalSet(std::size_t limit = 262'144) : m_limit(limit) {}

    void add(std::int64_t beginNs, std::int64_t endNs);
    /// In order, disjoint, not touching.
    const std::vector<Interval>& pieces();
    std::int64_t coveredNs();
    std::int64_t resolutionNs() const { return m_resolutionNs; }

private:
    void merge();

    std::size_t m_limit;
    IntervalUnion m_union;
    std::vector<Interval> m_pending;
    std::int64_t m_resolutionNs = 0;
};

}  // namespace tapescope::profiler
