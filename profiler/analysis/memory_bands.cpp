// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/memory_bands.h"

#include <algorithm>

namespace tapescope::profiler {
namespace {

using storage::AllocatorAction;

// More than any machine has: a sum of such sizes stays far from overflow.
constexpr std::int64_t kLargest = std::int64_t{1} << 50U;
constexpr std::int64_t kLatest = std::int64_t{1} << 55U;

std::int64_t clamped(std::int64_t value) { return std::clamp<std::int64_t>(value, 0, kLargest); }
std::int64_t sum(std::int64_t a, std::int64_t b) { return std::min(a + b, kLargest); }

}  // namespace

void MemoryBands::push(Change change) {
    if (change.timeNs > kLatest || change.timeNs < -kLatest) return;
    change.timeNs = std::max<std::int64_t>(0, change.timeNs);
    m_late = m_late || (!m_changes.empty() && change.timeNs < m_changes.back().timeNs);
    m_changes.push_back(change);
}

void MemoryBands::add(const storage::AllocatorEvent& event) {
    What what = What::Alloc;
    switch (event.action) {
        case AllocatorAction::Alloc:
            break;
        case AllocatorAction::FreeCompleted:
            what = What::Free;
            break;
        case AllocatorAction::SegmentAlloc:
        case AllocatorAction::SegmentMap:
            what = What::SegmentAdd;
            break;
        case AllocatorAction::SegmentFree:
        case AllocatorAction::SegmentUnmap:
            what = What::SegmentRemove;
            break;
        case AllocatorAction::FreeRequested:  // still in use by a stream until it is completed
        case AllocatorAction::Snapshot:
        case AllocatorAction::OutOfMemory:
            return;
    }
    m_hasAllocator = true;
    push({event.timeNs, event.address, clamped(event.sizeBytes), what});
}

void MemoryBands::add(const storage::GpuEvent& event) {
    const bool alloc = event.kind == storage::GpuEventKind::MemAlloc;
    if ((!alloc && event.kind != storage::GpuEventKind::MemFree) || !event.drawable()) return;
    const storage::GpuMemory memory = storage::gpuMemory(event);
    if (memory.memory != storage::GpuMemoryKind::Device) return;
    const auto bytes = [](std::uint64_t size) {
        return static_cast<std::int64_t>(std::min<std::uint64_t>(size, kLargest));
    };
    if ((event.flags & storage::kGpuPool) != 0) {
        // The device gives memory to the pool, the pool to the program: what counts is its size.
        push({event.startNs, memory.poolAddress, bytes(memory.poolBytes), What::Pool});
        return;
    }
    push({event.startNs, memory.address, bytes(memory.bytes),
          alloc ? What::DriverAlloc : What::DriverFree});
}

void MemoryBands::addUsed(std::int64_t timeNs, std::int64_t bytes) {
    push({timeNs, 0, clamped(bytes), What::Used});
}

void MemoryBands::endProcess(std::int64_t timeNs) {
    // What happened at that moment is still seen.
    timeNs = std::clamp<std::int64_t>(timeNs, 0, kLatest - 1) + 1;
    if (timeNs == m_end || m_changes.empty()) return;
    if (m_end != kNoEnd) {
        std::erase_if(m_changes, [](const Change& c) { return c.what == What::End; });
        m_late = true;
    }
    m_end = timeNs;
    push({timeNs, 0, 0, What::End});
}

void MemoryBands::apply(const Change& c) {
    State& s = m_state;
    const auto enter = [](auto& map, std::int64_t& total, const Change& change) {
        std::int64_t& size = map[change.address];
        total = sum(total - size, change.bytes);  // an address given twice: the newer counts
        size = change.bytes;
    };
    const auto leave = [&s](auto& map, std::int64_t& total, std::uint64_t address) {
        const auto found = map.find(address);
        if (found == map.end()) {
            ++s.unknownFrees;
            return;
        }
        total = std::max<std::int64_t>(0, total - found->second);
        map.erase(found);
    };
    switch (c.what) {
        case What::Alloc:
            enter(s.blocks, s.inUse, c);
            break;
        case What::Free:
            leave(s.blocks, s.inUse, c.address);
            break;
        case What::SegmentAdd:
            s.segments = sum(s.segments, c.bytes);
            break;
        case What::SegmentRemove:
            s.segments = std::max<std::int64_t>(0, s.segments - c.bytes);
            break;
        case What::DriverAlloc:
            enter(s.driver, s.driverBytes, c);
            break;
        case What::DriverFree:
            leave(s.driver, s.driverBytes, c.address);
            break;
        case What::Pool:
            enter(s.pools, s.poolBytes, c);
            break;
        case What::Used:
            s.used = c.bytes;
            break;
        case What::End: {
            // Who else holds the device's memory still does, and what was counted stays so.
            State ended;
            ended.used = s.used;
            ended.unknownFrees = s.unknownFrees;
            s = std::move(ended);
            break;
        }
    }
    MemoryLevels level{c.timeNs, s.inUse, std::max(s.inUse, s.segments), 0};
    level.total = std::max(level.segments, s.used >= 0 ? s.used : sum(s.driverBytes, s.poolBytes));
    if (!m_levels.empty() && m_levels.back().timeNs == c.timeNs) {
        m_levels.back() = level;
    } else {
        m_levels.push_back(level);
    }
}

const std::vector<MemoryLevels>& MemoryBands::levels() {
    m_changedFrom = m_levels.size();
    if (m_late) {
        std::stable_sort(m_changes.begin(), m_changes.end(),
                         [](const Change& a, const Change& b) { return a.timeNs < b.timeNs; });
        m_state = {};
        m_levels.clear();
        m_applied = 0;
        m_changedFrom = 0;
        m_late = false;
    }
    // A change at the last moment rewrites its level.
    if (m_applied < m_changes.size() && !m_levels.empty() &&
        m_changes[m_applied].timeNs == m_levels.back().timeNs)
        --m_changedFrom;
    for (; m_applied < m_changes.size(); ++m_applied) apply(m_changes[m_applied]);
    return m_levels;
}

}  // namespace tapescope::profiler
