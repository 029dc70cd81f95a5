// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/models/event_block.h"
#include "viewers/models/selection.h"
#include "viewers/models/tape_snapshot.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tapescope::viewers {

/// Rows of a thread from top to bottom.
enum class RowKind : std::uint8_t { Step, Phase, Module, Operator };

/// One row of the timeline: events that do not overlap. All blocks but the last are full.
struct TimelineRow {
    std::uint32_t lane = 0;
    RowKind kind = RowKind::Operator;
    int depth = 0;  ///< nesting level within its kind, from 0
    std::vector<std::shared_ptr<const EventBlock>> blocks;

    std::size_t size() const {
        return blocks.empty() ? 0
                              : (blocks.size() - 1) * EventBlock::kCapacity + blocks.back()->size();
    }
    const EventBlock& block(std::size_t event) const {
        return *blocks[event / EventBlock::kCapacity];
    }
    static std::size_t indexInBlock(std::size_t event) { return event % EventBlock::kCapacity; }
    std::int64_t startNs(std::size_t event) const {
        return block(event).start[indexInBlock(event)];
    }
    std::int64_t endNs(std::size_t event) const { return block(event).endNs(indexInBlock(event)); }
    /// First event ending after t; size() if none.
    std::size_t firstEndingAfter(std::int64_t t) const;
};

/// An event of a TimelineData. Rows may be inserted as a tape grows: an EventRef is valid for the
/// data it came from.
struct EventRef {
    std::size_t row = 0;
    std::size_t index = 0;
    friend bool operator==(const EventRef&, const EventRef&) = default;
};

/// All events of a tape, laid out in rows; immutable.
struct TimelineData {
    std::vector<TimelineRow> rows;  ///< by lane, kind, depth
    ScalarSeriesPtr
        allocated;  ///< allocated bytes over time: step and wall are ns. Null: no memory events
    std::shared_ptr<const Structure> structure;
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
    std::size_t events = 0;
    std::size_t misplaced =
        0;  ///< events that fit no row (a lane with clocks that disagree); not shown, counted

    const EventBlock& block(EventRef ref) const { return rows[ref.row].block(ref.index); }
    const EventDetail& detail(EventRef ref) const {
        return block(ref).detail[TimelineRow::indexInBlock(ref.index)];
    }
    std::int64_t startOf(EventRef ref) const { return rows[ref.row].startNs(ref.index); }
    std::int64_t endOf(EventRef ref) const { return rows[ref.row].endNs(ref.index); }
    std::int64_t durationOf(EventRef ref) const { return endOf(ref) - startOf(ref); }
    storage::NameId nameId(EventRef ref) const {
        return block(ref).name[TimelineRow::indexInBlock(ref.index)];
    }
    storage::Phase phase(EventRef ref) const {
        return block(ref).phase[TimelineRow::indexInBlock(ref.index)];
    }
    /// "conv2d"; modules: their path; steps: "step 12".
    std::string title(EventRef ref) const;

    /// The event of a row at time t, or none.
    std::optional<EventRef> at(std::size_t row, std::int64_t t) const;
    /// The call with this id, else the call of node seq in the given step (any step: the first).
    std::optional<EventRef> find(const OpRef& op) const;
    /// The training step's own event.
    std::optional<EventRef> findStep(std::int64_t step) const;
};
using TimelinePtr = std::shared_ptr<const TimelineData>;

}  // namespace tapescope::viewers
