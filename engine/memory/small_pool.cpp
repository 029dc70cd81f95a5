// SPDX-License-Identifier: Apache-2.0
#include "engine/memory/small_pool.h"

#include <new>

namespace tapescope::engine::detail {

constinit thread_local SmallLists t_smallLists{};

#ifndef TAPESCOPE_PLAIN_NEW
namespace {

constexpr std::uint16_t kKeptPerClass = 16384;

/// Opens the thread's lists, and empties them when it ends: late statics still free tensors then.
struct ListsOwner {
    ListsOwner() { t_smallLists.kept = kKeptPerClass; }
    ~ListsOwner() {
        t_smallLists.kept = 0;
        for (std::size_t cls = 0; cls < kSmallClasses; ++cls) {
            while (SmallBlock* head = t_smallLists.heads[cls]) {
                t_smallLists.heads[cls] = head->next;
                ::operator delete(head);
            }
            t_smallLists.counts[cls] = 0;
        }
    }
};
constinit thread_local bool t_opened = false;

void openLists() {
    if (t_opened) return;
    t_opened = true;  // once: an ended thread does not open them again
    thread_local ListsOwner owner;
}

}  // namespace
#endif

void* smallAllocateSlow(std::size_t sizeBytes) {
#ifndef TAPESCOPE_PLAIN_NEW
    const std::size_t cls = (sizeBytes - 1) / kSmallClassBytes;
    if (cls < kSmallClasses) {
        openLists();
        return ::operator new((cls + 1) * kSmallClassBytes);
    }
#endif
    return ::operator new(sizeBytes);
}

void smallFreeSlow(void* p, std::size_t) noexcept { ::operator delete(p); }

}  // namespace tapescope::engine::detail
