// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/models/gpu_relations.h"

#include "viewers/models/gpu_builder.h"
#include "viewers/models/gpu_view.h"

#include <algorithm>

namespace tapescope::viewers {
namespace {

using profiler::GpuOrdinal;

constexpr std::size_t kMostCalls = 4096;  // of a range that are looked at
constexpr std::size_t kLookAhead = 1024;  // launched after a time, until a queue has its end

std::optional<EventRef> findIn(const TimelineData& data, std::size_t first, std::size_t count,
                               std::int64_t startNs, GpuOrdinal ordinal) {
    for (std::size_t r = first; r < first + count && r < data.rows.size(); ++r) {
        const std::size_t i = data.rows[r].firstEndingAfter(startNs);
        if (i < data.rows[r].size() && data.rows[r].startNs(i) <= startNs &&
            data.gpuOrdinal({r, i}) == ordinal)
            return EventRef{r, i};
    }
    return std::nullopt;
}

/// All rows of the lane that a row belongs to.
std::pair<std::size_t, std::size_t> laneRows(const TimelineData& data, std::size_t row) {
    const auto same = [&](std::size_t r) {
        return data.rows[r].lane == data.rows[row].lane && data.rows[r].kind == data.rows[row].kind;
    };
    std::size_t first = row, last = row + 1;
    while (first > 0 && same(first - 1)) --first;
    while (last < data.rows.size() && same(last)) ++last;
    return {first, last};
}

/// Device work of calls, without calling one's work twice for a runtime call and its driver call.
void addWork(const TimelineData& data, GpuOrdinal call, GpuRelations& out) {
    const profiler::GpuActivity& activity = data.gpu->activity;
    for (const GpuOrdinal work : activity.workOf(call, GpuRelations::kMostWork + 1)) {
        if (!storage::runsOnDevice(activity.event(work).kind)) continue;
        const auto ref = findGpu(data, work);
        if (!ref || std::find(out.work.begin(), out.work.end(), *ref) != out.work.end()) continue;
        if (out.work.size() >= GpuRelations::kMostWork) {
            out.workIsCut = true;
            return;
        }
        out.work.push_back(*ref);
        out.deviceNs += activity.event(work).durationNs;
    }
}

void addRanges(const TimelineData& data, EventRef call, GpuRelations& out) {
    const storage::GpuEvent& e = data.gpu->activity.event(data.gpuOrdinal(call));
    GpuLaneKey key;
    key.process = e.process;
    key.kind = RowKind::Nvtx;
    key.thread = e.thread;
    const auto found = data.gpu->rows.find(key);
    if (found == data.gpu->rows.end()) return;
    const auto [first, count] = found->second;
    for (std::size_t r = first + count; r-- > first;)
        if (const auto range = data.at(r, data.startOf(call))) out.ranges.push_back(*range);
}

void sortWork(const TimelineData& data, GpuRelations& out) {
    std::stable_sort(out.work.begin(), out.work.end(),
                     [&data](EventRef a, EventRef b) { return data.startOf(a) < data.startOf(b); });
}

void relateOperator(const TimelineData& data, GpuOrdinal ordinal, GpuRelations& out) {
    out.opId = data.gpu->activity.operatorOf(ordinal);
    if (out.opId && out.opId->kind == storage::ExternalKind::Engine)
        out.op = data.find({.opId = out.opId->id});
}

void relateRange(const TimelineData& data, EventRef range, GpuRelations& out) {
    const auto begin = data.startOf(range), end = data.endOf(range);
    std::size_t looked = 0;
    for (std::size_t r = 0; r < data.rows.size(); ++r) {
        const TimelineRow& row = data.rows[r];
        if (row.kind != RowKind::Api || row.lane != data.rows[range.row].lane) continue;
        for (std::size_t i = row.firstEndingAfter(begin);
             i < row.size() && row.startNs(i) < end && !out.workIsCut; ++i) {
            if (row.startNs(i) < begin) continue;
            if (++looked > kMostCalls) {
                out.workIsCut = true;
                break;
            }
            addWork(data, data.gpuOrdinal({r, i}), out);
        }
    }
    sortWork(data, out);
}

}  // namespace

std::optional<EventRef> findGpu(const TimelineData& data, GpuOrdinal ordinal) {
    if (!data.gpu || ordinal >= data.gpu->activity.size()) return std::nullopt;
    const storage::GpuEvent& e = data.gpu->activity.event(ordinal);
    const std::int64_t start = std::max<std::int64_t>(0, e.startNs);
    const auto lane = data.gpu->rows.find(gpuLaneKey(e));
    if (lane != data.gpu->rows.end())
        if (auto found = findIn(data, lane->second.first, lane->second.second, start, ordinal))
            return found;
    if (e.kind != storage::GpuEventKind::Sync) return std::nullopt;
    // A wait without a thread stands on that of its call.
    for (const auto& [key, rows] : data.gpu->rows)
        if (key.kind == RowKind::Wait && key.process == e.process)
            if (auto found = findIn(data, rows.first, rows.second, start, ordinal)) return found;
    return std::nullopt;
}

GpuRelations gpuRelations(const TimelineData& data, EventRef event) {
    GpuRelations out;
    if (!data.gpu) return out;
    const profiler::GpuActivity& activity = data.gpu->activity;
    const TimelineRow& row = data.rows[event.row];
    switch (row.kind) {
        case RowKind::Operator: {
            const std::uint64_t id = data.detail(event).opId;
            if (id == 0) break;
            for (const GpuOrdinal call : activity.callsOf(id, GpuRelations::kMostWork))
                addWork(data, call, out);
            sortWork(data, out);
            break;
        }
        case RowKind::Stream:
        case RowKind::Wait: {
            const GpuOrdinal ordinal = data.gpuOrdinal(event);
            relateOperator(data, ordinal, out);
            const auto call = activity.launchOf(ordinal);
            if (!call) break;
            const storage::GpuEvent& c = activity.event(*call);
            out.launch = findGpu(data, *call);
            if (out.launch) addRanges(data, *out.launch, out);
            if (row.kind != RowKind::Stream || !c.drawable()) break;
            const std::int64_t start = activity.event(ordinal).startNs;
            out.sinceCallNs = start - c.startNs;
            out.sinceReturnNs = start - (c.startNs + c.durationNs);
            // In order: all before it in its rows that was not over at the call.
            std::size_t queued = 0;
            const auto [first, last] = laneRows(data, event.row);
            for (std::size_t r = first; r < last; ++r) {
                const std::size_t from = data.rows[r].firstEndingAfter(c.startNs);
                std::size_t to =
                    r == event.row ? event.index : data.rows[r].firstEndingAfter(start);
                while (to > from && data.rows[r].startNs(to - 1) >= start) --to;
                queued += to > from ? to - from : 0;
            }
            out.queued = queued;
            break;
        }
        case RowKind::Api: {
            const GpuOrdinal ordinal = data.gpuOrdinal(event);
            relateOperator(data, ordinal, out);
            addWork(data, ordinal, out);
            addRanges(data, event, out);
            break;
        }
        case RowKind::Event: {
            const GpuOrdinal ordinal = data.gpuOrdinal(event);
            relateOperator(data, ordinal, out);
            if (const auto call = activity.launchOf(ordinal)) out.launch = findGpu(data, *call);
            if (out.launch) addRanges(data, *out.launch, out);
            break;
        }
        case RowKind::Nvtx:
            relateRange(data, event, out);
            break;
        default:
            break;
    }
    return out;
}

std::size_t queueDepth(const TimelineData& data, std::size_t streamRow, std::int64_t t) {
    if (!data.gpu || streamRow >= data.rows.size() || data.rows[streamRow].kind != RowKind::Stream)
        return 0;
    const profiler::GpuActivity& activity = data.gpu->activity;
    std::size_t depth = 0;
    const auto [first, last] = laneRows(data, streamRow);
    for (std::size_t r = first; r < last; ++r) {
        const TimelineRow& row = data.rows[r];
        // Streams work in the order of the launches, but for calls of several threads that overlap.
        std::size_t later = 0;
        for (std::size_t i = row.firstEndingAfter(t); i < row.size() && later < kLookAhead; ++i) {
            const auto call = activity.launchOf(data.gpuOrdinal({r, i}));
            const bool known = call && activity.event(*call).drawable();
            const std::int64_t launched =
                known ? std::min(activity.event(*call).startNs, row.startNs(i)) : row.startNs(i);
            if (launched > t) {
                ++later;
            } else if (known) {
                ++depth;
            }
        }
    }
    return depth;
}

std::int64_t coveredNs(const TimelineRow& row, TimeRange range) {
    std::int64_t sum = 0;
    const auto walk = [&](const EventBlock& block, auto&& self, std::size_t level,
                          std::size_t index) -> void {
        const EventBlock::Node& node = block.levels[level][index];
        if (node.endNs <= range.beginNs || node.beginNs >= range.endNs) return;
        if (node.beginNs >= range.beginNs && node.endNs <= range.endNs) {
            sum += node.busyNs;
            return;
        }
        if (level > 0) {
            const std::size_t end =
                std::min(block.levels[level - 1].size(), (index + 1) * EventBlock::kFan);
            for (std::size_t child = index * EventBlock::kFan; child < end; ++child)
                self(block, self, level - 1, child);
            return;
        }
        const std::size_t end = std::min(block.size(), (index + 1) * EventBlock::kLeaf);
        for (std::size_t i = index * EventBlock::kLeaf; i < end; ++i)
            sum += std::max<std::int64_t>(
                0, std::min(block.endNs(i), range.endNs) - std::max(block.start[i], range.beginNs));
    };
    for (const auto& block : row.blocks) walk(*block, walk, block->levels.size() - 1, 0);
    return sum;
}

}  // namespace tapescope::viewers
