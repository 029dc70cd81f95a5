// SPDX-License-Identifier: Apache-2.0
// States of a tape: who writes, who has ended, what readers notice, and which files lie in the
// folder.
#include "storage/tape/process_identity.h"
#include "tests/storage/tape/tape_support.h"

#include <sys/wait.h>

namespace tapescope::storage {
namespace {

TapeState stateOf(const std::string& path) { return get(TapeReader::open(path))->state(); }

TEST(Lifecycle, LiveThenSealedIntoOneFile) {
    const TempDir dir;
    const std::string path = dir.file("run.tape");
    const auto writer = newTape(path);
    EXPECT_EQ(stateOf(path), TapeState::Live);
    EXPECT_OK(writer->seal(RunOutcome::Stopped, "by the user"));
    EXPECT_EQ(dir.names(), Rows{"run.tape"});
    EXPECT_EQ(stateOf(path), TapeState::Sealed);
    EXPECT_EQ(dir.names(), Rows{"run.tape"});
    EXPECT_EQ(sql(path, "PRAGMA journal_mode"), Rows{"delete"});  // opens from read-only media
    EXPECT_EQ(sql(path, "PRAGMA integrity_check"), Rows{"ok"});
}

TEST(Lifecycle, ReadersSeeTheSealAndTheLastOneLeavesOneFile) {
    const TempDir dir;
    const std::string path = dir.file("run.tape");
    const auto writer = newTape(path);
    auto reader = get(TapeReader::open(path));
    EXPECT_EQ(reader->state(), TapeState::Live);
    EXPECT_EQ(reader->outcome(), RunOutcome::Unknown);
    writer->scalar(writer->tag("t", TagKind::Scalar), {0, 1, 2});
    EXPECT_OK(writer->seal(RunOutcome::Finished));
    EXPECT_EQ(reader->state(), TapeState::Sealed);
    EXPECT_EQ(reader->outcome(), RunOutcome::Finished);
    EXPECT_EQ(get(reader->tags()).size(), 1U);
    reader.reset();
    EXPECT_EQ(dir.names(), Rows{"run.tape"});
    EXPECT_EQ(get(get(TapeReader::open(path))->scalars(TagId{1})).size(), 1U);
}

TEST(Lifecycle, DestructionSealsWithoutAnOutcome) {
    const TempDir dir;
    const std::string path = dir.file("run.tape");
    {
        const auto writer = newTape(path);
        writer->log({1, -1, Severity::Info, "hello"});
    }
    const auto reader = get(TapeReader::open(path));
    EXPECT_EQ(reader->state(), TapeState::Sealed);
    EXPECT_EQ(reader->outcome(), RunOutcome::Unknown);
    EXPECT_EQ(get(reader->log()).size(), 1U);
}

TEST(Lifecycle, ASealedWriterAcceptsNothing) {
    const TempDir dir;
    const auto writer = newTape(dir.file("run.tape"));
    const TagId tag = writer->tag("t", TagKind::Scalar);
    EXPECT_OK(writer->seal(RunOutcome::Finished));
    writer->scalar(tag, {0, 0, 0});
    writer->opEvents(opEvents(0, 5));
    writer->name("late");
    EXPECT_NE(writer->flush().message().find("is sealed"), std::string::npos);
    EXPECT_OK(writer->seal(RunOutcome::Failed));  // a second seal changes nothing
    const auto reader = get(TapeReader::open(dir.file("run.tape")));
    EXPECT_EQ(reader->outcome(), RunOutcome::Finished);
    EXPECT_TRUE(get(reader->scalars(tag)).empty());
}

TEST(Lifecycle, SealingDoesNotWaitForeverForAReader) {
    const TempDir dir;
    const std::string path = dir.file("run.tape");
    const auto writer = newTape(path);
    writer->log({1, -1, Severity::Info, "hello"});
    ASSERT_OK(writer->flush());
    sqlite3* other = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &other), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(other, "BEGIN; SELECT * FROM log", nullptr, nullptr, nullptr),
              SQLITE_OK);
    EXPECT_OK(writer->seal(RunOutcome::Finished));
    EXPECT_EQ(stateOf(path), TapeState::Sealed);
    sqlite3_close(other);
    EXPECT_EQ(stateOf(path), TapeState::Sealed);
    EXPECT_EQ(dir.names(), Rows{"run.tape"});
}

