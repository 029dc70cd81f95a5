// SPDX-License-Identifier: Apache-2.0
#include "engine/memory/allocator.h"

#include "engine/errors.h"

#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <thread>
#include <vector>

namespace tapescope::engine {
namespace {

/// Live and free blocks must tile every segment, and the counters must agree with them.
void expectConsistent(const CachingAllocator& allocator) {
    std::int64_t live = 0;
    std::int64_t reserved = 0;
    for (const SegmentInfo& segment : allocator.snapshot()) {
        std::uintptr_t at = segment.address;
        for (const BlockInfo& block : segment.blocks) {
            EXPECT_EQ(block.address, at);
            at += block.sizeBytes;
            if (block.live) live += static_cast<std::int64_t>(block.sizeBytes);
        }
        EXPECT_EQ(at, segment.address + segment.sizeBytes);
        reserved += static_cast<std::int64_t>(segment.sizeBytes);
    }
    EXPECT_EQ(live, allocator.stats().allocatedBytes);
    EXPECT_EQ(reserved, allocator.stats().reservedBytes);
}

TEST(CachingAllocator, ReusesAFreedBlockOfTheSameSize) {
    CachingAllocator allocator;
    const auto first = allocator.allocate(3000);
    allocator.deallocate(first);
    const auto second = allocator.allocate(3000);
    EXPECT_EQ(first.data, second.data);
    EXPECT_EQ(allocator.stats().cacheHits, 1);
    allocator.deallocate(second);
}

TEST(CachingAllocator, BlocksAre64ByteAlignedAndRoundedUp) {
    CachingAllocator allocator;
    for (const std::size_t n : {1U, 63U, 64U, 65U, 5000U, 2000000U}) {
        const auto block = allocator.allocate(n);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.data) % 64, 0U);
        EXPECT_GE(block.sizeBytes, n);
        EXPECT_EQ(block.sizeBytes % 64, 0U);
        std::memset(block.data, 1, n);
        allocator.deallocate(block);
    }
    expectConsistent(allocator);
}

TEST(CachingAllocator, NothingIsAskedOfTheSystemForZeroBytes) {
    CachingAllocator allocator;
    const auto block = allocator.allocate(0);
    EXPECT_EQ(block.data, nullptr);
    allocator.deallocate(block);
    EXPECT_EQ(allocator.stats().reservedBytes, 0);
}

TEST(CachingAllocator, NeighboursMergeSoThatALargerRequestFits) {
    CachingAllocator allocator({.limitBytes = std::size_t{2} << 20U});
    const auto a = allocator.allocate(std::size_t{512} << 10U);
    const auto b = allocator.allocate(std::size_t{512} << 10U);
    const auto c = allocator.allocate(std::size_t{512} << 10U);
    allocator.deallocate(a);
    allocator.deallocate(b);
    const auto merged = allocator.allocate(std::size_t{1} << 20U);  // fits only in a and b together
    EXPECT_EQ(merged.data, a.data);
    allocator.deallocate(merged);
    allocator.deallocate(c);
    expectConsistent(allocator);
}

TEST(CachingAllocator, RefusesWhatIsOverTheLimitAndSaysWhatIsHeld) {
    CachingAllocator allocator({.limitBytes = std::size_t{8} << 20U});
    const auto held = allocator.allocate(std::size_t{5} << 20U);
    try {
        (void)allocator.allocate(std::size_t{4} << 20U);
        FAIL() << "the limit was ignored";
    } catch (const OutOfMemoryError& e) {
        EXPECT_STREQ(e.what(),
                     "out of memory on cpu: 4.2 MB requested, 5.2 MB in use by tensors, 0.0 MB "
                     "cached, limit 8.4 MB; "
                     "use a smaller batch or free tensors that are still referenced");
    }
    EXPECT_EQ(allocator.stats().failures, 1);
    allocator.deallocate(held);
    const auto now = allocator.allocate(std::size_t{4} << 20U);
    EXPECT_NE(now.data, nullptr);
    allocator.deallocate(now);
}

