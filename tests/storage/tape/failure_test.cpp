// SPDX-License-Identifier: Apache-2.0
// Folders and disks that refuse, backlogs that are full.
#include "tests/storage/tape/tape_support.h"

#include <atomic>
#include <functional>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>

namespace tapescope::storage {
namespace {

std::string createError(const std::string& path, const WriterOptions& options = {}) {
    return messageOf(TapeWriter::create(path, {}, options));
}

/// Runs in a child process without root's rights to everything; its exit code is the number of
/// failed checks.
int asOrdinaryUser(const std::function<int()>& checks) {
    const pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(100);
        _exit(checks());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 200;
}

TEST(CreateFailure, NamesAFolderThatIsMissing) {
    const TempDir dir;
    const std::string message = createError(dir.file("no/such/run.tape"));
    EXPECT_NE(message.find("no/such\" does not exist: make it first"), std::string::npos)
        << message;
}

TEST(CreateFailure, NamesAFolderThatIsAFile) {
    const TempDir dir;
    std::ofstream(dir.file("file")) << "x";
    const std::string message = createError(dir.file("file/run.tape"));
    EXPECT_NE(message.find("is not a folder"), std::string::npos) << message;
}

TEST(CreateFailure, KeepsAnExistingFile) {
    const TempDir dir;
    std::ofstream(dir.file("run.tape")) << "precious";
    const std::string message = createError(dir.file("run.tape"));
    EXPECT_NE(message.find("run.tape\": it exists already"), std::string::npos) << message;
    std::ifstream in(dir.file("run.tape"));
    std::string text;
    in >> text;
    EXPECT_EQ(text, "precious");
    EXPECT_EQ(dir.names(), Rows{"run.tape"});
}

TEST(CreateFailure, RefusesAFolderInPlaceOfTheFileEvenToOverwrite) {
    const TempDir dir;
    mkdir(dir.file("run.tape").c_str(), 0700);
    EXPECT_NE(createError(dir.file("run.tape"), {.overwrite = true}).find("not a file"),
              std::string::npos);
}

TEST(CreateFailure, OverwritesAFinishedTapeOfAnyAgeAndItsLeftovers) {
    const TempDir dir;
    const std::string path = dir.file("run.tape");
    newTape(path, {.runId = "old",
                   .name = "",
                   .command = "",
                   .startWall = 0,
                   .config = {},
                   .environment = {}});
    std::ofstream(path + "-wal") << "leftover";
    const auto writer = newTape(path, {}, {.overwrite = true});
    writer->log({1, -1, Severity::Info, "new"});
    ASSERT_OK(writer->flush());
    const auto reader = get(TapeReader::open(path));
    EXPECT_NE(get(reader->info()).runId, "old");
    EXPECT_EQ(get(reader->log()).at(0).text, "new");
}

TEST(CreateFailure, DoesNotReplaceATapeThatIsBeingWritten) {
    const TempDir dir;
    const auto writer = newTape(dir.file("run.tape"));
    const std::string message = createError(dir.file("run.tape"), {.overwrite = true});
    EXPECT_NE(message.find("a running process records to it"), std::string::npos) << message;
    writer->log({1, -1, Severity::Info, "still here"});
    EXPECT_OK(writer->seal(RunOutcome::Finished));
    EXPECT_EQ(get(get(TapeReader::open(dir.file("run.tape")))->log()).size(), 1U);
}

TEST(CreateFailure, IgnoresTheLogOfADeletedTape) {
    const TempDir dir;
    const std::string path = dir.file("run.tape");
    {
        // A tape deleted by hand while its log lay beside it.
        const auto writer = newTape(path);
        writer->log({1, -1, Severity::Info, "ghost"});
        ASSERT_OK(writer->flush());
        std::filesystem::copy_file(path + "-wal", dir.file("ghost-wal"));
    }
    std::filesystem::remove(path);
    std::filesystem::rename(dir.file("ghost-wal"), path + "-wal");
    const auto writer = newTape(path);
    EXPECT_TRUE(get(get(TapeReader::open(path))->log()).empty());
    EXPECT_OK(writer->seal(RunOutcome::Finished));
    EXPECT_EQ(sql(path, "PRAGMA integrity_check"), Rows{"ok"});
}

TEST(CreateFailure, NamesAFolderThatCannotBeWritten) {
    const TempDir dir;
    chmod(dir.path().c_str(), 0555);
    const int failed = asOrdinaryUser([&] {
        const std::string message = createError(dir.file("run.tape"));
        return message.find("cannot be written") == std::string::npos ? 1 : 0;
    });
    chmod(dir.path().c_str(), 0755);
    EXPECT_EQ(failed, 0);
    EXPECT_TRUE(dir.names().empty());
}

class ReadOnlyFolder : public testing::Test {
protected:
    void seal() {
        const auto writer = newTape(path);
        writer->scalar(writer->tag("t", TagKind::Scalar), {0, 1, 42});
        ASSERT_OK(writer->seal(RunOutcome::Finished));
    }
    int read() {
        chmod(path.c_str(), 0444);
        chmod(dir.path().c_str(), 0555);
        const int failed = asOrdinaryUser([this] {
            const auto reader = TapeReader::open(path);
            if (!reader.ok()) return fprintf(stderr, "%s\n", messageOf(reader).c_str()) > 0 ? 1 : 1;
            const auto points = (*reader)->scalars(TagId{1});
            if (!points.ok() || points->size() != 1 || (*points)[0].value != 42) return 2;
            return (*reader)->state() == TapeState::Live ? 3 : 0;
        });
        chmod(dir.path().c_str(), 0755);
        return failed;
    }
    TempDir dir;
    std::string path = dir.file("run.tape");
};

TEST_F(ReadOnlyFolder, ASealedTapeOpens) {
    seal();
    EXPECT_EQ(read(), 0);
}

TEST_F(ReadOnlyFolder, ATapeStillInLogModeOpens) {
    seal();
    sql(path, "PRAGMA journal_mode=WAL");
    ASSERT_EQ(dir.names(), Rows{"run.tape"});
    EXPECT_EQ(read(), 0);
}

TEST_F(ReadOnlyFolder, ACutTapeWithItsLogOpens) {
    const auto writer = newTape(dir.file("live.tape"));
    writer->scalar(writer->tag("t", TagKind::Scalar), {0, 1, 42});
    ASSERT_OK(writer->flush());
    for (const char* suffix : {"", "-wal", "-shm"}) {
        std::filesystem::copy_file(dir.file("live.tape") + suffix, path + suffix);
        chmod((path + suffix).c_str(), 0444);
    }
    // The copy is nobody's; state is not asked to be Cut here because the writer is this very
    // process.
    chmod(dir.path().c_str(), 0555);
    const int failed = asOrdinaryUser([this] {
        const auto reader = TapeReader::open(path);
        if (!reader.ok()) return 1;
        const auto points = (*reader)->scalars(TagId{1});
        return points.ok() && points->size() == 1 ? 0 : 2;
    });
    chmod(dir.path().c_str(), 0755);
    EXPECT_EQ(failed, 0);
}

TEST_F(ReadOnlyFolder, ALogThatCannotBeUsedIsSaidNotSkipped) {
    const auto writer = newTape(dir.file("live.tape"));
    writer->scalar(writer->tag("t", TagKind::Scalar), {0, 1, 42});
    ASSERT_OK(writer->flush());
    for (const char* suffix : {"", "-wal"}) {
        std::filesystem::copy_file(dir.file("live.tape") + suffix, path + suffix);
        chmod((path + suffix).c_str(), 0444);
    }
    chmod(dir.path().c_str(), 0555);
    const int failed = asOrdinaryUser([this] {
        const auto reader = TapeReader::open(path);
        return !reader.ok() &&
                       messageOf(reader).find("copy both to another folder") != std::string::npos
                   ? 0
                   : 1;
    });
    chmod(dir.path().c_str(), 0755);
    EXPECT_EQ(failed, 0);
}

TEST(WriteFailure, AFullDiskKeepsWhatWasCommittedAndSaysSo) {
    const TempDir dir;
    const std::string path = dir.file("run.tape");
    int acked[2];
    ASSERT_EQ(pipe(acked), 0);
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        auto writer = TapeWriter::create(path, {});
        if (!writer.ok()) _exit(1);
        const rlimit limit{1U << 20U, 1U << 20U};  // no file may grow past 1 MiB: as a full disk
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(2);
        const TagId tag = (*writer)->tag("t", TagKind::Scalar);
        std::int64_t written = 0;
        Status status;
        while (status.ok() && written < 10'000'000) {
            for (int i = 0; i < 1000; ++i)
                (*writer)->scalar(tag, {written + i, 0.25, 1.0 / (1.0 + i)});
            status = (*writer)->flush();
            if (!status.ok()) break;
            written += 1000;
            if (::write(acked[1], &written, sizeof written) != sizeof written) _exit(3);
        }
        if (status.message().find("recording stopped: ") != 0) _exit(4);
        if (status.message().find(path) == std::string::npos) _exit(5);
        (*writer)->scalar(tag, {0, 0, 0});  // refused, does not block
        if ((*writer)->flush().message() != status.message()) _exit(6);
        if ((*writer)->seal(RunOutcome::Finished).message() != status.message()) _exit(7);
        if ((*writer)->status().ok()) _exit(8);
        // Still the same process, yet nobody believes that the run goes on.
        const auto reader = TapeReader::open(path);
        if (!reader.ok() || (*reader)->state() != TapeState::Cut) _exit(9);
        _exit(0);
    }
    close(acked[1]);
    std::int64_t last = 0;
    for (std::int64_t n = 0; ::read(acked[0], &n, sizeof n) == sizeof n;) last = n;
    close(acked[0]);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_GT(last, 1000);
    EXPECT_EQ(sql(path, "PRAGMA integrity_check"), Rows{"ok"});
    const auto points = get(get(TapeReader::open(path))->scalars(TagId{1}));
    EXPECT_GE(static_cast<std::int64_t>(points.size()), last);
    EXPECT_EQ(points.at(1999).step, 1999);
}

/// Keeps the writer from committing, as a disk that hangs does.
class StalledDisk {
public:
    explicit StalledDisk(const std::string& path) {
        EXPECT_EQ(sqlite3_open(path.c_str(), &m_db), SQLITE_OK);
        sqlite3_busy_timeout(m_db, 5000);
        EXPECT_EQ(sqlite3_exec(m_db, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
    }
    ~StalledDisk() {
        sqlite3_exec(m_db, "ROLLBACK", nullptr, nullptr, nullptr);
        sqlite3_close(m_db);
    }
    StalledDisk(const StalledDisk&) = delete;
    StalledDisk& operator=(const StalledDisk&) = delete;

private:
    sqlite3* m_db = nullptr;
};

TEST(Backlog, EventsAboveItAreDroppedAndCounted) {
    const TempDir dir;
    const std::string path = dir.file("run.tape");
    const auto writer = newTape(path, {}, {.maxBacklogBytes = 1U << 20U});
    ASSERT_OK(writer->flush());
    constexpr std::int64_t kBatches = 40;
    constexpr std::int64_t kBatch = 1000;  // 80 KB of operator events
    {
        const StalledDisk stalled(path);
        for (std::int64_t b = 0; b < kBatches; ++b) {
            writer->opEvents(opEvents(b * kBatch, kBatch));
            writer->memoryEvents(memoryEvents(b * kBatch, kBatch));
        }
        writer->step({0, 0, 1, 0, 0});  // small rows get through
    }
    EXPECT_OK(writer->seal(RunOutcome::Finished));
    const auto reader = get(TapeReader::open(path));
    const auto losses = get(reader->losses());
    ASSERT_EQ(losses.size(), 2U);
    const auto ops = get(reader->opEvents()).events;
    const auto memories = get(reader->memoryEvents()).events;
    EXPECT_EQ(losses[0].what, "memory events");
    EXPECT_EQ(losses[0].count + static_cast<std::int64_t>(memories.size()), kBatches * kBatch);
    EXPECT_EQ(losses[1].what, "operator events");
    EXPECT_EQ(losses[1].count + static_cast<std::int64_t>(ops.size()), kBatches * kBatch);
    EXPECT_EQ(losses[1].reason, "the disk is slower than the run");
    EXPECT_GT(losses[1].count, 0);
    EXPECT_EQ(get(reader->steps()).size(), 1U);
    // What was kept are whole batches, unchanged.
    ASSERT_GE(ops.size(), static_cast<std::size_t>(kBatch));
    EXPECT_EQ(firstDifference({ops.begin(), ops.begin() + kBatch}, opEvents(0, kBatch)), -1);
}

TEST(Backlog, ScalarsWaitInsteadOfGettingLost) {
    const TempDir dir;
    const std::string path = dir.file("run.tape");
    constexpr std::size_t kBacklog = 64U << 10U;
    const auto writer = newTape(path, {}, {.maxBacklogBytes = kBacklog});
    const TagId tag = writer->tag("t", TagKind::Scalar);
    ASSERT_OK(writer->flush());
    constexpr std::int64_t kPoints = 20000;
    constexpr auto kFit =
        static_cast<std::int64_t>(kBacklog / (sizeof(TagId) + sizeof(ScalarPoint)));
    std::atomic<std::int64_t> pushed{0};
    std::jthread producer;
    {
        const StalledDisk stalled(path);
        producer = std::jthread([&] {
            for (std::int64_t i = 0; i < kPoints; ++i) {
                writer->scalar(tag, {i, 0, static_cast<double>(i)});
                ++pushed;
            }
        });
        while (pushed < kFit / 2) std::this_thread::yield();
        EXPECT_LE(pushed, kFit + 1);  // however long the disk hangs
    }
    producer.join();
    EXPECT_OK(writer->seal(RunOutcome::Finished));
    const auto points = get(get(TapeReader::open(path))->scalars(tag));
    ASSERT_EQ(points.size(), static_cast<std::size_t>(kPoints));
    for (std::int64_t i = 0; i < kPoints; ++i)
        ASSERT_EQ(points[static_cast<std::size_t>(i)].step, i);
    EXPECT_TRUE(get(get(TapeReader::open(path))->losses()).empty());
}

}  // namespace
}  // namespace tapescope::storage
