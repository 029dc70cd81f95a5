// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/timeline/timeline_geometry.h"

#include <algorithm>

namespace tapescope::viewers {
namespace {

constexpr double kBoxPixels = 2;

class Collector final {
public:
    Collector(RowPixels& out, const TimeAxis& axis)
        : m_out(out),
          m_axis(axis),
          m_pixelNs(static_cast<std::int64_t>(std::max(1.0, axis.nsPerPx))),
          m_boxNs(std::max<std::int64_t>(1, static_cast<std::int64_t>(axis.nsPerPx * kBoxPixels))),
          m_end(axis.t1()) {}

    void block(const EventBlock& block, std::size_t firstEvent) {
        m_block = &block;
        m_first = firstEvent;
        descend(block.levels.size() - 1, 0);
    }

private:
    void deposit(std::int64_t at, std::int64_t busyNs, std::int64_t topNs, std::size_t top) {
        const int x = m_axis.pixel(at);
        if (x < 0 || x >= static_cast<int>(m_out.pixels.size())) return;
        RowPixels::Pixel& pixel = m_out.pixels[static_cast<std::size_t>(x)];
        pixel.busyNs += static_cast<float>(busyNs);
        if (topNs < pixel.topNs) return;
        pixel.topNs = topNs;
        pixel.top = m_first + top;
    }
    void descend(std::size_t level, std::size_t index) {
        const EventBlock::Node& node = m_block->levels[level][index];
        ++m_out.visited;
        if (node.endNs < m_axis.t0 || node.beginNs >= m_end) return;
        if (node.endNs - node.beginNs <= m_pixelNs) {
            deposit(node.beginNs + (node.endNs - node.beginNs) / 2, node.busyNs, node.topNs,
                    node.top);
            return;
        }
        if (level > 0) {
            const std::size_t end =
                std::min(m_block->levels[level - 1].size(), (index + 1) * EventBlock::kFan);
            for (std::size_t child = index * EventBlock::kFan; child < end; ++child)
                descend(level - 1, child);
            return;
        }
        const std::size_t end = std::min(m_block->size(), (index + 1) * EventBlock::kLeaf);
        for (std::size_t i = index * EventBlock::kLeaf; i < end; ++i) {
            ++m_out.visited;
            const std::int64_t start = m_block->start[i], ns = m_block->durationNs(i);
            if (start + ns < m_axis.t0) continue;
            if (start >= m_end) break;
            if (ns >= m_boxNs) {
                m_out.boxes.push_back({m_axis.pixel(start), m_axis.pixel(start + ns), m_first + i});
            } else {
                deposit(start, ns, ns, i);
            }
        }
    }

