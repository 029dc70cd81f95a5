// SPDX-License-Identifier: Apache-2.0
#include "engine/memory/small_pool.h"

#include <array>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TAPESCOPE_PLAIN_NEW 1  // sanitizers must see every object's lifetime
#endif

namespace tapescope::engine {
namespace {

constexpr std::size_t kClassBytes = 64;
constexpr std::size_t kClasses = 16;
constexpr int kKeptPerClass = 4096;

struct FreeBlock {
    FreeBlock* next;
};

struct ThreadLists {
    std::array<FreeBlock*, kClasses> heads{};
    std::array<int, kClasses> counts{};
    ~ThreadLists();
};

// Plain bool: readable after the lists' destructor ran, when late statics still free tensors.
thread_local bool t_listsGone = false;
thread_local ThreadLists t_lists;

ThreadLists::~ThreadLists() {
    t_listsGone = true;
    for (FreeBlock* head : heads) {
        while (head) {
            FreeBlock* next = head->next;
            ::operator delete(head);
            head = next;
        }
    }
}

}  // namespace

void* smallAllocate(std::size_t sizeBytes) {
#ifndef TAPESCOPE_PLAIN_NEW
    const std::size_t cls = (sizeBytes + kClassBytes - 1) / kClassBytes;
    if (cls > 0 && cls <= kClasses) {
        if (!t_listsGone) {
            ThreadLists& lists = t_lists;
            if (FreeBlock* head = lists.heads[cls - 1]) {
                lists.heads[cls - 1] = head->next;
                --lists.counts[cls - 1];
                return head;
            }
        }
        return ::operator new(cls* kClassBytes);
    }
#endif
    return ::operator new(sizeBytes);
}

void smallFree(void* p, std::size_t sizeBytes) noexcept {
#ifndef TAPESCOPE_PLAIN_NEW
    const std::size_t cls = (sizeBytes + kClassBytes - 1) / kClassBytes;
    if (cls > 0 && cls <= kClasses && !t_listsGone) {
        ThreadLists& lists = t_lists;
        if (lists.counts[cls - 1] < kKeptPerClass) {
            auto* block = static_cast<FreeBlock*>(p);
            block->next = lists.heads[cls - 1];
            lists.heads[cls - 1] = block;
            ++lists.counts[cls - 1];
            return;
        }
    }
#else
    (void)sizeBytes;
#endif
    ::operator delete(p);
}

}  // namespace tapescope::engine
