// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/models/count_curve.h"
#include "viewers/models/event_block.h"
#include "viewers/models/selection.h"
#include "viewers/models/tape_snapshot.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tapescope::viewers {

struct GpuView;

/// Rows of a thread from top to bottom; then those of GPUs, then of the threads that feed them.
enum class RowKind : std::uint8_t {
    Step,
    Phase,
    Module,
    Operator,
    Stream,  ///< kernels, copies, memsets of a CUDA stream
    Nvtx,
    Api,  ///< CUDA runtime and driver calls
    Wait,
    Overhead,  ///< of the tracing
    Event,     ///< ticks of a stream: records of CUDA events, and its waits for them
    Busy       ///< when a device did anything; drawn as a chart, not as a row
};
constexpr bool isGpu(RowKind kind) { return kind >= RowKind::Stream; }

/// One row of the timeline: events that do not overlap. All blocks but the last are full.
struct TimelineRow {
    std::uint32_t lane = 0;
    RowKind kind = RowKind::Operator;
    int depth = 0;  ///< nesting level within its kind, from 0
    std::vector<std::shared_ptr<const EventBlock>> blocks;
    std::uint32_t group = kNoGroup;  ///< GPU rows: index into TimelineData::groups
    std::string label = {};          ///< GPU rows: "stream 7"; empty: the kind says it
    std::string tip = {};            ///< GPU rows: all that is known of the lane
    static constexpr std::uint32_t kNoGroup = UINT32_MAX;

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

/// A heading that GPU rows and charts stand under: a process, or a device or thread of it.
struct TimelineGroup {
    std::uint64_t key = 0;  ///< the same as long as the tape is open
    int parent = -1;        ///< index of the process's group; −1: none
    std::string title;
    std::string tip;
    bool startsFolded = false;  ///< one of many: only its title until the user wants more
};

/// A quantity over time in a group.
struct TimelineChart {
    enum class Kind : std::uint8_t { Busy, Queue, Memory, Counter };
    Kind kind = Kind::Counter;
    std::uint32_t group = 0;
    std::string label;
    std::string tip = {};  ///< what the label means; may be empty
    std::string unit;      ///< counters
    std::string device;    ///< Busy: the same for all charts of a device, whichever process used it
    TimelineRow busy;      ///< Busy: stretches in which the device worked
    /// Queue: work of a stream that was launched and not over; see queueDepth().
    CountCurve queue;
    std::uint32_t lane = 0;     ///< Queue: TimelineRow::lane of the stream
    std::size_t uncounted = 0;  ///< Queue: work of the stream without a call on the tape
    /// Memory: levels that lie on each other: in use by PyTorch's allocator, its segments, all that
    /// is taken (the first two null without an allocator history). Counter: [0] alone. Step curves
    /// over time in ns.
    std::array<ScalarSeriesPtr, 3> curves{};
    /// Memory: when PyTorch's allocator gave up.
    struct OutOfMemory {
        std::int64_t timeNs = 0;
        std::int64_t askedBytes = 0;
        std::int64_t freeBytes = 0;  ///< on the device
        std::string site;            ///< "train.py:31 forward"; may be empty
        friend bool operator==(const OutOfMemory&, const OutOfMemory&) = default;
    };
    std::shared_ptr<const std::vector<OutOfMemory>> outOfMemory;  ///< by time; null: never
    double limit = 0;  ///< the scale's end where it is known (100 %, the device's memory), else 0
};

/// All events of a tape, laid out in rows; immutable.
struct TimelineData {
    std::vector<TimelineRow> rows;  ///< by lane, kind, depth; engine first, then by group
    std::vector<TimelineGroup> groups;
    std::vector<TimelineChart> charts;   ///< by group
    std::shared_ptr<const GpuView> gpu;  ///< null: the tape has no GPU part
    ScalarSeriesPtr
        allocated;  ///< allocated bytes over time: step and wall are ns. Null: no memory events
    std::shared_ptr<const Structure> structure;
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
    std::size_t events = 0;
    std::size_t misplaced =
        0;  ///< events that fit no row (a lane with clocks that disagree); not shown, counted

    const EventBlock& block(EventRef ref) const { return rows[ref.row].block(ref.index); }
    bool isGpu(EventRef ref) const { return viewers::isGpu(rows[ref.row].kind); }
    /// Nothing is known of GPU events here: see gpuOrdinal().
    const EventDetail& detail(EventRef ref) const {
        static const EventDetail kNone;
        return isGpu(ref) ? kNone : block(ref).detail[TimelineRow::indexInBlock(ref.index)];
    }
    /// Of GPU events only.
    std::uint32_t gpuOrdinal(EventRef ref) const {
        return block(ref).gpu[TimelineRow::indexInBlock(ref.index)];
    }
    std::int64_t startOf(EventRef ref) const { return rows[ref.row].startNs(ref.index); }
    std::int64_t endOf(EventRef ref) const { return rows[ref.row].endNs(ref.index); }
    std::int64_t durationOf(EventRef ref) const { return endOf(ref) - startOf(ref); }
    storage::NameId nameId(EventRef ref) const {
        return block(ref).name[TimelineRow::indexInBlock(ref.index)];
    }
    storage::Phase phase(EventRef ref) const {
        return isGpu(ref) ? storage::Phase::Other
                          : block(ref).phase[TimelineRow::indexInBlock(ref.index)];
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
