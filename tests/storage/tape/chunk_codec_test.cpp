// SPDX-License-Identifier: Apache-2.0
#include "storage/tape/chunk_codec.h"

#include "tests/storage/tape/tape_support.h"

#include <random>
#include <zstd.h>

namespace tapescope::storage {
namespace {

std::vector<std::byte> packed(const std::string& raw) {
    std::vector<std::byte> out(ZSTD_compressBound(raw.size()));
    out.resize(ZSTD_compress(out.data(), out.size(), raw.data(), raw.size(), 1));
    return out;
}

TEST(ChunkCodec, PacksAFullChunkOfTrainingStepsWell) {
    // 64k events of a step of 50 operators, over and over, with jitter in the times.
    std::mt19937_64 random(7);
    std::vector<OpEvent> events;
    std::int64_t time = 0;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(kMaxChunkEvents); ++i) {
        OpEvent e = opEvent(i % 50);
        e.startNs = time += 1000 + static_cast<std::int64_t>(random() % 4096);
        e.durationNs = 500 + static_cast<std::int64_t>(random() % 256);
        e.opId = static_cast<std::uint64_t>(i);
        e.step = i / 50;
        events.push_back(e);
    }
    const auto data = encodeChunk(events);
    EXPECT_LT(data.size(), 8 * events.size());
    std::vector<OpEvent> back;
    EXPECT_OK(decodeChunk(data, events.size(), back));
    EXPECT_EQ(firstDifference(back, events), -1);
}

TEST(ChunkCodec, AppendsToWhatIsThere) {
    std::vector<MemoryEvent> out = memoryEvents(0, 3);
    const auto more = memoryEvents(3, 4);
    EXPECT_OK(decodeChunk(encodeChunk(more), 4, out));
    EXPECT_EQ(firstDifference(out, memoryEvents(0, 7)), -1);
}

TEST(ChunkCodec, RefusesAnotherNumberOfEvents) {
    const auto data = encodeChunk(opEvents(0, 10));
    for (const std::size_t n : {0U, 1U, 9U, 11U, 65536U, 65537U}) {
        std::vector<OpEvent> out;
        EXPECT_FALSE(decodeChunk(data, n, out).ok()) << n;
        EXPECT_TRUE(out.empty());
    }
}

TEST(ChunkCodec, RefusesTheOtherKindOfEvents) {
    std::vector<MemoryEvent> out;
    EXPECT_FALSE(decodeChunk(encodeChunk(opEvents(0, 10)), 10, out).ok());
}

TEST(ChunkCodec, RefusesABombWithoutUnpackingIt) {
    const auto bomb = packed(std::string(256U << 20U, '\0'));
    ASSERT_LT(bomb.size(), 64U << 10U);
    std::vector<OpEvent> out;
    const Status status = decodeChunk(bomb, 1, out);
    EXPECT_NE(status.message().find("not compressed as its 1 events would be"), std::string::npos);
    // Nor one that hides its size in a second frame.
    auto twice = packed(std::string(8, '\0'));
    twice.insert(twice.end(), bomb.begin(), bomb.end());
    EXPECT_FALSE(decodeChunk(twice, 1, out).ok());
}

TEST(ChunkCodec, RefusesValuesOutsideTheirTypes) {
    // One memory event of zeros is 9 columns of one byte; its last two are the enums.
    std::string raw(9, '\0');
    std::vector<MemoryEvent> out;
    EXPECT_OK(decodeChunk(packed(raw), 1, out));
    raw[7] = 4;  // MemoryKind has values 0 to 3
    EXPECT_FALSE(decodeChunk(packed(raw), 1, out).ok());
    raw[7] = 3;
    raw[8] = 9;  // MemoryRole 0 to 8
    EXPECT_FALSE(decodeChunk(packed(raw), 1, out).ok());
    // A varint without end, and one of more than 64 bits.
    EXPECT_FALSE(decodeChunk(packed(std::string(9, '\x80')), 1, out).ok());
    EXPECT_FALSE(decodeChunk(packed(std::string(10, '\xff') + std::string(8, '\1')), 1, out).ok());
}

TEST(ChunkCodec, SurvivesAnyCorruption) {
    std::mt19937_64 random(11);
    const auto good = encodeChunk(opEvents(0, 200));
    int refused = 0;
    for (int round = 0; round < 3000; ++round) {
        auto data = good;
        const auto flips = 1 + random() % 4;
        for (std::uint64_t f = 0; f < flips; ++f) {
            data[random() % data.size()] ^= static_cast<std::byte>(1U << (random() % 8));
        }
        if (round % 3 == 0) data.resize(random() % data.size());
        std::vector<OpEvent> out;
        if (!decodeChunk(data, 200, out).ok()) {
            ++refused;
            EXPECT_TRUE(out.empty());
        } else {
            EXPECT_EQ(out.size(), 200U);
        }
    }
    EXPECT_GT(refused, 1000);
}

TEST(ChunkCodec, BoundsCoverEveryEvent) {
    std::vector<OpEvent> events = opEvents(5, 3);
    events[1].startNs = 10;
    events[1].durationNs = 100000;
    const ChunkBounds b = boundsOf(events);
    EXPECT_EQ(b.t0, 10);
    EXPECT_EQ(b.t1, 100010);
    EXPECT_EQ(b.min, 305);
    EXPECT_EQ(b.max, 100000);
}

}  // namespace
}  // namespace tapescope::storage
