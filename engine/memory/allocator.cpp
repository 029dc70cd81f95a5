// SPDX-License-Identifier: Apache-2.0
#include "engine/memory/allocator.h"

#include "engine/errors.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace tapescope::engine {
namespace {

constexpr std::size_t kGranularity = 64;  // a cache line, and AVX-512's alignment
constexpr std::size_t kTinyLimit =
    4096;  // freed blocks up to here are kept unmerged, by exact size
constexpr std::size_t kTinyBytes = std::size_t{1} << 20;  // of each size
constexpr std::size_t kSmallLimit =
    std::size_t{1} << 20;  // PyTorch's limits: small requests share 2 MiB segments,
constexpr std::size_t kSmallSegment = std::size_t{2} << 20;
constexpr std::size_t kMiddleLimit =
    std::size_t{10} << 20;  // middle ones 20 MiB segments, larger ones get their own
constexpr std::size_t kMiddleSegment = std::size_t{20} << 20;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kMaxRequest = std::size_t{1} << 56;

std::size_t roundUp(std::size_t n, std::size_t unit) { return (n + unit - 1) / unit * unit; }

void markUnusable([[maybe_unused]] void* p, [[maybe_unused]] std::size_t n) {
#ifdef __SANITIZE_ADDRESS__
    ASAN_POISON_MEMORY_REGION(p, n);
#endif
}
void markUsable([[maybe_unused]] void* p, [[maybe_unused]] std::size_t n) {
#ifdef __SANITIZE_ADDRESS__
    ASAN_UNPOISON_MEMORY_REGION(p, n);
#endif
}

std::string megabytes(std::size_t n) {
    char text[48];
    std::snprintf(text, sizeof text, "%.1f MB", static_cast<double>(n) / 1e6);
    return text;
}

/// Null when the system has none.
char* mapAligned(std::size_t sizeBytes) {
    // First touch of 4 KiB pages runs at 0.3 GB/s on virtual machines, of huge pages at 16 GB/s:
    // align and ask for them.
    const std::size_t padded = sizeBytes + kHugePage;
    void* raw = mmap(nullptr, padded, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (raw == MAP_FAILED) return nullptr;
    const auto begin = reinterpret_cast<std::uintptr_t>(raw);
    const std::uintptr_t aligned = roundUp(begin, kHugePage);
    if (aligned > begin) munmap(raw, aligned - begin);
    const std::uintptr_t end = begin + padded;
    if (end > aligned + sizeBytes)
        munmap(reinterpret_cast<void*>(aligned + sizeBytes), end - aligned - sizeBytes);
    auto* p = reinterpret_cast<char*>(aligned);
    madvise(p, sizeBytes, MADV_HUGEPAGE);
    return p;
}

}  // namespace

std::string_view memoryRoleName(MemoryRole role) {
    switch (role) {
        case MemoryRole::Unknown:
            return "unknown";
        case MemoryRole::Parameter:
            return "parameter";
        case MemoryRole::Buffer:
            return "buffer";
        case MemoryRole::Gradient:
            return "gradient";
        case MemoryRole::OptimizerState:
            return "optimizer state";
        case MemoryRole::Input:
            return "input";
        case MemoryRole::Activation:
            return "activation";
        case MemoryRole::Saved:
            return "saved for backward";
        case MemoryRole::Temporary:
            return "temporary";
    }
    return "unknown";
}

struct CachingAllocator::Impl {
    struct ThreadCache;
    struct Node {
        char* data = nullptr;
        std::size_t size = 0;
        std::size_t segment = 0;  // size of the segment if this is its first block, else 0
        Node* prev = nullptr;     // neighbours in the same segment
        Node* next = nullptr;
        Node* parked = nullptr;  // the next in a thread's list
        // Written by the thread that takes or gives back the block; the mutex orders the rest.
        std::atomic<bool> live = false;
        bool tiny = false;   // kept as it is, not merged: parked, or going through threads' lists
        bool small = false;  // lives in a small segment

