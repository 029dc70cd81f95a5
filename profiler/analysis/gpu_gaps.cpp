// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/gpu_gaps.h"

#include "profiler/analysis/gpu_names.h"

#include <algorithm>
#include <vector>

namespace tapescope::profiler {
namespace {

using storage::GpuEvent;
using storage::GpuEventKind;

constexpr std::size_t kEventsARead = 65'536;

std::int64_t endOf(const GpuEvent& e) {
    std::int64_t end = 0;
    return __builtin_add_overflow(e.startNs, e.durationNs, &end) ? INT64_MAX : end;
}

/// What is known so far of one gap.
struct Search {
    GpuReport::Gap* gap;
    const IdleDevice* device;
    std::int64_t endNs;
    GpuEvent before, after, call;  // kind Unknown: none found

    void work(const GpuEvent& e) {
        if (!device->names.contains({e.process, e.device})) return;
        const std::int64_t end = endOf(e);
        if (end <= gap->startNs && (before.kind == GpuEventKind::Unknown || end > endOf(before)))
            before = e;
        if (e.startNs >= endNs &&
            (after.kind == GpuEventKind::Unknown || e.startNs < after.startNs))
            after = e;
    }
    void host(const GpuEvent& e) {
        const std::int64_t from = std::max(e.startNs, gap->startNs);
        const std::int64_t to = std::min(endOf(e), endNs);
        if (to <= from || to - from <= gap->callNs) return;
        const auto sameProcess = [&](const auto& name) { return name.first == e.process; };
        if (std::ranges::none_of(device->names, sameProcess)) return;
        gap->callNs = to - from;
        call = e;
    }
};

std::string nameOf(const GpuEvent& e, const std::vector<std::string>& names) {
    if (e.kind == GpuEventKind::Unknown) return {};
    const std::string name = e.name < names.size() ? names[e.name] : std::string();
    if (e.kind == GpuEventKind::Kernel && !name.empty())
        return shortKernelName(storage::demangled(name));
    if (e.kind == GpuEventKind::Memcpy)
        return "copy " + std::string(gpuCopyKindName(gpuTransfer(e).copyKind));
    if (e.kind == GpuEventKind::Sync && name.empty()) return gpuSyncText(gpuSyncKind(e));
    return name.empty() ? std::string(gpuEventKindName(e.kind)) : name;
}

}  // namespace

storage::Status explainGaps(storage::TapeReader& tape, std::span<const IdleDevice> devices) {
    std::vector<Search> searches;
    for (const IdleDevice& device : devices) {
        for (GpuReport::Gap& gap : device.gaps) {
            std::int64_t end = 0;
            if (__builtin_add_overflow(gap.startNs, gap.durationNs, &end)) end = INT64_MAX;
            searches.push_back({&gap, &device, end, {}, {}, {}});
        }
    }
    if (searches.empty()) return {};
    for (std::int64_t cursor = 0;;) {
        const auto part = tape.gpuEvents(cursor, kEventsARead);
        if (!part.ok()) return part.status();
        if (part->events.empty()) break;
        cursor = part->cursor;
        for (const GpuEvent& e : part->events) {
            if (!e.drawable()) continue;
            if (storage::runsOnDevice(e.kind)) {
                for (Search& search : searches) search.work(e);
            } else if (storage::runsOnHost(e.kind)) {
                for (Search& search : searches) search.host(e);
            }
        }
    }
    const auto names = tape.names();
    if (!names.ok()) return names.status();
    for (const Search& search : searches) {
        search.gap->before = nameOf(search.before, *names);
        search.gap->after = nameOf(search.after, *names);
        search.gap->call = nameOf(search.call, *names);
    }
    return {};
}

}  // namespace tapescope::profiler
