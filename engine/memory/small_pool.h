// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TAPESCOPE_PLAIN_NEW 1  // sanitizers must see every object's lifetime
#endif

namespace tapescope::engine {

namespace detail {
inline constexpr std::size_t kSmallClassBytes = 64;
inline constexpr std::size_t kSmallClasses = 16;

struct SmallBlock {
    SmallBlock* next;
};
/// One thread's free lists. Trivial, so that reaching them costs no guard, and readable after the
/// thread's other objects are gone.
struct SmallLists {
    SmallBlock* heads[kSmallClasses];
    std::uint16_t counts[kSmallClasses];
    std::uint16_t kept;  ///< most blocks a list may hold; 0 before the first use and at thread end
};
extern constinit thread_local SmallLists t_smallLists;

void* smallAllocateSlow(std::size_t sizeBytes);
void smallFreeSlow(void* p, std::size_t sizeBytes) noexcept;
}  // namespace detail

/// Memory for the engine's small headers (tensors, storages, nodes): per-thread free lists by
/// 64-byte class up to 1 KiB, larger sizes from operator new. A block may be freed on another
/// thread; it then belongs to that thread's list. sizeBytes must not be 0.
inline void* smallAllocate(std::size_t sizeBytes) {
#ifndef TAPESCOPE_PLAIN_NEW
    const std::size_t cls = (sizeBytes - 1) / detail::kSmallClassBytes;
    if (cls < detail::kSmallClasses) {
        detail::SmallLists& lists = detail::t_smallLists;
        if (detail::SmallBlock* head = lists.heads[cls]) [[likely]] {
            lists.heads[cls] = head->next;
            --lists.counts[cls];
            return head;
        }
    }
#endif
    return detail::smallAllocateSlow(sizeBytes);
}

inline void smallFree(void* p, std::size_t sizeBytes) noexcept {
#ifndef TAPESCOPE_PLAIN_NEW
    const std::size_t cls = (sizeBytes - 1) / detail::kSmallClassBytes;
    if (cls < detail::kSmallClasses) {
        detail::SmallLists& lists = detail::t_smallLists;
        if (lists.counts[cls] < lists.kept) [[likely]] {
            auto* block = static_cast<detail::SmallBlock*>(p);
            block->next = lists.heads[cls];
            lists.heads[cls] = block;
            ++lists.counts[cls];
            return;
        }
    }
#endif
    detail::smallFreeSlow(p, sizeBytes);
}

}  // namespace tapescope::engine
