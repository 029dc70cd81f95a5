// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/dtype.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tapescope::engine {

/// What a block of memory is for. A fact told by the engine's own parts, never guessed from sizes.
enum class MemoryRole : std::uint8_t {
    Unknown,
    Parameter,
    Buffer,
    Gradient,
    OptimizerState,
    Input,
    Activation,
    Saved,
    Temporary
};
/// "parameter", "gradient", …
std::string_view memoryRoleName(MemoryRole role);

struct AllocatorStats {
    std::int64_t allocatedBytes = 0;  ///< in live blocks, as requested and rounded
    std::int64_t peakAllocatedBytes = 0;
    std::int64_t reservedBytes = 0;  ///< taken from the system, live or cached
    std::int64_t peakReservedBytes = 0;
    std::int64_t allocations = 0;  ///< since the start
    std::int64_t cacheHits = 0;    ///< served without asking the system
    std::int64_t failures = 0;
};

/// One contiguous range taken from the system, split into blocks. For snapshots (memory map,
/// fragmentation).
struct BlockInfo {
    std::uintptr_t address = 0;
    std::size_t sizeBytes = 0;
    bool live = false;
};
struct SegmentInfo {
    std::uintptr_t address = 0;
    std::size_t sizeBytes = 0;
    std::vector<BlockInfo> blocks;  // by address
};

struct AllocatorOptions {
    Device device{};
    /// Largest reservedBytes; 0 = no limit. Past it allocate() first releases cached segments, then
    /// throws.
    std::size_t limitBytes = 0;
};

/// Caching allocator: segments from the system are split into blocks on request, freed blocks merge
/// with free neighbours and are kept. Small requests (<= 1 MiB) share 2 MiB segments; large
/// segments are 2 MiB aligned and huge-paged. Blocks are 64-byte aligned. Thread-safe. Memory
/// handed out stays valid until deallocate(); the allocator must outlive it. The process's own
/// (cpu()) parks blocks up to 4 KiB with the thread that freed them; its counters are exact, but
/// for the peak while several threads allocate at once: it may miss what they held beyond their
/// last fold, at most 1 MiB a thread.
class CachingAllocator final {
public:
    explicit CachingAllocator(AllocatorOptions options = {});
    ~CachingAllocator();
    CachingAllocator(const CachingAllocator&) = delete;
    CachingAllocator& operator=(const CachingAllocator&) = delete;

    struct Block {
        void* data = nullptr;
        std::size_t sizeBytes = 0;  ///< rounded up to the block's granularity
        void* handle = nullptr;     ///< the allocator's own
    };
    /// sizeBytes may be 0 (data is then null). Throws OutOfMemoryError with the request, the limit
    /// and what is held.
    Block allocate(std::size_t sizeBytes);
    void deallocate(Block block) noexcept;

    AllocatorStats stats() const;
    void resetPeaks();
    /// Every segment with its blocks, by address.
    std::vector<SegmentInfo> snapshot() const;
    /// Gives fully free segments back to the system; returns how many bytes.
    std::size_t releaseCached();
    const AllocatorOptions& options() const;

    /// The process's allocator for host memory. Never destroyed: tensors may outlive static
    /// destruction.
    static CachingAllocator& cpu();

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace tapescope::engine
