// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "storage/tape/records.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

namespace tapescope::viewers {

/// Of one event, what is needed only once it is selected.
struct EventDetail {
    std::uint64_t opId = 0;
    std::uint64_t parentId = 0;
    double flops = 0;
    std::int64_t bytes = 0;
    std::int32_t step = -1;
    storage::ModuleId module = 0;
    storage::SiteId site = 0;
    std::uint32_t seq = 0;
    storage::OpEvent::Kind kind = storage::OpEvent::Kind::Operator;
};

/// Up to kCapacity events of one row, sorted and not overlapping, with a pyramid on top: level 0
/// groups 16 events, each higher level 4 nodes, up to one. A node keeps its extent, its busy time
/// and its longest event, so that a pixel shows the true busy share whatever the zoom. The columns
/// that drawing reads are apart from the details.
struct EventBlock {
    static constexpr std::size_t kCapacity = 16384;
    static constexpr std::size_t kLeaf = 16;
    static constexpr std::size_t kFan = 4;
    static constexpr std::uint32_t kLong = UINT32_MAX;  ///< the duration is in longDurations

    struct Node {
        std::int64_t beginNs = std::numeric_limits<std::int64_t>::max();
        std::int64_t endNs = std::numeric_limits<std::int64_t>::min();
        std::int64_t busyNs = 0;
        std::int64_t topNs = 0;  ///< duration of the longest event
        std::uint32_t top = 0;   ///< its index
    };

    std::vector<std::int64_t> start;
    std::vector<std::uint32_t> duration;
    std::vector<storage::NameId> name;
    std::vector<storage::Phase> phase;  ///< empty in rows of GPU activity
    std::vector<EventDetail> detail;    ///< the same
    std::vector<std::uint32_t> gpu;     ///< GPU activity: its ordinal; `name` is a GpuLabel then
    std::unordered_map<std::uint32_t, std::int64_t> longDurations;  ///< of 4.29 s and more
    std::vector<std::vector<Node>> levels;

    std::size_t size() const { return start.size(); }
    std::int64_t durationNs(std::size_t i) const {
        return duration[i] != kLong ? duration[i] : longDurations.at(static_cast<std::uint32_t>(i));
    }
    std::int64_t endNs(std::size_t i) const { return start[i] + durationNs(i); }
    bool isGpu() const { return !gpu.empty(); }
    std::int64_t beginNs() const { return start.front(); }
    std::int64_t endNs() const { return endNs(size() - 1); }
    /// Index of the first event that ends after t; size() if none.
    std::size_t firstEndingAfter(std::int64_t t) const;

    void push(const storage::OpEvent& event);
    void push(std::int64_t startNs, std::int64_t durationNs, std::uint32_t label,
              std::uint32_t ordinal);
    /// Brings the pyramid up to date after push(); `from` is the size at the last call.
    void extend(std::size_t from);

private:
    void pushTime(std::int64_t startNs, std::int64_t durationNs);
};

}  // namespace tapescope::viewers
