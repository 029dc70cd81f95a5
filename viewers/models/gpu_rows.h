// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/models/event_block.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace tapescope::viewers {

/// The rows of one lane of GPU activity, built from events in any order. What overlaps goes to the
/// next row, so that nested ranges and calls lie under what encloses them. An event that comes late
/// has the blocks after it built anew; all others stay as they are and are shared with snapshots.
class GpuRows final {
public:
    /// Rows of a lane; what needs more is a fault of clocks, not nesting.
    static constexpr std::size_t kMaxRows = 24;
    struct Item {
        std::int64_t startNs = 0;
        std::int64_t durationNs = 0;
        std::uint32_t label = 0;
        std::uint32_t ordinal = 0;
    };
    using Blocks = std::vector<std::shared_ptr<const EventBlock>>;

    void add(const Item& item) {
        m_pending.push_back(item);
        ++m_added;
    }
    /// Another label for an event that was added; the blocks from it on are built anew.
    void relabel(std::int64_t startNs, std::uint32_t ordinal, std::uint32_t label) {
        m_relabelFrom = std::min(m_relabelFrom, startNs);
        m_relabels[ordinal] = label;
    }
    /// Places what was added. Returns the events that found no row.
    std::vector<Item> settle();
    std::size_t added() const { return m_added; }  ///< ever
    std::size_t rows() const { return m_rows.size(); }
    /// After settle(): the row's blocks, all but the last full. Immutable.
    Blocks blocks(std::size_t row);
    bool empty() const { return m_rows.empty() && m_pending.empty(); }

private:
    struct Row {
        Blocks full;
        EventBlock open;
        std::shared_ptr<const EventBlock> published;  ///< copy of `open`; null after it changed
        std::int64_t endNs = INT64_MIN;
    };
    void takeBack(std::int64_t fromNs);
    bool place(const Item& item);

    std::vector<Row> m_rows;
    std::vector<Item> m_pending;
    std::unordered_map<std::uint32_t, std::uint32_t> m_relabels;  ///< ordinal -> label
    std::int64_t m_relabelFrom = INT64_MAX;
    std::int64_t m_lastStart = INT64_MIN;
    std::size_t m_added = 0;
};

}  // namespace tapescope::viewers
