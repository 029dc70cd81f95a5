// SPDX-License-Identifier: Apache-2.0
#include "tests/storage/tape/tape_support.h"

#include <random>

namespace tapescope::storage {
namespace {

std::int64_t number(const std::string& path, const std::string& statement) {
    return std::stoll(sql(path, statement).at(0));
}

TEST(Merging, ChunksGrowWhileACursorStaysValid) {
    const TempDir dir;
    const std::string path = dir.file("a.tape");
    const auto writer = newTape(path);
    const auto reader = get(TapeReader::open(path));
    std::mt19937_64 random(3);
    std::vector<OpEvent> seen;
    std::int64_t cursor = 0;
    std::int64_t written = 0;
    for (int round = 0; round < 300; ++round) {
        const auto n = static_cast<std::int64_t>(1 + random() % 700);
        writer->opEvents(opEvents(written, n));
        written += n;
        ASSERT_OK(writer->flush());
        if (round % 7 != 0) continue;  // the reader falls behind and catches up over merged chunks
        const auto more = get(reader->opEvents(cursor, round % 2 == 0 ? 1000 : SIZE_MAX));
        seen.insert(seen.end(), more.events.begin(), more.events.end());
        EXPECT_EQ(more.cursor, cursor + static_cast<std::int64_t>(more.events.size()));
        cursor = more.cursor;
    }
    ASSERT_GT(written, 65536);
    const auto rest = get(reader->opEvents(cursor));
    seen.insert(seen.end(), rest.events.begin(), rest.events.end());
    EXPECT_EQ(firstDifference(seen, opEvents(0, written)), -1);
    // 300 commits, but few chunks: at most 7 of each size are left waiting.
    EXPECT_LT(number(path, "SELECT count(*) FROM op_event_chunk"), 30);
    EXPECT_EQ(number(path, "SELECT max(n) FROM op_event_chunk"), 65536);
    EXPECT_EQ(number(path, "SELECT sum(n) FROM op_event_chunk"), written);
    EXPECT_OK(writer->seal(RunOutcome::Finished));
    EXPECT_EQ(number(path, "SELECT count(*) FROM op_event_chunk"), (written + 65535) / 65536);
    EXPECT_EQ(firstDifference(get(get(TapeReader::open(path))->opEvents()).events, seen), -1);
}

TEST(Merging, OneLargeBatchBecomesFullChunksAtOnce) {
    const TempDir dir;
    const std::string path = dir.file("a.tape");
    const auto writer = newTape(path);
    writer->memoryEvents(memoryEvents(0, 10));
    ASSERT_OK(writer->flush());
    writer->memoryEvents(memoryEvents(10, 150000));
    ASSERT_OK(writer->flush());
    EXPECT_EQ(sql(path, "SELECT first, n FROM memory_event_chunk ORDER BY first"),
              (Rows{"0|65536", "65536|65536", "131072|18938"}));
    const auto all = get(get(TapeReader::open(path))->memoryEvents());
    EXPECT_EQ(firstDifference(all.events, memoryEvents(0, 150010)), -1);
}

TEST(Merging, ReadsAnyPageOfAnySize) {
    const TempDir dir;
    const auto writer = newTape(dir.file("a.tape"));
    for (std::int64_t i = 0; i < 20; ++i) {
        writer->opEvents(opEvents(i * 100, 100));
        ASSERT_OK(writer->flush());
    }
    const auto reader = get(TapeReader::open(dir.file("a.tape")));
    for (const std::size_t page : {1U, 7U, 100U, 333U}) {
        std::vector<OpEvent> all;
        for (std::int64_t cursor = 0;;) {
            const auto part = get(reader->opEvents(cursor, page));
            if (part.events.empty()) break;
            EXPECT_LE(part.events.size(), page);
            all.insert(all.end(), part.events.begin(), part.events.end());
            cursor = part.cursor;
        }
        EXPECT_EQ(firstDifference(all, opEvents(0, 2000)), -1) << page;
    }
    EXPECT_EQ(get(reader->opEvents(2000)).cursor, 2000);
    EXPECT_EQ(get(reader->opEvents(5000)).cursor, 5000);
    EXPECT_TRUE(get(reader->opEvents(0, 0)).events.empty());
    EXPECT_FALSE(reader->opEvents(-1).ok());
}

TEST(Merging, BoundsOfAChunkAreSearchable) {
    const TempDir dir;
    const std::string path = dir.file("a.tape");
    const auto writer = newTape(path);
    writer->opEvents(opEvents(0, 100));
    writer->memoryEvents(memoryEvents(0, 100));
    ASSERT_OK(writer->flush());
    EXPECT_EQ(sql(path, "SELECT t0, t1, min, max, codec FROM op_event_chunk"),
              Rows{"0|99302|300|396|1"});
    EXPECT_EQ(sql(path, "SELECT t0, t1, min, max, codec FROM memory_event_chunk"),
              Rows{"0|49500|1000000|1000099|1"});
}

}  // namespace
}  // namespace tapescope::storage
