// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/models/selection.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace tapescope::viewers {

/// Up to kCapacity changes of a number over time, with the extremes of each group of 16 and of each
/// four nodes above: 12.7 bytes a change.
struct CountBlock {
    static constexpr std::size_t kCapacity = 16384;
    static constexpr std::size_t kLeaf = 16;
    static constexpr std::size_t kFan = 4;
    struct Node {
        std::uint32_t low = UINT32_MAX;
        std::uint32_t high = 0;
        void add(const Node& other);
    };
    std::vector<std::int64_t> time;    ///< ascending, all different
    std::vector<std::uint32_t> count;  ///< from then on
    std::vector<std::vector<Node>> levels;

    std::size_t size() const { return time.size(); }
    void finish();  ///< builds `levels`
    /// Over [from, to).
    Node extremes(std::size_t from, std::size_t to) const;
};

/// How many of something there are, as a step function over time; 0 before its first change.
/// Immutable, cheap to copy; any thread.
class CountCurve final {
public:
    struct Range {
        std::uint32_t low = 0;
        std::uint32_t high = 0;
        friend bool operator==(const Range&, const Range&) = default;
    };
    std::uint32_t at(std::int64_t t) const;
    /// Extremes in [begin, end), what it begins with included. == looking at every change, in
    /// O(log n + blocks inside).
    Range within(TimeRange range) const;
    std::uint32_t peak() const;
    std::size_t changes() const;

private:
    friend class CountCurveBuilder;
    /// Index of the first change after t (orAt: or at t); changes() if there is none.
    std::size_t after(std::int64_t t, bool orAt) const;
    std::vector<std::shared_ptr<const CountBlock>> m_blocks;  ///< all but the last full
};

/// Makes a CountCurve of things that begin and end, told in any order. A change that comes late has
/// the blocks after it built anew; all others are shared with the curves handed out before.
class CountCurveBuilder final {
public:
    void add(std::int64_t t, int by) { m_pending.emplace_back(t, by); }
    void settle();
    /// As of the last settle().
    const CountCurve& curve() const { return m_curve; }

private:
    CountCurve m_curve;
    std::vector<std::pair<std::int64_t, int>> m_pending;
};

}  // namespace tapescope::viewers
