// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/models/timeline_model.h"

#include <map>
#include <tuple>
#include <vector>

namespace tapescope::viewers {

class GpuBuilder;

/// Lays the events of a tape out in rows as they arrive. One thread at a time (the session's
/// worker); snapshots are immutable, share all full blocks and copy at most one open block a row.
class TimelineBuilder final {
public:
    /// Events of any lanes, in time order per lane; an enclosing event may come later than what it
    /// encloses.
    void append(const std::vector<storage::OpEvent>& events);
    void append(const std::vector<storage::MemoryEvent>& events);
    std::size_t events() const { return m_events; }

    /// gpu, if given, adds what it knows.
    TimelinePtr snapshot(std::shared_ptr<const Structure> structure, GpuBuilder* gpu = nullptr);

private:
    struct Row {
        std::vector<std::shared_ptr<const EventBlock>> full;
        EventBlock open;
        std::shared_ptr<const EventBlock> published;  ///< copy of `open`; null after it grew
        std::int64_t endNs = INT64_MIN;
    };
    using Key = std::tuple<std::uint32_t, RowKind, int>;

    void place(const storage::OpEvent& event, RowKind kind, int depth);
    static bool push(Row& row, const storage::OpEvent& event);

    std::map<Key, Row> m_rows;
    std::map<std::pair<std::uint32_t, storage::Phase>, int> m_baseDepth;  ///< of modules
    ScalarSeriesPtr m_allocated;
    std::int64_t m_lastMemoryNs = INT64_MIN;
    std::int64_t m_beginNs = INT64_MAX;
    std::int64_t m_endNs = INT64_MIN;
    std::size_t m_events = 0;
    std::size_t m_misplaced = 0;
};

}  // namespace tapescope::viewers