        bool isLive() const { return live.load(std::memory_order_relaxed); }
        void setLive(bool on) { live.store(on, std::memory_order_relaxed); }
    };
    struct BySize {
        bool operator()(const Node* a, const Node* b) const {
            return a->size != b->size ? a->size < b->size : a->data < b->data;
        }
    };

    /// A thread's own share of the tiny blocks and of the counters, so that small tensors come and
    /// go without the mutex. What is not yet folded into `stats` is added whenever anybody asks.
    struct ThreadCache {
        static constexpr std::size_t kBins = kTinyLimit / kGranularity;
        /// At most 16 KiB of each size, so that a thread parks 1 MiB in all.
        static constexpr std::array<std::uint8_t, kBins> kMost = [] {
            std::array<std::uint8_t, kBins> most{};
            for (std::size_t bin = 0; bin < kBins; ++bin)
                most[bin] = static_cast<std::uint8_t>(
                    std::min<std::size_t>(255, 16384 / ((bin + 1) * kGranularity)));
            return most;
        }();

        Node* heads[kBins];
        std::uint8_t counts[kBins];
        bool open;  // from the thread's first use to its end
        // Written by this thread alone.
        std::atomic<std::int64_t> bytes;      // allocated since the last fold
        std::atomic<std::int64_t> peakBytes;  // the most `bytes` was since
        std::atomic<std::int64_t> taken;      // allocations, all of them hits

        void note(std::int64_t change) {
            const std::int64_t now = bytes.load(std::memory_order_relaxed) + change;
            bytes.store(now, std::memory_order_relaxed);
            if (change < 0) return;
            taken.store(taken.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
            if (now > peakBytes.load(std::memory_order_relaxed))
                peakBytes.store(now, std::memory_order_relaxed);
        }
    };
    struct CacheOwner;
    static constinit thread_local ThreadCache t_cache;

    AllocatorOptions options;
    bool threadCached = false;  // the process's allocator: it outlives every thread
    mutable std::mutex mutex;
    AllocatorStats stats;              // guarded by mutex; without what threads have not folded
    std::vector<ThreadCache*> caches;  // guarded by mutex
    std::set<Node*, BySize> freeSmall, freeLarge;                    // guarded by mutex
    std::array<std::vector<Node*>, kTinyLimit / kGranularity> tiny;  // guarded by mutex
    std::map<char*, Node*> segments;  // first block of each; guarded by mutex

    std::set<Node*, BySize>& freeSet(const Node* n) { return n->small ? freeSmall : freeLarge; }

    Node* findFree(std::size_t size, bool small) {
        auto& set = small ? freeSmall : freeLarge;
        Node key;
        key.size = size;
        const auto it = set.lower_bound(&key);
        if (it == set.end()) return nullptr;
        Node* n = *it;
        set.erase(it);
        return n;
    }

    /// Splits n so that its first part has the size; the rest stays free.
    void split(Node* n, std::size_t size) {
        const std::size_t rest = n->size - size;
        const std::size_t smallest = n->small ? kGranularity : kSmallLimit;
        if (rest < smallest) return;
        auto* tail = new Node;
        tail->data = n->data + size;
        tail->size = rest;
        tail->small = n->small;
        tail->prev = n;
        tail->next = n->next;
        if (n->next) n->next->prev = tail;
        n->next = tail;
        n->size = size;
        freeSet(tail).insert(tail);
    }

    /// Parks more blocks of that size from n's rest with the thread: as a chain grows, most of its
    /// tensors then come without the mutex and without a search.
    void parkMore(Node* n, std::size_t size, ThreadCache& c) {
        constexpr int kMore = 15;
        const std::size_t bin = size / kGranularity - 1;
        for (int i = 0; i < kMore && n->size >= 2 * size && c.counts[bin] < ThreadCache::kMost[bin];
             ++i) {
            auto* block = new Node;
            block->data = n->data + n->size - size;
            block->size = size;
            block->small = true;
            block->tiny = true;
            block->prev = n;
            block->next = n->next;
            if (n->next) n->next->prev = block;
            n->next = block;
            n->size -= size;
            block->parked = c.heads[bin];
            c.heads[bin] = block;
            ++c.counts[bin];
        }
    }

