// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/models/timeline_model.h"
#include "viewers/timeline/time_axis.h"

#include <cstdint>
#include <set>
#include <vector>

namespace tapescope::viewers {

/// What one row looks like at one zoom: events of two pixels and more as boxes, all others as the
/// busy share of each pixel with the longest event in it. Found by descending the pyramid: O(pixels
/// · log n), whatever the zoom.
struct RowPixels {
    struct Pixel {
        float busyNs = 0;
        std::int64_t topNs = 0;
        std::size_t top = 0;  ///< event index of the longest one
    };
    struct Box {
        int x0 = 0;  ///< may be −1 or beyond the width: cut at the edge
        int x1 = 0;
        std::size_t event = 0;
    };
    std::vector<Pixel> pixels;
    std::vector<Box> boxes;
    std::size_t visited = 0;  ///< nodes and events looked at

    void collect(const TimelineRow& row, const TimeAxis& axis);
};

/// Where rows stand, in pixels below the ruler.
struct RowPlace {
    std::size_t row = 0;
    int y = 0;
    int height = 0;
};
struct LanePlace {
    std::uint32_t lane = 0;
    int y = 0;       ///< of its title line
    int height = 0;  ///< with its rows
};
struct GroupPlace {
    std::size_t group = 0;
    int y = 0;
    int height = 0;  ///< of its title line
    int level = 0;   ///< 0: a process
    bool folded = false;
};
struct ChartPlace {
    std::size_t chart = 0;
    int y = 0;
    int height = 0;
};
using FoldedGroups = std::set<std::uint64_t>;  ///< keys of groups that show their title only
struct TimelineLayout {
    std::vector<LanePlace> lanes;
    std::vector<RowPlace> rows;  ///< of groups that are not folded; by row
    std::vector<GroupPlace> groups;
    std::vector<ChartPlace> charts;
    int memoryY = -1;  ///< −1: no memory lane
    int memoryHeight = 0;
    int height = 0;  ///< of everything

    /// Rows and the memory lane are taller where the area has room. queues: streams have theirs.
    static TimelineLayout of(const TimelineData& data, int textHeight, int available,
                             const FoldedGroups& folded = {}, bool queues = true);
    /// Index into rows of the row at y; −1: none.
    int rowAt(int y) const;
    /// The place of a row of the data; null: its group is folded.
    const RowPlace* placeOf(std::size_t row) const;
    const GroupPlace* groupAt(int y) const;  ///< whose title line is at y
    const ChartPlace* chartAt(int y) const;
};

}  // namespace tapescope::viewers
