// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/interval_set.h"

#include <utility>

namespace tapescope::profiler {
namespace {

constexpr std::size_t kPending = 65'536;

}  // namespace

void IntervalSet::add(std::int64_t beginNs, std::int64_t endNs) {
    if (endNs <= beginNs) return;
    m_pending.push_back({beginNs, endNs});
    if (m_pending.size() >= kPending) merge();
}

void IntervalSet::merge() {
    if (m_pending.empty()) return;
    m_union.add(std::exchange(m_pending, {}));
    if (m_resolutionNs > 0) m_union.closeGaps(m_resolutionNs);
    constexpr std::int64_t kLargest = INT64_MAX / 2;
    while (m_union.intervals().size() > m_limit && m_resolutionNs < kLargest) {
        m_resolutionNs = m_resolutionNs == 0 ? 1000 : m_resolutionNs * 2;
        m_union.closeGaps(m_resolutionNs);
    }
}

const std::vector<Interval>& IntervalSet::pieces() {
    merge();
    return m_union.intervals();
}

std::int64_t IntervalSet::coveredNs() {
    std::int64_t sum = 0;
    for (const Interval& piece : pieces()) {
        std::int64_t length = 0;
        if (__builtin_sub_overflow(piece.endNs, piece.beginNs, &length) ||
            __builtin_add_overflow(sum, length, &sum))
            return INT64_MAX;
    }
    return sum;
}

}  // namespace tapescope::profiler
