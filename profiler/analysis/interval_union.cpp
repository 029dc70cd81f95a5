// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/interval_union.h"

#include <algorithm>

namespace tapescope::profiler {

std::size_t IntervalUnion::add(std::vector<Interval> batch) {
    std::erase_if(batch, [](const Interval& i) { return i.endNs <= i.beginNs; });
    if (batch.empty()) return m_intervals.size();
    const auto before = [](const Interval& a, const Interval& b) { return a.beginNs < b.beginNs; };
    std::sort(batch.begin(), batch.end(), before);
    const auto affected = std::partition_point(
        m_intervals.begin(), m_intervals.end(),
        [&batch](const Interval& i) { return i.endNs < batch.front().beginNs; });
    const auto first = static_cast<std::size_t>(affected - m_intervals.begin());
    std::vector<Interval> sorted;
    sorted.reserve(batch.size() + m_intervals.size() - first);
    std::merge(affected, m_intervals.end(), batch.begin(), batch.end(), std::back_inserter(sorted),
               before);
    m_intervals.resize(first);
    for (const Interval& next : sorted) {
        if (m_intervals.size() > first && next.beginNs <= m_intervals.back().endNs) {
            m_intervals.back().endNs = std::max(m_intervals.back().endNs, next.endNs);
        } else {
            m_intervals.push_back(next);
        }
    }
    return first;
}

void IntervalUnion::closeGaps(std::int64_t gapNs) {
    std::size_t last = 0;
    for (std::size_t i = 1; i < m_intervals.size(); ++i) {
        // Unsigned: two ends of the axis may be further apart than a signed number holds.
        const bool near = static_cast<std::uint64_t>(m_intervals[i].beginNs) -
                              static_cast<std::uint64_t>(m_intervals[last].endNs) <=
                          static_cast<std::uint64_t>(gapNs);
        if (near) {
            m_intervals[last].endNs = m_intervals[i].endNs;
        } else {
            m_intervals[++last] = m_intervals[i];
        }
    }
    if (!m_intervals.empty()) m_intervals.resize(last + 1);
}

std::int64_t IntervalUnion::totalNs() const {
    std::int64_t sum = 0;
    for (const Interval& i : m_intervals) sum += i.endNs - i.beginNs;
    return sum;
}

std::int64_t IntervalUnion::within(std::int64_t beginNs, std::int64_t endNs) const {
    std::int64_t sum = 0;
    for (auto i =
             std::partition_point(m_intervals.begin(), m_intervals.end(),
                                  [beginNs](const Interval& at) { return at.endNs <= beginNs; });
         i != m_intervals.end() && i->beginNs < endNs; ++i)
        sum += std::min(i->endNs, endNs) - std::max(i->beginNs, beginNs);
    return sum;
}

}  // namespace tapescope::profiler