TEST(CachingAllocator, CachedSegmentsAreGivenUpBeforeARequestFails) {
    CachingAllocator allocator({.limitBytes = std::size_t{32} << 20U});
    allocator.deallocate(allocator.allocate(std::size_t{12} << 20U));
    allocator.deallocate(allocator.allocate(1000));
    const auto big = allocator.allocate(std::size_t{30} << 20U);
    EXPECT_NE(big.data, nullptr);
    allocator.deallocate(big);
}

TEST(CachingAllocator, RefusesAbsurdSizes) {
    CachingAllocator allocator;
    EXPECT_THROW((void)allocator.allocate(SIZE_MAX), OutOfMemoryError);
    EXPECT_THROW((void)allocator.allocate(SIZE_MAX - 63), OutOfMemoryError);
    EXPECT_THROW((void)allocator.allocate(std::size_t{1} << 60U), OutOfMemoryError);
}

TEST(CachingAllocator, ReleaseCachedReturnsEverythingOnceAllIsFree) {
    CachingAllocator allocator;
    std::vector<CachingAllocator::Block> blocks;
    for (std::size_t n = 64; n < 4000000; n = n * 3 / 2) blocks.push_back(allocator.allocate(n));
    for (const auto& block : blocks) allocator.deallocate(block);
    EXPECT_GT(allocator.stats().reservedBytes, 0);
    allocator.releaseCached();
    EXPECT_EQ(allocator.stats().reservedBytes, 0);
    EXPECT_EQ(allocator.stats().allocatedBytes, 0);
    EXPECT_TRUE(allocator.snapshot().empty());
}

TEST(CachingAllocator, LiveBlocksNeverOverlapUnderARandomLoad) {
    CachingAllocator allocator;
    std::mt19937 random(7);
    struct Held {
        CachingAllocator::Block block;
        std::size_t size;
        unsigned char mark;
    };
    std::vector<Held> held;
    for (int i = 0; i < 20000; ++i) {
        if (held.size() < 300 && random() % 3 != 0) {
            const std::size_t exponent = random() % 22;
            const std::size_t size = 1 + random() % (std::size_t{1} << exponent);
            const auto mark = static_cast<unsigned char>(random());
            held.push_back({allocator.allocate(size), size, mark});
            auto* bytes = static_cast<unsigned char*>(held.back().block.data);
            bytes[0] = mark;
            bytes[size - 1] = mark;
        } else if (!held.empty()) {
            const std::size_t pick = random() % held.size();
            const Held h = held[pick];
            const auto* bytes = static_cast<const unsigned char*>(h.block.data);
            ASSERT_EQ(bytes[0], h.mark);
            ASSERT_EQ(bytes[h.size - 1], h.mark);
            allocator.deallocate(h.block);
            held[pick] = held.back();
            held.pop_back();
        }
        if (i % 1000 == 0) {
            expectConsistent(allocator);
            allocator.releaseCached();
        }
    }
    for (const Held& h : held) allocator.deallocate(h.block);
    expectConsistent(allocator);
}

TEST(CachingAllocator, ThreadsMayFreeEachOthersBlocks) {
    CachingAllocator allocator;
    std::vector<CachingAllocator::Block> blocks(1000);
    {
        const std::jthread maker([&] {
            for (std::size_t i = 0; i < blocks.size(); ++i)
                blocks[i] = allocator.allocate(100 + i * 7);
        });
        const std::jthread other([&] {
            for (int i = 0; i < 1000; ++i) allocator.deallocate(allocator.allocate(4096));
        });
    }
    {
        const std::jthread freer([&] {
            for (const auto& block : blocks) allocator.deallocate(block);
        });
    }
    EXPECT_EQ(allocator.stats().allocatedBytes, 0);
    expectConsistent(allocator);
}

}  // namespace
}  // namespace tapescope::engine
