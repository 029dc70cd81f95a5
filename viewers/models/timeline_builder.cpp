// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/models/timeline_builder.h"

#include "viewers/models/gpu_builder.h"
#include "viewers/models/scalar_series.h"

#include <algorithm>

namespace tapescope::viewers {
namespace {

using Kind = storage::OpEvent::Kind;

constexpr int kMaxRows =
    64;  // of one kind in a lane; what needs more is a clock fault, not nesting

RowKind rowKind(Kind kind) {
    switch (kind) {
        case Kind::Step:
            return RowKind::Step;
        case Kind::Phase:
            return RowKind::Phase;
        case Kind::Module:
        case Kind::BackwardNode:
            return RowKind::Module;
        case Kind::Operator:
            break;
    }
    return RowKind::Operator;
}

}  // namespace

void TimelineBuilder::append(const std::vector<storage::OpEvent>& events) {
    // Outer before inner: by start, and the longer first. Keys are sorted, the events stay where
    // they are.
    struct Order {
        std::int64_t startNs;
        std::int64_t durationNs;
        std::uint32_t lane;
        std::uint32_t index;
    };
    std::vector<Order> order;
    order.reserve(events.size());
    for (const storage::OpEvent& event : events)
        order.push_back({event.startNs, event.durationNs, event.lane,
                         static_cast<std::uint32_t>(order.size())});
    std::sort(order.begin(), order.end(), [&events](const Order& a, const Order& b) {
        return std::tuple(a.lane, a.startNs, -a.durationNs, events[a.index].depth, a.index) <
               std::tuple(b.lane, b.startNs, -b.durationNs, events[b.index].depth, b.index);
    });
    // Training nests its modules in steps and phases, evaluation does not: depths count from the
    // shallowest module of a phase, so that both share rows.
    for (const storage::OpEvent& event : events) {
        if (rowKind(event.kind) != RowKind::Module) continue;
        const auto [base, isNew] = m_baseDepth.try_emplace({event.lane, event.phase}, event.depth);
        base->second = std::min<int>(base->second, event.depth);
    }
    std::vector<std::int64_t> openOperators;  // ends of the operators around the current one
    std::uint32_t lane = 0;
    for (const Order& at : order) {
        const storage::OpEvent& event = events[at.index];
        const RowKind kind = rowKind(event.kind);
        int depth = event.depth;
        if (kind == RowKind::Operator) {
            // Operators sit at many depths of the module tree: only their own nesting makes rows.
            if (event.lane != lane) openOperators.clear();
            lane = event.lane;
            while (!openOperators.empty() && openOperators.back() <= event.startNs)
                openOperators.pop_back();
            depth = static_cast<int>(openOperators.size());
            openOperators.push_back(event.startNs + event.durationNs);
        } else if (kind == RowKind::Module) {
            depth -= m_baseDepth.at({event.lane, event.phase});
        } else {
            depth =
                0;  // steps and phases follow each other; one inside another goes to the next row
        }
        place(event, kind, depth);
    }
}

bool TimelineBuilder::push(Row& row, const storage::OpEvent& event) {
    if (event.startNs < row.endNs) return false;
    if (row.open.size() == EventBlock::kCapacity) {
        row.open.extend(0);
        row.full.push_back(std::make_shared<const EventBlock>(std::move(row.open)));
        row.open = EventBlock();
    }
    row.open.push(event);
    row.published = nullptr;
    row.endNs = event.startNs + std::max<std::int64_t>(0, event.durationNs);
    return true;
}

void TimelineBuilder::place(const storage::OpEvent& event, RowKind kind, int depth) {
    for (int d = depth; d < depth + kMaxRows; ++d) {
        if (!push(m_rows[Key{event.lane, kind, d}], event)) continue;
        ++m_events;
        m_beginNs = std::min(m_beginNs, event.startNs);
        m_endNs = std::max(m_endNs, event.startNs + event.durationNs);
        return;
    }
    ++m_misplaced;
}

void TimelineBuilder::append(const std::vector<storage::MemoryEvent>& events) {
    std::vector<storage::ScalarPoint> points;
    points.reserve(events.size());
    for (const storage::MemoryEvent& event : events) {
        if (event.kind != storage::MemoryKind::Alloc && event.kind != storage::MemoryKind::Free)
            continue;
        // Several threads allocate: their records may arrive a little out of order, a curve only
        // goes forward.
        m_lastMemoryNs = std::max(m_lastMemoryNs, event.timeNs);
        points.push_back({m_lastMemoryNs, static_cast<double>(m_lastMemoryNs),
                          static_cast<double>(event.allocatedBytes)});
        m_beginNs = std::min(m_beginNs, m_lastMemoryNs);
        m_endNs = std::max(m_endNs, m_lastMemoryNs);
    }
    if (!points.empty()) m_allocated = ScalarSeries::append(m_allocated.get(), points);
}

TimelinePtr TimelineBuilder::snapshot(std::shared_ptr<const Structure> structure, GpuBuilder* gpu) {
    auto data = std::make_shared<TimelineData>();
    std::map<std::pair<std::uint32_t, RowKind>, int> depths;
    for (auto& [key, row] : m_rows) {
        if (row.open.size() == 0 && row.full.empty()) continue;
        if (!row.published) {
            row.open.extend(0);
            row.published = std::make_shared<const EventBlock>(row.open);
        }
        TimelineRow out;
        out.lane = std::get<0>(key);
        out.kind = std::get<1>(key);
        out.depth = depths[{out.lane, out.kind}]++;  // depths that never occur make no empty rows
        out.blocks = row.full;
        out.blocks.push_back(row.published);
        data->rows.push_back(std::move(out));
    }
    data->allocated = m_allocated;
    data->structure = std::move(structure);
    data->beginNs = m_endNs >= m_beginNs ? m_beginNs : 0;
    data->endNs = m_endNs >= m_beginNs ? m_endNs : 0;
    data->events = m_events;
    data->misplaced = m_misplaced;
    if (gpu != nullptr) gpu->fill(*data);
    return data;
}

}  // namespace tapescope::viewers