    void mergeNext(Node* n) {
        Node* o = n->next;
        n->size += o->size;
        n->next = o->next;
        if (o->next) o->next->prev = n;
        delete o;
    }

    void giveBack(Node* n) {
        if (n->next && !n->next->isLive() && !n->next->tiny) {
            freeSet(n).erase(n->next);
            mergeNext(n);
        }
        if (n->prev && !n->prev->isLive() && !n->prev->tiny) {
            Node* p = n->prev;
            freeSet(n).erase(p);
            mergeNext(p);
            n = p;
        }
        freeSet(n).insert(n);
    }

    /// What threads have allocated and not folded yet.
    std::int64_t unfolded() const {
        std::int64_t sum = 0;
        for (const ThreadCache* c : caches) sum += c->bytes.load(std::memory_order_relaxed);
        return sum;
    }
    void notePeak(std::int64_t allocated) {
        stats.peakAllocatedBytes = std::max(stats.peakAllocatedBytes, allocated);
    }
    /// Takes over the counters of the calling thread's cache.
    void fold(ThreadCache& c) {
        const std::int64_t bytes = c.bytes.load(std::memory_order_relaxed);
        const std::int64_t peak = c.peakBytes.load(std::memory_order_relaxed);
        const std::int64_t taken = c.taken.load(std::memory_order_relaxed);
        notePeak(stats.allocatedBytes + unfolded() - bytes + peak);
        stats.allocatedBytes += bytes;
        stats.allocations += taken;
        stats.cacheHits += taken;
        c.bytes.store(0, std::memory_order_relaxed);
        c.peakBytes.store(0, std::memory_order_relaxed);
        c.taken.store(0, std::memory_order_relaxed);
    }
    /// The calling thread's parked blocks back into the common lists.
    void emptyCache(ThreadCache& c) {
        for (std::size_t bin = 0; bin < ThreadCache::kBins; ++bin) {
            while (Node* n = c.heads[bin]) {
                c.heads[bin] = n->parked;
                tiny[bin].push_back(n);
            }
            c.counts[bin] = 0;
        }
    }
    /// Once a thread: one that has ended its own does not open another.
    void openCache();
    /// Before anything under the mutex reads or changes the counters.
    void foldOwn() {
        if (threadCached && t_cache.open) fold(t_cache);
    }

    /// Merges the parked blocks. A neighbour that is still parked is not in a free set: it merges
    /// when its turn comes.
    void unparkTiny() {
        for (auto& list : tiny) {
            for (Node* n : list) {
                n->tiny = false;
                giveBack(n);
            }
            list.clear();
        }
    }

    std::size_t release() {
        unparkTiny();
        std::size_t freed = 0;
        for (auto it = segments.begin(); it != segments.end();) {
            Node* n = it->second;
            if (!n->isLive() && !n->tiny && n->size == n->segment) {
                freeSet(n).erase(n);
                markUsable(n->data, n->size);
                munmap(n->data, n->size);
                freed += n->size;
                delete n;
                it = segments.erase(it);
            } else {
                ++it;
            }
        }
        stats.reservedBytes -= static_cast<std::int64_t>(freed);
        return freed;
    }

    /// The system promises more memory than there is and kills who then writes to it: a request
    /// for more than the machine has is refused here.
    static std::size_t physicalBytes() {
        static const std::size_t bytes = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                                         static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        return bytes;
    }

    Node* newSegment(std::size_t size, bool small) {
        const std::size_t bytes = small                 ? kSmallSegment
                                  : size < kMiddleLimit ? kMiddleSegment
                                                        : roundUp(size, kHugePage);
        const auto overLimit = [&](std::size_t n) {
            return options.limitBytes != 0 &&
                   static_cast<std::size_t>(stats.reservedBytes) + n > options.limitBytes;
        };
        std::size_t take = bytes;
        if (overLimit(take)) release();
        if (overLimit(take))
            take = small ? roundUp(size, kGranularity)
                         : roundUp(size, 4096);  // last resort: exactly what is asked
        if (overLimit(take) || take > physicalBytes()) return nullptr;
        char* data = mapAligned(roundUp(take, 4096));
        if (!data) {
            release();
            data = mapAligned(roundUp(take, 4096));
        }
        if (!data) return nullptr;
        auto* n = new Node;
        n->data = data;
        n->size = n->segment = roundUp(take, 4096);
        n->small = small;
        segments.emplace(data, n);
        stats.reservedBytes += static_cast<std::int64_t>(n->size);
        stats.peakReservedBytes = std::max(stats.peakReservedBytes, stats.reservedBytes);
        markUnusable(n->data, n->size);
        return n;
    }

