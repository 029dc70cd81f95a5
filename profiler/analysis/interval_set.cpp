// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/interval_set.h"

#include <algorithm>

namespace tapescope::profiler {
namespace {

constexpr std::size_t kPending = 65'536;

using Interval = IntervalSet::Interval;

/// Joins sorted intervals that are not more than gapNs apart.
void joinSorted(std::vector<Interval>& all, std::int64_t gapNs) {
    std::size_t last = 0;
    for (std::size_t i = 1; i < all.size(); ++i) {
        // Unsigned: two ends of the axis may be further apart than a signed number holds.
        const bool near = all[i].beginNs <= all[last].endNs ||
                          static_cast<std::uint64_t>(all[i].beginNs) -
                                  static_cast<std::uint64_t>(all[last].endNs) <=
                              static_cast<std::uint64_t>(gapNs);
        if (near) {
            all[last].endNs = std::max(all[last].endNs, all[i].endNs);
        } else {
            all[++last] = all[i];
        }
    }
    if (!all.empty()) all.resize(last + 1);
}

}  // namespace

void IntervalSet::add(std::int64_t beginNs, std::int64_t endNs) {
    if (endNs <= beginNs) return;
    m_pending.push_back({beginNs, endNs});
    if (m_pending.size() >= kPending) merge();
}

void IntervalSet::merge() {
    if (m_pending.empty()) return;
    const auto byBegin = [](const Interval& a, const Interval& b) { return a.beginNs < b.beginNs; };
    std::sort(m_pending.begin(), m_pending.end(), byBegin);
    const auto middle = static_cast<std::ptrdiff_t>(m_pieces.size());
    m_pieces.insert(m_pieces.end(), m_pending.begin(), m_pending.end());
    std::inplace_merge(m_pieces.begin(), m_pieces.begin() + middle, m_pieces.end(), byBegin);
    m_pending.clear();
    joinSorted(m_pieces, m_resolutionNs);
    closeGaps();
}

void IntervalSet::closeGaps() {
    constexpr std::int64_t kLargest = INT64_MAX / 2;
    while (m_pieces.size() > m_limit && m_resolutionNs < kLargest) {
        m_resolutionNs = m_resolutionNs == 0 ? 1000 : m_resolutionNs * 2;
        joinSorted(m_pieces, m_resolutionNs);
    }
}

const std::vector<Interval>& IntervalSet::pieces() {
    merge();
    return m_pieces;
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
