// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/models/timeline_query.h"

#include "viewers/models/gpu_view.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <string>

namespace tapescope::viewers {
namespace {

bool contains(std::string_view text, std::string_view lowered) {
    const auto same = [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) == b;
    };
    return std::search(text.begin(), text.end(), lowered.begin(), lowered.end(), same) !=
           text.end();
}

/// A stream's wait is also among the waits of its thread, where searches find it.
bool isTickOfWait(const TimelineData& data, const TimelineRow& row, const EventBlock& block,
                  std::size_t i) {
    return row.kind == RowKind::Event &&
           data.gpu->activity.event(block.gpu[i]).kind == storage::GpuEventKind::Sync;
}

}  // namespace

std::vector<storage::OpSummary> aggregate(const TimelineData& data, TimeRange range,
                                          std::stop_token stop, std::vector<double>* mediansNs) {
    std::map<std::pair<storage::NameId, storage::Phase>, storage::OpSummary> sums;
    const auto inside = [&range](std::int64_t begin, std::int64_t end) {
        return std::max<std::int64_t>(0,
                                      std::min(end, range.endNs) - std::max(begin, range.beginNs));
    };
    const bool hasOperators =
        std::any_of(data.rows.begin(), data.rows.end(),
                    [](const TimelineRow& row) { return row.kind == RowKind::Operator; });
    struct Work {
        storage::OpSummary sum;
        std::vector<float> durations;  // ns: 24 bits are enough, and half the memory
    };
    std::map<std::uint32_t, Work> work;
    const auto addWork = [&](const EventBlock& block, std::size_t k) {
        const std::int64_t begin = block.start[k], end = block.endNs(k);
        Work& of = work[block.name[k]];
        storage::OpSummary& sum = of.sum;
        if (mediansNs != nullptr) of.durations.push_back(static_cast<float>(end - begin));
        sum.minNs = sum.calls == 0 ? end - begin : std::min(sum.minNs, end - begin);
        sum.maxNs = std::max(sum.maxNs, end - begin);
        ++sum.calls;
        const std::int64_t ns = inside(begin, end);
        sum.totalNs += ns;
        sum.selfNs += ns;
        const storage::GpuEvent& e = data.gpu->activity.event(block.gpu[k]);
        if (e.kind != storage::GpuEventKind::Kernel && storage::runsOnDevice(e.kind))
            sum.bytes += static_cast<std::int64_t>(
                std::min<std::uint64_t>(storage::gpuTransfer(e).bytes, std::uint64_t{1} << 50U));
    };
    const auto addDeviceWork = [&](const TimelineRow& row) {
        for (std::size_t i = row.firstEndingAfter(range.beginNs); i < row.size(); ++i) {
            if (row.startNs(i) >= range.endNs || ((i & 0xfffU) == 0 && stop.stop_requested()))
                break;
            addWork(row.block(i), TimelineRow::indexInBlock(i));
        }
    };
    if (!hasOperators && data.gpu)
        for (const auto& block : data.gpu->unplaced)
            for (std::size_t k = 0; k < block->size() && !stop.stop_requested(); ++k)
                if (block->start[k] < range.endNs && block->endNs(k) > range.beginNs)
                    addWork(*block, k);
    for (std::size_t r = 0; r < data.rows.size(); ++r) {
        const TimelineRow& row = data.rows[r];
        if (row.kind != RowKind::Operator) {
            if (row.kind == RowKind::Stream && !hasOperators) addDeviceWork(row);
            continue;
        }
        // The next row of the lane holds what these operators called.
        const TimelineRow* below = r + 1 < data.rows.size() && data.rows[r + 1].lane == row.lane &&
                                           data.rows[r + 1].kind == RowKind::Operator
                                       ? &data.rows[r + 1]
                                       : nullptr;
        std::size_t child = below != nullptr ? below->firstEndingAfter(range.beginNs) : 0;
        for (std::size_t i = row.firstEndingAfter(range.beginNs); i < row.size(); ++i) {
            const std::int64_t begin = row.startNs(i), end = row.endNs(i);
            if (begin >= range.endNs || ((i & 0xfffU) == 0 && stop.stop_requested())) break;
            const std::int64_t ns = inside(begin, end);
            std::int64_t children = 0;
            for (; below != nullptr && child < below->size() && below->startNs(child) < end;
                 ++child)
                if (below->startNs(child) >= begin)
                    children += inside(below->startNs(child), below->endNs(child));
            const EventBlock& block = row.block(i);
            const std::size_t k = TimelineRow::indexInBlock(i);
            storage::OpSummary& sum = sums[{block.name[k], block.phase[k]}];
            sum.minNs = sum.calls == 0 ? end - begin : std::min(sum.minNs, end - begin);
            sum.maxNs = std::max(sum.maxNs, end - begin);
            ++sum.calls;
            sum.totalNs += ns;
            sum.selfNs += ns - children;
            sum.flops += block.detail[k].flops;
            sum.bytes += block.detail[k].bytes;
        }
    }
    std::vector<storage::OpSummary> rows;
    for (auto& [key, sum] : sums) {
        sum.name = data.structure ? data.structure->name(key.first) : std::to_string(key.first);
        sum.phase = key.second;
        rows.push_back(std::move(sum));
    }
    if (mediansNs != nullptr) mediansNs->clear();
    std::vector<Work*> byTime;
    for (auto& [label, of] : work) {
        const GpuLabel* known = data.gpu->label(label);
        of.sum.name = known != nullptr ? known->text : std::string();
        byTime.push_back(&of);
    }
    std::ranges::stable_sort(byTime, std::greater(), [](const Work* w) { return w->sum.totalNs; });
    for (Work* of : byTime) {
        rows.push_back(std::move(of->sum));
        if (mediansNs == nullptr) continue;
        const auto middle =
            of->durations.begin() + static_cast<std::ptrdiff_t>(of->durations.size() / 2);
        std::nth_element(of->durations.begin(), middle, of->durations.end());
        mediansNs->push_back(static_cast<double>(*middle));
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.totalNs > b.totalNs; });
    return rows;
}

