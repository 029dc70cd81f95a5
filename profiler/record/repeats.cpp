// SPDX-License-Identifier: Apache-2.0
#include "profiler/record/repeats.h"

#include "profiler/record/open_end.h"
#include "storage/tape/reader.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace tapescope::profiler::record {
namespace {

constexpr std::size_t kEventsARead = 65'536;

struct Extent {
    std::int64_t events = 0;
    std::optional<std::int64_t> firstNs;  ///< of its file's axis
    int open = 0;                         ///< 1: it was cut, 2: it still recorded
};
using Extents = std::map<storage::GpuProcessId, Extent>;

Extents extentsOf(const Source& source) {
    Extents out;
    const auto tape = storage::TapeReader::open(source.path);
    if (!tape.ok()) return out;  // copying it will say so
    for (const storage::GpuProcess& p : source.processes) {
        out[p.id].open = source.state == storage::TapeState::Live  ? 2
                         : source.state == storage::TapeState::Cut ? 1
                                                                   : 0;
    }
    if (const auto statuses = (*tape)->gpuStatuses(); statuses.ok()) {
        for (const storage::GpuStatus& s : *statuses) {
            if (s.source != kTracingSource) continue;
            if (s.code == kCut) out[s.process].open = std::max(out[s.process].open, 1);
            if (s.code == kStillRecords) out[s.process].open = 2;
        }
    }
    for (std::int64_t cursor = 0;;) {
        const auto part = (*tape)->gpuEvents(cursor, kEventsARead);
        if (!part.ok() || part->events.empty()) return out;
        cursor = part->cursor;
        for (const storage::GpuEvent& e : part->events) {
            Extent& extent = out[e.process];
            ++extent.events;
            if (!extent.firstNs && e.drawable()) extent.firstNs = e.startNs;
        }
    }
}

struct Mention {
    std::size_t source = 0;
    const storage::GpuProcess* process = nullptr;
    Extent extent;
    /// On its boot's clock.
    std::optional<std::int64_t> firstNs() const {
        if (!extent.firstNs) return std::nullopt;
        return saturatingAdd(process->monotonicZeroNs, *extent.firstNs);
    }
};

/// Nothing but pid and command to go by where one of them has no events. exec() keeps the pid.
bool same(const Mention& a, const Mention& b) {
    return a.source != b.source && a.process->command == b.process->command &&
           (!a.firstNs() || !b.firstNs() || *a.firstNs() == *b.firstNs());
}

}  // namespace

void findRepeats(std::vector<Source>& sources, JoinReport& report) {
    std::map<std::tuple<std::string, std::string, std::int64_t>, std::vector<Mention>> mentions;
    for (std::size_t i = 0; i < sources.size(); ++i) {
        if (sources[i].weak()) continue;
        for (const storage::GpuProcess& p : sources[i].processes)
            if (p.id != 0) mentions[{p.host, p.bootId, p.pid}].push_back({i, &p, {}});
    }
    std::map<std::size_t, Extents> extents;
    for (auto& [key, all] : mentions) {
        if (all.size() < 2) continue;
        for (Mention& m : all) {
            const auto [it, fresh] = extents.try_emplace(m.source);
            if (fresh) it->second = extentsOf(sources[m.source]);
            m.extent = it->second[m.process->id];
        }
        // The fullest first; of equals the one that was closed.
        std::stable_sort(all.begin(), all.end(), [](const Mention& a, const Mention& b) {
            return std::tuple(-a.extent.events, a.extent.open) <
                   std::tuple(-b.extent.events, b.extent.open);
        });
        std::vector<const Mention*> kept;
        for (const Mention& m : all) {
            const auto twin = std::find_if(kept.begin(), kept.end(),
                                           [&](const Mention* k) { return same(*k, m); });
            if (twin == kept.end()) {
                kept.push_back(&m);
            } else {
                sources[m.source].repeated[m.process->id] = {(*twin)->source, (*twin)->process->id};
            }
        }
    }
    for (const Source& source : sources) {
        std::map<std::size_t, std::vector<storage::GpuProcessId>> from;
        for (const auto& [id, kept] : source.repeated) from[kept.first].push_back(id);
        for (const auto& [index, ids] : from) {
            std::string who = std::to_string(ids.size()) + " processes";
            for (const storage::GpuProcess& p : source.processes)
                if (ids.size() == 1 && p.id == ids.front()) who = processText(p);
            report.notes.push_back(source.name() + ": " + who + " of it " +
                                   (ids.size() == 1 ? "is" : "are") + " also in " +
                                   sources[index].name() + " and taken once, from there");
        }
    }
}

}  // namespace tapescope::profiler::record
