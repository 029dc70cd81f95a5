// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/tape/gpu_records.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tapescope::profiler {

/// Who holds a device's memory from a moment on, as levels that lie on each other:
/// in use by PyTorch's allocator ≤ its segments (the difference is its cache) ≤ all that is taken
/// on the device.
struct MemoryLevels {
    std::int64_t timeNs = 0;
    std::int64_t inUse = 0;
    std::int64_t segments = 0;
    std::int64_t total = 0;
    friend bool operator==(const MemoryLevels&, const MemoryLevels&) = default;
};

/// The memory of one device as one process sees it, from the allocator's history (in use, cached),
/// and for all that is taken: NVML's "memory used" where it was sampled, else the driver's
/// allocations. What was freed without having been allocated on the tape changes nothing and is
/// counted. Events in any order; one that comes late makes levels() replay all of them.
class MemoryBands final {
public:
    void add(const storage::AllocatorEvent& event);
    /// MemAlloc and MemFree of device memory; others are ignored.
    void add(const storage::GpuEvent& event);
    void addUsed(std::int64_t timeNs, std::int64_t bytes);
    /// The process holds nothing after that moment: the driver takes back what it had not freed.
    /// Call it when its end is known, with the end of its last event or later; a later call
    /// replaces it. Not for a process that still records.
    void endProcess(std::int64_t timeNs);

    bool empty() const { return m_changes.empty(); }
    bool hasAllocator() const { return m_hasAllocator; }
    /// One entry a moment at which something changed.
    const std::vector<MemoryLevels>& levels();
    /// levels() was rewritten from here on by its last call; its size before if it only grew.
    std::size_t changedFrom() const { return m_changedFrom; }
    std::int64_t unknownFrees() const { return m_state.unknownFrees; }

private:
    enum class What : std::uint8_t {
        Alloc,
        Free,
        SegmentAdd,
        SegmentRemove,
        DriverAlloc,
        DriverFree,
        Pool,
        Used,
        End
    };
    struct Change {
        std::int64_t timeNs = 0;
        std::uint64_t address = 0;
        std::int64_t bytes = 0;
        What what = What::Alloc;
    };
    static constexpr std::int64_t kNoEnd = -1;
    struct State {
        std::unordered_map<std::uint64_t, std::int64_t> blocks, driver, pools;
        // Segments have no map: parts of expandable ones are unmapped at any address.
        std::int64_t inUse = 0, segments = 0, driverBytes = 0, poolBytes = 0, used = -1;
        std::int64_t unknownFrees = 0;
    };
    void push(Change change);
    void apply(const Change& change);

    std::vector<Change> m_changes;  ///< in time order unless m_late
    std::int64_t m_end = kNoEnd;
    std::size_t m_applied = 0;
    bool m_late = false;
    bool m_hasAllocator = false;
    State m_state;
    std::vector<MemoryLevels> m_levels;
    std::size_t m_changedFrom = 0;
};

}  // namespace tapescope::profiler