    [[noreturn]] void throwOutOfMemory(std::size_t request) {
        ++stats.failures;
        const auto allocated = static_cast<std::size_t>(stats.allocatedBytes + unfolded());
        const auto reserved = static_cast<std::size_t>(stats.reservedBytes);
        std::string text = "out of memory on " + std::string(deviceName(options.device)) + ": " +
                           megabytes(request) + " requested, " + megabytes(allocated) +
                           " in use by tensors, " + megabytes(reserved - allocated) + " cached";
        if (options.limitBytes != 0) text += ", limit " + megabytes(options.limitBytes);
        throw OutOfMemoryError(text +
                               "; use a smaller batch or free tensors that are still referenced");
    }
};

constinit thread_local CachingAllocator::Impl::ThreadCache CachingAllocator::Impl::t_cache{};

/// Opens a thread's cache and hands back what it holds when the thread ends.
struct CachingAllocator::Impl::CacheOwner {
    Impl& allocator;
    explicit CacheOwner(Impl& impl) : allocator(impl) {
        allocator.caches.push_back(&t_cache);  // the caller holds the mutex
        t_cache.open = true;
    }
    ~CacheOwner() {
        const std::lock_guard lock(allocator.mutex);
        allocator.fold(t_cache);
        allocator.emptyCache(t_cache);
        std::erase(allocator.caches, &t_cache);
        t_cache.open = false;
    }
    CacheOwner(const CacheOwner&) = delete;
    CacheOwner& operator=(const CacheOwner&) = delete;
};

void CachingAllocator::Impl::openCache() {
    constinit thread_local bool opened = false;
    if (opened) return;
    opened = true;
    thread_local const CacheOwner owner(*this);
}

CachingAllocator::CachingAllocator(AllocatorOptions options) : m_impl(std::make_unique<Impl>()) {
    m_impl->options = options;
}

CachingAllocator::~CachingAllocator() {
    const std::lock_guard lock(m_impl->mutex);
    m_impl->release();
    // Segments with live blocks stay mapped: a tensor that outlives its allocator must not turn
    // into a wild pointer.
    for (auto& [data, first] : m_impl->segments) {
        for (Impl::Node* n = first; n;) {
            Impl::Node* next = n->next;
            delete n;
            n = next;
        }
    }
}

CachingAllocator::Block CachingAllocator::allocate(std::size_t sizeBytes) {
    if (sizeBytes == 0) return {};
    Impl& a = *m_impl;
    if (sizeBytes <= kTinyLimit && a.threadCached) {
        Impl::ThreadCache& cache = Impl::t_cache;
        const std::size_t bin = (sizeBytes - 1) / kGranularity;
        if (Impl::Node* n = cache.heads[bin]) {
            cache.heads[bin] = n->parked;
            --cache.counts[bin];
            n->setLive(true);
            cache.note(static_cast<std::int64_t>(n->size));
            markUsable(n->data, sizeBytes);
            return {n->data, n->size, n};
        }
    }
    const std::lock_guard lock(a.mutex);
    if (sizeBytes > kMaxRequest) a.throwOutOfMemory(sizeBytes);
    const std::size_t size = roundUp(sizeBytes, kGranularity);
    const bool small = size <= kSmallLimit;
    Impl::Node* n = nullptr;
    if (size <= kTinyLimit) {
        if (a.threadCached) a.openCache();
        auto& list = a.tiny[size / kGranularity - 1];
        if (!list.empty()) {
            n = list.back();
            list.pop_back();
        }
    }
    bool hit = n != nullptr;
    if (!n) {
        n = a.findFree(size, small);
        hit = n != nullptr;
        if (!n) n = a.newSegment(size, small);
        if (!n) a.throwOutOfMemory(sizeBytes);
        if (size <= kTinyLimit && a.threadCached && Impl::t_cache.open)
            a.parkMore(n, size, Impl::t_cache);
        a.split(n, size);
    }
    n->tiny = size <= kTinyLimit && a.threadCached;
    n->setLive(true);
    a.foldOwn();
    ++a.stats.allocations;
    a.stats.cacheHits += hit ? 1 : 0;
    a.stats.allocatedBytes += static_cast<std::int64_t>(n->size);
    a.notePeak(a.stats.allocatedBytes + a.unfolded());
    markUsable(n->data, sizeBytes);
    return {n->data, n->size, n};
}

void CachingAllocator::deallocate(Block block) noexcept {
    if (!block.data) return;
    Impl& a = *m_impl;
    auto* n = static_cast<Impl::Node*>(block.handle);
    markUnusable(n->data, n->size);
    if (n->tiny) {
        Impl::ThreadCache& cache = Impl::t_cache;
        const std::size_t bin = n->size / kGranularity - 1;
        if (cache.open && cache.counts[bin] < Impl::ThreadCache::kMost[bin]) {
            n->setLive(false);
            n->parked = cache.heads[bin];
            cache.heads[bin] = n;
            ++cache.counts[bin];
            cache.note(-static_cast<std::int64_t>(n->size));
            return;
        }
    }
    const std::lock_guard lock(a.mutex);
    a.foldOwn();
    n->setLive(false);
    a.stats.allocatedBytes -= static_cast<std::int64_t>(n->size);
    n->tiny = false;
    if (n->size <= kTinyLimit) {
        auto& list = a.tiny[n->size / kGranularity - 1];
        if (list.size() < kTinyBytes / n->size) {
            n->tiny = true;
            list.push_back(n);
            return;
        }
    }
    a.giveBack(n);
}

AllocatorStats CachingAllocator::stats() const {
    Impl& a = *m_impl;
    const std::lock_guard lock(a.mutex);
    a.foldOwn();
    AllocatorStats now = a.stats;
    for (const Impl::ThreadCache* c : a.caches) {
        const std::int64_t taken = c->taken.load(std::memory_order_relaxed);
        now.allocatedBytes += c->bytes.load(std::memory_order_relaxed);
        now.allocations += taken;
        now.cacheHits += taken;
    }
    now.peakAllocatedBytes = std::max(now.peakAllocatedBytes, now.allocatedBytes);
    return now;
}

void CachingAllocator::resetPeaks() {
    Impl& a = *m_impl;
    const std::lock_guard lock(a.mutex);
    a.foldOwn();
    a.stats.peakAllocatedBytes = a.stats.allocatedBytes + a.unfolded();
    a.stats.peakReservedBytes = a.stats.reservedBytes;
}

std::vector<SegmentInfo> CachingAllocator::snapshot() const {
    const std::lock_guard lock(m_impl->mutex);
    std::vector<SegmentInfo> out;
    out.reserve(m_impl->segments.size());
    for (const auto& [data, first] : m_impl->segments) {
        SegmentInfo segment{reinterpret_cast<std::uintptr_t>(data), first->segment, {}};
        for (const Impl::Node* n = first; n; n = n->next) {
            segment.blocks.push_back(
                {reinterpret_cast<std::uintptr_t>(n->data), n->size, n->isLive()});
        }
        out.push_back(std::move(segment));
    }
    return out;
}

std::size_t CachingAllocator::releaseCached() {
    const std::lock_guard lock(m_impl->mutex);
    if (m_impl->threadCached) m_impl->emptyCache(Impl::t_cache);
    return m_impl->release();
}

const AllocatorOptions& CachingAllocator::options() const { return m_impl->options; }

CachingAllocator& CachingAllocator::cpu() {
    static CachingAllocator& allocator = []() -> CachingAllocator& {
        auto* made = new CachingAllocator();
        made->m_impl->threadCached = true;
        return *made;
    }();
    return allocator;
}

}  // namespace tapescope::engine