TEST(Lifecycle, ChangedTellsOfCommitsOfOthers) {
    const TempDir dir;
    const std::string path = dir.file("run.tape");
    const auto writer = newTape(path);
    const TagId tag = writer->tag("t", TagKind::Scalar);
    ASSERT_OK(writer->flush());
    const auto reader = get(TapeReader::open(path));
    EXPECT_TRUE(reader->changed());
    writer->scalar(tag, {0, 0, 0});
    ASSERT_OK(writer->flush());
    EXPECT_TRUE(reader->changed());
    // Only a heartbeat may come between; two calls are faster than two of those.
    EXPECT_FALSE(reader->changed() && reader->changed() && reader->changed());
}

TEST(Lifecycle, RecordsAreCommittedWithoutAFlush) {
    const TempDir dir;
    const std::string path = dir.file("run.tape");
    const auto writer = newTape(path);
    const TagId tag = writer->tag("t", TagKind::Scalar);
    const auto reader = get(TapeReader::open(path));
    const auto begin = std::chrono::steady_clock::now();
    writer->scalar(tag, {5, 6, 7});
    std::vector<ScalarPoint> points;
    while (points.empty() && std::chrono::steady_clock::now() - begin < std::chrono::seconds(60)) {
        points = get(reader->scalars(tag));
        std::this_thread::yield();
    }
    ASSERT_EQ(points.size(), 1U);
    EXPECT_EQ(points[0].step, 5);
}

/// A tape whose writer's identity is changed behind our back, as if another process had been
/// killed.
std::string abandoned(const TempDir& dir, const std::string& change) {
    const std::string live = dir.file("live.tape");
    const std::string path = dir.file("copy.tape");
    const auto writer = newTape(live);
    EXPECT_OK(writer->flush());
    sql(live, "VACUUM INTO '" + path + "'");
    sql(path, change);
    return path;
}

TEST(Lifecycle, AReusedPidIsNotTheWriter) {
    const TempDir dir;
    EXPECT_EQ(stateOf(abandoned(TempDir(), "SELECT 1")), TapeState::Live);
    EXPECT_EQ(
        stateOf(abandoned(dir, "UPDATE meta SET value = value - 1 WHERE key = 'writer_start'")),
        TapeState::Cut);
}
TEST(Lifecycle, AWriterBeforeTheLastBootIsDead) {
    const TempDir dir;
    EXPECT_EQ(stateOf(abandoned(dir, "UPDATE meta SET value = 'x' WHERE key = 'writer_boot'")),
              TapeState::Cut);
}
TEST(Lifecycle, AWriterElsewhereLivesAsLongAsItsHeartBeats) {
    const TempDir dir;
    const std::string path =
        abandoned(dir, "UPDATE meta SET value = 'elsewhere' WHERE key = 'writer_host'");
    EXPECT_EQ(stateOf(path), TapeState::Live);
    sql(path, "UPDATE meta SET value = value - 60 WHERE key = 'heartbeat'");
    EXPECT_EQ(stateOf(path), TapeState::Cut);
}
TEST(Lifecycle, AnUnknownStateCountsAsCut) {
    const TempDir dir;
    EXPECT_EQ(stateOf(abandoned(dir, "UPDATE meta SET value = 'dancing' WHERE key = 'state'")),
              TapeState::Cut);
}

TEST(ProcessIdentity, TellsAliveFromDeadAndZombie) {
    ProcessIdentity me = ProcessIdentity::self();
    EXPECT_EQ(me.pid, getpid());
    EXPECT_GT(me.startTicks, 0);
    EXPECT_EQ(livenessOf(me), Liveness::Alive);
    int fds[2];
    ASSERT_EQ(pipe(fds), 0);
    const pid_t child = fork();
    if (child == 0) {
        char c = 0;
        (void)!read(fds[0], &c, 1);  // until the parent lets go
        _exit(0);
    }
    ProcessIdentity other = me;
    other.pid = child;
    other.startTicks = me.startTicks - 1;  // no child starts before its parent
    EXPECT_EQ(livenessOf(other), Liveness::Dead);
    // Its own start is the first number that makes it alive.
    while (livenessOf(other) == Liveness::Dead && other.startTicks < me.startTicks + 100'000'000)
        ++other.startTicks;
    EXPECT_EQ(livenessOf(other), Liveness::Alive);
    ASSERT_EQ(write(fds[1], "x", 1), 1);
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);  // dead, not yet collected
    EXPECT_EQ(livenessOf(other), Liveness::Dead);
    waitpid(child, nullptr, 0);
    EXPECT_EQ(livenessOf(other), Liveness::Dead);
    close(fds[0]);
    close(fds[1]);
}

}  // namespace
}  // namespace tapescope::storage
