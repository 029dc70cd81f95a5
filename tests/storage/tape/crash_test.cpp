// SPDX-License-Identifier: Apache-2.0
// A second process writes; this one follows it, or kills it.
#include "tests/storage/tape/tape_support.h"

#include <random>
#include <signal.h>
#include <sys/wait.h>

namespace tapescope::storage {
namespace {

constexpr std::int64_t kScalarsARound = 37;
constexpr std::int64_t kEventsARound = 211;

/// What a writing child records in one round: numbers that tell their place.
void writeRound(TapeWriter& writer, std::int64_t round) {
    const TagId a = writer.tag("a", TagKind::Scalar);
    const TagId b = writer.tag("b", TagKind::Scalar);
    for (std::int64_t i = round * kScalarsARound; i < (round + 1) * kScalarsARound; ++i) {
        writer.scalar(a, {i, 1, static_cast<double>(i) * 0.5});
        writer.scalar(b, {2 * i, 1, -static_cast<double>(i)});
    }
    writer.opEvents(opEvents(round * kEventsARound, kEventsARound));
    writer.memoryEvents(memoryEvents(round * kEventsARound, kEventsARound));
    writer.step({round, round, round + 1, 0, 0});
}

/// Reads a tape as a view does: remembers how far it has come and checks that what follows is what
/// comes next.
struct Follower {
    explicit Follower(const std::string& path) : reader(get(TapeReader::open(path))) {}

    void poll() {
        for (const ScalarPoint& p : get(reader->scalars(TagId{1}, scalars))) {
            EXPECT_EQ(p.step, scalars);
            EXPECT_EQ(p.value, static_cast<double>(scalars) * 0.5);
            ++scalars;
        }
        auto more = get(reader->opEvents(ops));
        for (const OpEvent& e : more.events) {
            if (fields(e) != fields(opEvent(ops++))) ++wrong;
        }
        EXPECT_EQ(more.cursor, ops);
        auto memory = get(reader->memoryEvents(memories));
        for (const MemoryEvent& e : memory.events) {
            if (fields(e) != fields(memoryEvent(memories++))) ++wrong;
        }
        for (const StepRow& s : get(reader->steps(steps))) EXPECT_EQ(s.step, steps++);
    }

    std::unique_ptr<TapeReader> reader;
    std::int64_t scalars = 0;
    std::int64_t ops = 0;
    std::int64_t memories = 0;
    std::int64_t steps = 0;
    int wrong = 0;
};

TEST(LiveTail, AnotherProcessIsFollowedWithoutGapOrDouble) {
    const TempDir dir;
    const std::string path = dir.file("run.tape");
    constexpr std::int64_t kRounds = 500;
    int ready[2];
    int tokens[2];
    ASSERT_EQ(pipe(ready), 0);
    ASSERT_EQ(pipe(tokens), 0);
    const pid_t child = fork();
    if (child == 0) {
        close(tokens[1]);
        auto writer = TapeWriter::create(path, {});
        if (!writer.ok() || ::write(ready[1], "r", 1) != 1) _exit(1);
        for (std::int64_t round = 0; round < kRounds; ++round) {
            char token = 0;
            // For a while the follower sets the pace, so that both surely interleave; then the
            // writer runs free.
            if (round < 200 && ::read(tokens[0], &token, 1) != 1) _exit(2);
            writeRound(**writer, round);
            if (round % 3 == 0 && !(*writer)->flush().ok()) _exit(3);
        }
        _exit((*writer)->seal(RunOutcome::Finished).ok() ? 0 : 4);
    }
    char c = 0;
    ASSERT_EQ(::read(ready[0], &c, 1), 1);
    Follower follower(path);
    int polls = 0;
    int given = 0;
    bool sealed = false;
    while (!sealed) {
        sealed = follower.reader->state() ==
                 TapeState::Sealed;  // asked before: then the last poll saw everything
        follower.poll();
        ++polls;
        if (given < 200) {
            ASSERT_EQ(::write(tokens[1], "t", 1), 1);
            ++given;
        }
        ASSERT_NE(follower.reader->state(), TapeState::Cut);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_GE(polls, 200);
    EXPECT_EQ(follower.scalars, kRounds * kScalarsARound);
    EXPECT_EQ(follower.ops, kRounds * kEventsARound);
    EXPECT_EQ(follower.memories, kRounds * kEventsARound);
    EXPECT_EQ(follower.steps, kRounds);
    EXPECT_EQ(follower.wrong, 0);
    for (const int fd : {ready[0], ready[1], tokens[0], tokens[1]}) close(fd);
}

TEST(Crash, Kill9LeavesATapeThatSaysItWasCutWithEverythingFlushed) {
    std::mt19937_64 random(20240607);
    for (int round = 0; round < 20; ++round) {
        const TempDir dir;
        const std::string path = dir.file("run.tape");
        int acked[2];
        ASSERT_EQ(pipe(acked), 0);
        const pid_t child = fork();
        if (child == 0) {
            auto writer = TapeWriter::create(path, {});
            if (!writer.ok()) _exit(1);
            for (std::int64_t i = 0;; ++i) {
                writeRound(**writer, i);
                if (i % 4 != 3) continue;
                if (!(*writer)->flush().ok()) _exit(2);
                const std::int64_t safe = i + 1;
                if (::write(acked[1], &safe, sizeof safe) != sizeof safe) _exit(3);
            }
        }
        close(acked[1]);
        std::int64_t safe = 0;
        const auto acks = 1 + random() % 60;
        for (std::uint64_t i = 0; i < acks; ++i)
            ASSERT_EQ(::read(acked[0], &safe, sizeof safe), ssize_t(sizeof safe));
        for (volatile std::uint64_t spin = random() % 2'000'000; spin > 0;) spin = spin - 1;
        kill(child, SIGKILL);
        siginfo_t info{};
        waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
        // Not yet collected by us: a workbench may look at the tape before it notices the child's
        // end.
        EXPECT_EQ(get(TapeReader::open(path))->state(), TapeState::Cut);
        waitpid(child, nullptr, 0);
        for (std::int64_t n = 0; ::read(acked[0], &n, sizeof n) == ssize_t(sizeof n);) safe = n;
        close(acked[0]);

        Follower follower(path);
        EXPECT_EQ(follower.reader->state(), TapeState::Cut);
        EXPECT_EQ(follower.reader->outcome(), RunOutcome::Unknown);
        follower.poll();
        EXPECT_EQ(follower.wrong, 0);
        EXPECT_GE(follower.scalars, safe * kScalarsARound);
        EXPECT_GE(follower.ops, safe * kEventsARound);
        EXPECT_GE(follower.memories, safe * kEventsARound);
        EXPECT_GE(follower.steps, safe);
        follower.reader.reset();
        EXPECT_EQ(sql(path, "PRAGMA integrity_check"), Rows{"ok"});
        EXPECT_EQ(dir.names(), Rows{"run.tape"});  // the last reader folded the log in
        EXPECT_EQ(get(TapeReader::open(path))->state(), TapeState::Cut);
    }
}

}  // namespace
}  // namespace tapescope::storage
