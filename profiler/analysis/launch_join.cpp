// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/launch_join.h"

#include <algorithm>
#include <utility>

namespace tapescope::profiler {
namespace {

using storage::GpuEventKind;

bool isWork(GpuEventKind kind) {
    return storage::runsOnDevice(kind) || kind == GpuEventKind::CudaEventRecord;
}

}  // namespace

std::vector<LaunchJoin::Launched> LaunchJoin::append(const GpuActivity& activity,
                                                     GpuOrdinal first) {
    std::vector<std::pair<std::uint64_t, GpuOrdinal>> entries;
    for (GpuOrdinal i = first; i < activity.size(); ++i) {
        const storage::GpuEvent& e = activity.event(i);
        if (e.correlation != 0 && (isWork(e.kind) || (isCall(e.kind) && e.drawable())))
            entries.emplace_back(correlationKey(e), i);
    }
    std::sort(entries.begin(), entries.end());
    std::vector<Launched> out;
    for (auto begin = entries.begin(); begin != entries.end();) {
        const std::uint64_t key = begin->first;
        const auto end = std::find_if(begin, entries.end(),
                                      [key](const auto& entry) { return entry.first != key; });
        const storage::GpuEvent& any = activity.event(begin->second);
        std::uint32_t& highest = m_highest[any.process];
        const bool seen = any.correlation <= highest;
        highest = std::max(highest, any.correlation);

        std::optional<std::int64_t> before, now;
        if (seen)
            if (const auto call = activity.launchUnder(key, first);
                call && activity.event(*call).drawable())
                before = activity.event(*call).startNs;
        now = before;
        for (auto at = begin; at != end; ++at)
            if (const storage::GpuEvent& e = activity.event(at->second); isCall(e.kind))
                now = std::min(now.value_or(e.startNs), e.startNs);
        if (seen && now != before)
            for (const GpuOrdinal work : activity.workUnder(key, first))
                if (isWork(activity.event(work).kind)) out.push_back({work, *now, before});
        for (auto at = begin; now && at != end; ++at)
            if (isWork(activity.event(at->second).kind))
                out.push_back({at->second, *now, std::nullopt});
        begin = end;
    }
    return out;
}

}  // namespace tapescope::profiler