NameMatch matchNames(const Structure& structure, std::string_view text, const GpuView* gpu) {
    std::string lowered(text);
    std::transform(lowered.begin(), lowered.end(), lowered.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    NameMatch match;
    if (lowered.empty()) return match;
    match.names.resize(structure.names.size());
    for (std::size_t i = 0; i < structure.names.size(); ++i) {
        match.names[i] = contains(structure.names[i], lowered);
        match.any = match.any || match.names[i];
    }
    if (gpu != nullptr && gpu->labels) {
        match.labels.resize(gpu->labels->size());
        for (std::size_t i = 0; i < match.labels.size(); ++i) {
            const GpuLabel& label = (*gpu->labels)[i];
            match.labels[i] = contains(label.text, lowered) || contains(label.full, lowered);
            match.any = match.any || match.labels[i];
        }
    }
    for (const storage::ModuleRow& module : structure.modules) {
        if (!contains(module.path, lowered) && !contains(module.type, lowered)) continue;
        if (match.modules.size() <= module.id) match.modules.resize(module.id + 1);
        match.modules[module.id] = true;
        match.any = true;
    }
    return match;
}

std::optional<EventRef> findMatch(const TimelineData& data, const NameMatch& match,
                                  std::optional<EventRef> from, bool forward) {
    if (!match.any) return std::nullopt;
    // Order of events: by start, then by row.
    const auto key = [&data](EventRef e) { return std::pair(data.startOf(e), e.row); };
    std::optional<EventRef> best;
    for (std::size_t r = 0; r < data.rows.size(); ++r) {
        const TimelineRow& row = data.rows[r];
        if (row.kind == RowKind::Step || row.kind == RowKind::Phase) continue;
        const auto check = [&](std::size_t i) {
            const EventRef candidate{r, i};
            if (from && (forward ? key(candidate) <= key(*from) : key(candidate) >= key(*from)))
                return false;
            const std::size_t k = TimelineRow::indexInBlock(i);
            if (!match.matches(row.block(i), k) || isTickOfWait(data, row, row.block(i), k))
                return false;
            if (!best || (forward ? key(candidate) < key(*best) : key(candidate) > key(*best)))
                best = candidate;
            return true;
        };
        if (forward) {
            for (std::size_t i = from ? row.firstEndingAfter(data.startOf(*from) - 1) : 0;
                 i < row.size(); ++i) {
                if (best && row.startNs(i) > data.startOf(*best)) break;
                if (check(i)) break;
            }
        } else {
            std::size_t i =
                from ? std::min(row.size(), row.firstEndingAfter(data.startOf(*from)) + 1)
                     : row.size();
            while (i-- > 0) {
                if (best && row.startNs(i) < data.startOf(*best)) break;
                if (check(i)) break;
            }
        }
    }
    return best;
}

std::size_t countMatches(const TimelineData& data, const NameMatch& match, std::stop_token stop) {
    std::size_t count = 0;
    if (!match.any) return 0;
    for (const TimelineRow& row : data.rows) {
        if (row.kind == RowKind::Step || row.kind == RowKind::Phase) continue;
        for (const auto& block : row.blocks) {
            if (stop.stop_requested()) return count;
            for (std::size_t i = 0; i < block->size(); ++i)
                count += match.matches(*block, i) && !isTickOfWait(data, row, *block, i) ? 1U : 0U;
        }
    }
    return count;
}

}  // namespace tapescope::viewers