    RowPixels& m_out;
    const TimeAxis& m_axis;
    std::int64_t m_pixelNs;
    std::int64_t m_boxNs;
    std::int64_t m_end;
    const EventBlock* m_block = nullptr;
    std::size_t m_first = 0;
};

}  // namespace

void RowPixels::collect(const TimelineRow& row, const TimeAxis& axis) {
    pixels.assign(static_cast<std::size_t>(axis.width), {});
    boxes.clear();
    visited = 0;
    Collector collector(*this, axis);
    const auto first =
        std::partition_point(row.blocks.begin(), row.blocks.end(),
                             [&axis](const auto& b) { return b->endNs() < axis.t0; });
    for (auto block = first; block != row.blocks.end() && (*block)->beginNs() < axis.t1(); ++block)
        collector.block(
            **block, static_cast<std::size_t>(block - row.blocks.begin()) * EventBlock::kCapacity);
}

namespace {

constexpr int kMinMemory = 64, kMaxMemory = 200;
constexpr int kGap = 2, kLaneGap = 8;
constexpr int kMostRoom = 18;   // pixels that a stream's row may have besides its text
constexpr int kEngineRoom = 6;  // rows of operators take it twice

struct Room {
    int textHeight = 0;
    int roomy = 0;  ///< pixels that each row may have besides its text
    bool queues = true;
};

/// Everything below a group's title: busy time, rows with their queues, then the other charts.
int stackGroup(TimelineLayout& layout, const TimelineData& data, std::size_t group,
               std::size_t& row, int y, const Room& room, bool shown) {
    const int textHeight = room.textHeight, roomy = room.roomy;
    const auto [firstChart, lastChart] = std::ranges::equal_range(
        data.charts, static_cast<std::uint32_t>(group), {}, &TimelineChart::group);
    const auto place = [&](auto chart, int height) {
        layout.charts.push_back({static_cast<std::size_t>(chart - data.charts.begin()), y, height});
        y += height + kGap + 2;
    };
    const auto charts = [&](bool busy) {
        for (auto at = firstChart; at != lastChart; ++at) {
            if ((at->kind == TimelineChart::Kind::Busy) != busy || !shown ||
                at->kind == TimelineChart::Kind::Queue)
                continue;
            const int lines = at->kind == TimelineChart::Kind::Memory ? 4 : 2;
            place(at, lines * textHeight + 2 + 2 * roomy);  // curves gain most by room
        }
    };
    // They come in the order of their streams.
    auto queue = firstChart;
    const auto queueOf = [&](std::uint32_t lane) {
        while (queue != lastChart && queue->kind != TimelineChart::Kind::Queue) ++queue;
        if (queue == lastChart || queue->lane != lane) return;
        y -= kGap;  // nearer to its stream than to the next
        place(queue++, textHeight + 2 + roomy);
    };
    charts(true);
    for (; row < data.rows.size() && data.rows[row].group == group; ++row) {
        if (!shown) continue;
        const RowKind kind = data.rows[row].kind;
        // Ticks stand directly on their stream.
        const bool ticks = kind == RowKind::Event && row + 1 < data.rows.size() &&
                           data.rows[row + 1].lane == data.rows[row].lane;
        const int height = ticks
                               ? textHeight / 2
                               : textHeight + (kind == RowKind::Stream ? 6 + roomy : 1 + roomy / 2);
        layout.rows.push_back({row, y, height});
        if (ticks) {
            y += height;
            continue;
        }
        const bool last = row + 1 == data.rows.size() || data.rows[row + 1].group != group ||
                          data.rows[row + 1].kind != data.rows[row].kind ||
                          data.rows[row + 1].lane != data.rows[row].lane;
        y += height + (last ? kGap + 2 : 1);
        if (last && room.queues && data.rows[row].kind == RowKind::Stream)
            queueOf(data.rows[row].lane);
    }
    charts(false);
    return y;
}

int stackGroups(TimelineLayout& layout, const TimelineData& data, std::size_t row, int y,
                const Room& room, const FoldedGroups& folded) {
    const int textHeight = room.textHeight;
    const auto isFolded = [&](int group) {
        return group >= 0 && folded.contains(data.groups[static_cast<std::size_t>(group)].key);
    };
    for (std::size_t g = 0; g < data.groups.size(); ++g) {
        const TimelineGroup& group = data.groups[g];
        const bool hidden = isFolded(group.parent);
        const bool shut = isFolded(static_cast<int>(g));
        if (!hidden) {
            if (y > 4) y += group.parent < 0 ? kLaneGap : kGap;
            layout.groups.push_back({g, y, textHeight + 4, group.parent < 0 ? 0 : 1, shut});
            y += textHeight + 6;
        }
        y = stackGroup(layout, data, g, row, y, room, !hidden && !shut);
    }
    return y;
}

TimelineLayout stacked(const TimelineData& data, const Room& space, const FoldedGroups& folded) {
    const int textHeight = space.textHeight;
    TimelineLayout layout;
    int y = 4;
    std::size_t r = 0;
    for (; r < data.rows.size() && !isGpu(data.rows[r].kind); ++r) {
        const TimelineRow& row = data.rows[r];
        if (layout.lanes.empty() || layout.lanes.back().lane != row.lane) {
            if (!layout.lanes.empty()) y += kLaneGap;
            layout.lanes.push_back({row.lane, y, 0});
            y += textHeight + 4;
        }
        const int room = std::min(space.roomy, kEngineRoom);
        const int height = textHeight + (row.kind == RowKind::Operator ? 6 + 2 * room : 2 + room);
        layout.rows.push_back({r, y, height});
        y += height +
             (r + 1 < data.rows.size() && data.rows[r + 1].kind != row.kind ? kGap + 2 : kGap);
        layout.lanes.back().height = y - layout.lanes.back().y;
    }
    y = stackGroups(layout, data, r, y, space, folded);
    if (data.allocated) {
        y += kLaneGap;
        layout.memoryY = y;
        layout.memoryHeight = kMinMemory;
        y += kMinMemory;
    }
    layout.height = y + kLaneGap;
    return layout;
}

}  // namespace

TimelineLayout TimelineLayout::of(const TimelineData& data, int textHeight, int available,
                                  const FoldedGroups& folded, bool queues) {
    TimelineLayout layout;
    for (int roomy = kMostRoom; roomy >= 0; roomy -= 3) {
        layout = stacked(data, {textHeight, roomy, queues}, folded);
        if (layout.height + kMinMemory / 2 <= available) break;
    }
    if (layout.memoryY < 0) return layout;
    const int spare = std::clamp(available - layout.height, 0, kMaxMemory - kMinMemory);
    layout.memoryHeight += spare;
    layout.height += spare;
    return layout;
}

const RowPlace* TimelineLayout::placeOf(std::size_t row) const {
    const auto found = std::partition_point(rows.begin(), rows.end(),
                                            [row](const RowPlace& r) { return r.row < row; });
    return found != rows.end() && found->row == row ? &*found : nullptr;
}

namespace {

template <class Place>
const Place* placeAt(const std::vector<Place>& places, int y) {
    for (const Place& place : places)
        if (place.y <= y && y < place.y + place.height) return &place;
    return nullptr;
}

}  // namespace

const GroupPlace* TimelineLayout::groupAt(int y) const { return placeAt(groups, y); }
const ChartPlace* TimelineLayout::chartAt(int y) const { return placeAt(charts, y); }

int TimelineLayout::rowAt(int y) const {
    const auto found = std::partition_point(rows.begin(), rows.end(),
                                            [y](const RowPlace& r) { return r.y + r.height <= y; });
    return found != rows.end() && found->y <= y ? static_cast<int>(found - rows.begin()) : -1;
}

}  // namespace tapescope::viewers
