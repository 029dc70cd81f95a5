// SPDX-License-Identifier: Apache-2.0
// Files that are no tapes, newer ones, and damaged ones: a sentence for the user, never a crash.
#include "storage/tape/database.h"
#include "storage/tape/schema.h"
#include "tests/storage/tape/tape_support.h"

#include <iterator>
#include <random>
#include <sys/stat.h>

namespace tapescope::storage {
namespace {

std::string openError(const std::string& path) { return messageOf(TapeReader::open(path)); }

/// Calls everything a reader has; the number of calls that failed.
int readEverything(TapeReader& reader) {
    int failed = 0;
    const auto look = [&](const auto& result) { failed += result.ok() ? 0 : 1; };
    look(reader.info());
    (void)reader.state();
    (void)reader.outcome();
    (void)reader.outcomeMessage();
    (void)reader.changed();
    const auto tags = reader.tags();
    look(tags);
    look(reader.scalars(TagId{1}));
    look(reader.scalarSummaries(TagId{1}));
    look(reader.histograms(TagId{2}));
    look(reader.names());
    look(reader.modules());
    look(reader.sites());
    look(reader.sources());
    look(reader.lanes());
    look(reader.steps());
    look(reader.graphs());
    look(reader.graph(1));
    look(reader.opEvents());
    look(reader.memoryEvents());
    look(reader.gpuEvents());
    look(reader.counterSamples());
    look(reader.allocatorEvents());
    look(reader.gpuProcesses());
    look(reader.gpuDevices());
    look(reader.gpuContexts());
    look(reader.gpuStreams());
    look(reader.gpuObjectNames());
    look(reader.gpuStatuses());
    look(reader.gpuCounts());
    look(reader.gpuSummary());
    look(reader.gpuCounters());
    look(reader.opSummary());
    look(reader.log());
    look(reader.losses());
    return failed;
}

void writeSample(const std::string& path) {
    const auto writer = newTape(path);
    const TagId tag = writer->tag("t", TagKind::Scalar);
    for (int i = 0; i < 1500; ++i) writer->scalar(tag, {i, 1, 0.5 * i});
    Histogram h;
    h.edges = {0, 1, 2};
    h.counts = {3, 4};
    writer->histogram(writer->tag("h", TagKind::Histogram), h);
    for (const char* name : {"conv2d", "relu", "add"}) writer->name(name);
    writer->opEvents(opEvents(0, 3000));
    writer->memoryEvents(memoryEvents(0, 3000));
    writer->gpuEvents(gpuEvents(0, 2000));
    writer->counterSamples({{1, 0.5, 1}, {2, 0.25, 1}});
    writer->allocatorEvents({AllocatorEvent{}});
    writer->gpuProcess({1, 7, 1, "box", "boot", "train", 0, 0, 1, 5, 6, 0, "same clock"});
    writer->gpuDevice({1, 0, "H200", "GPU-1", 141, 132, 9, 0});
    writer->lane({1, LaneKind::Thread, "model"});
    writer->module({1, 0, "", "Net", 0, ""});
    writer->site({1, "net.cpp", 3, "f"});
    writer->source({"net.cpp", std::string(20000, 'x')});
    writer->step({0, 0, 5, 1, 4});
    Graph g;
    g.id = 1;
    for (std::uint32_t i = 0; i < 50; ++i) {
        GraphNode n;
        n.seq = i;
        n.op = "relu";
        n.inputs = {{static_cast<std::int32_t>(i) - 1, 0, 0, i == 0 ? "input" : "", "f32[1]"}};
        g.nodes.push_back(n);
    }
    writer->graph(g);
    writer->opSummary({{"relu", Phase::Forward, 1, 1, 1, 1, 1, 0, 0}});
    writer->log({1, 0, Severity::Info, "hello"});
    writer->lost("memory events", 1, "test");
    ASSERT_OK(writer->seal(RunOutcome::Finished));
}

TEST(NotATape, MissingFile) {
    const TempDir dir;
    const std::string message = openError(dir.file("no.tape"));
    EXPECT_NE(message.find("no.tape\" (No such file or directory)"), std::string::npos) << message;
    EXPECT_NE(message.find("tapescope run MODEL --tape FILE"), std::string::npos);
    EXPECT_TRUE(dir.names().empty());
}
TEST(NotATape, Folder) {
    const TempDir dir;
    EXPECT_NE(openError(dir.path()).find("it is not a file"), std::string::npos);
    EXPECT_NE(openError("/dev/null").find("it is not a file"), std::string::npos);
}
TEST(NotATape, EmptyFile) {
    const TempDir dir;
    std::ofstream(dir.file("empty.tape")).flush();
    EXPECT_NE(openError(dir.file("empty.tape")).find("is empty, not a Tapescope tape"),
              std::string::npos);
}
TEST(NotATape, TextAndShortFiles) {
    const TempDir dir;
    std::ofstream(dir.file("a.tape")) << std::string(5000, 'a');
    EXPECT_NE(openError(dir.file("a.tape")).find("not even an SQLite file"), std::string::npos)
        << openError(dir.file("a.tape"));
    std::ofstream(dir.file("b.tape")) << "x";
    EXPECT_NE(openError(dir.file("b.tape")).find("is not a Tapescope tape (1 bytes"),
              std::string::npos)
        << openError(dir.file("b.tape"));
    EXPECT_EQ(dir.names(), (Rows{"a.tape", "b.tape"}));
}
TEST(NotATape, AnotherSqliteFileIsLeftAlone) {
    const TempDir dir;
    const std::string path = dir.file("other.db");
    sql(path, "PRAGMA journal_mode=WAL; CREATE TABLE t(x); INSERT INTO t VALUES(1)");
    EXPECT_NE(openError(path).find("is an SQLite file but not a Tapescope tape"),
              std::string::npos);
    EXPECT_EQ(sql(path, "SELECT x FROM t"), Rows{"1"});
}
TEST(NotATape, NewerSchema) {
    const TempDir dir;
    const std::string path = dir.file("a.tape");
    writeSample(path);
    sql(path, "PRAGMA user_version=7");
    EXPECT_NE(openError(path).find(
                  "written by a newer Tapescope (tape schema 7, this one reads up to 2): update"),
              std::string::npos)
        << openError(path);
}
TEST(NotATape, OlderSchemaWithoutAMigration) {
    const TempDir dir;
    const std::string path = dir.file("a.tape");
    writeSample(path);
    sql(path, "PRAGMA user_version=0");
    EXPECT_NE(openError(path).find("has tape schema 0, which this program no longer reads"),
              std::string::npos)
        << openError(path);
    EXPECT_EQ(sql(path, "PRAGMA user_version"), Rows{"0"});
}

TEST(Migration, TakesAllStepsOrNone) {
    const TempDir dir;
    const std::string path = dir.file("a.tape");
    sql(path, "CREATE TABLE t(a); INSERT INTO t VALUES(5); PRAGMA user_version=1");
    const Migration good[] = {{1, "ALTER TABLE t ADD COLUMN b"}, {2, "UPDATE t SET b = a + 1"}};
    {
        auto db = get(Database::open(path, Database::Mode::ReadWrite));
        EXPECT_OK(migrate(*db, 1, 3, good));
    }
    EXPECT_EQ(sql(path, "SELECT a, b FROM t"), Rows{"5|6"});
    EXPECT_EQ(sql(path, "PRAGMA user_version"), Rows{"3"});
    const Migration bad[] = {{3, "ALTER TABLE t ADD COLUMN c"}, {4, "UPDATE nothing SET x = 1"}};
    {
        auto db = get(Database::open(path, Database::Mode::ReadWrite));
        EXPECT_FALSE(migrate(*db, 3, 5, bad).ok());
        EXPECT_FALSE(migrate(*db, 3, 6, good).ok());  // a step is missing
    }
    EXPECT_EQ(sql(path, "PRAGMA user_version"), Rows{"3"});
    EXPECT_EQ(sql(path, "SELECT count(*) FROM pragma_table_info('t')"), Rows{"2"});
    {
        auto db = get(Database::open(path, Database::Mode::ReadOnly));
        EXPECT_NE(migrate(*db, 3, 4, bad).message().find("needs a writable file"),
                  std::string::npos);
    }
}

class Damaged : public testing::Test {
protected:
    void SetUp() override { writeSample(path); }
    /// Opens after the change; the message of the reader's call.
    template <class Call>
    std::string after(const std::string& change, Call&& call) {
        sql(path, change);
        const auto reader = TapeReader::open(path);
        if (!reader.ok()) return messageOf(reader);
        return messageOf(call(**reader));
    }
    std::string opEventsAfter(const std::string& change) {
        return after(change, [](TapeReader& r) { return r.opEvents(); });
    }
    TempDir dir;
    std::string path = dir.file("run.tape");
};

TEST_F(Damaged, AMissingTable) {
    EXPECT_NE(after("DROP TABLE loss", [](TapeReader& r) { return r.losses(); })
                  .find("table loss is missing"),
              std::string::npos);
}
TEST_F(Damaged, AViewInPlaceOfATable) {
    // It would count without end.
    const std::string message = after(
        "DROP TABLE loss; CREATE VIEW loss AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i "
        "+ 1 FROM n) "
        "SELECT 'a' AS what, i AS count, 'b' AS reason FROM n",
        [](TapeReader& r) { return r.losses(); });
    EXPECT_NE(message.find("table loss is missing"), std::string::npos) << message;
}
TEST_F(Damaged, AMissingColumn) {
    const std::string message = after("ALTER TABLE step RENAME COLUMN end_ns TO finish",
                                      [](TapeReader& r) { return r.steps(); });
    EXPECT_NE(message.find("run.tape"), std::string::npos);
    EXPECT_NE(message.find("end_ns"), std::string::npos) << message;
}
TEST_F(Damaged, ValuesOfOtherTypes) {
    sql(path,
        "UPDATE lane SET label = x'00ff'; UPDATE log SET severity = 99; UPDATE module SET parent = "
        "-5;"
        "UPDATE step SET peak_bytes = 'many'; UPDATE op_summary SET phase = 'x'");
    const auto reader = get(TapeReader::open(path));
    EXPECT_EQ(readEverything(*reader), 0);
    EXPECT_EQ(get(reader->modules()).at(0).parent, 0U);
    EXPECT_EQ(get(reader->log()).at(0).severity, Severity::Info);
}
TEST_F(Damaged, AGapInTheNames) {
    EXPECT_NE(after("UPDATE name SET id = 4000000000 WHERE id = 2",
                    [](TapeReader& r) { return r.names(); })
                  .find("table name has a gap before id 3"),
              std::string::npos);
}
TEST_F(Damaged, AGraphWithAHole) {
    EXPECT_NE(
        after("DELETE FROM graph_node WHERE seq = 4", [](TapeReader& r) { return r.graph(1); })
            .find("has a hole at node 4"),
        std::string::npos);
}
TEST_F(Damaged, AnEdgeToNowhere) {
    EXPECT_NE(after("UPDATE graph_edge SET from_seq = 50 WHERE to_seq = 3",
                    [](TapeReader& r) { return r.graph(1); })
                  .find("an edge to a node that is not there"),
              std::string::npos);
}
TEST_F(Damaged, AChunkThatClaimsMoreEvents) {
    const std::string message = opEventsAfter("UPDATE op_event_chunk SET n = n + 1");
    EXPECT_NE(message.find("run.tape\" is damaged: a chunk's columns do not hold the 3001 events"),
              std::string::npos)
        << message;
}
TEST_F(Damaged, AChunkThatClaimsNonsense) {
    for (const char* n : {"0", "-1", "65537", "9223372036854775807", "'many'"}) {
        EXPECT_NE(opEventsAfter(std::string("UPDATE op_event_chunk SET n = ") + n), "") << n;
    }
}
TEST_F(Damaged, AChunkCutShort) {
    EXPECT_NE(opEventsAfter("UPDATE op_event_chunk SET data = substr(data, 1, length(data) / 2)")
                  .find("does not unpack"),
              std::string::npos);
}
TEST_F(Damaged, AChunkWithoutData) {
    EXPECT_NE(opEventsAfter("UPDATE op_event_chunk SET data = x''"), "");
}
TEST_F(Damaged, AChunkOfZeros) {
    EXPECT_NE(opEventsAfter("UPDATE op_event_chunk SET data = zeroblob(1000000)"), "");
}
TEST_F(Damaged, AChunkInAnUnknownCode) {
    EXPECT_NE(
        opEventsAfter("UPDATE op_event_chunk SET codec = 9").find("coded in an unknown way 9"),
        std::string::npos);
}
TEST_F(Damaged, AChunkAtAnotherPlace) {
    EXPECT_NE(
        opEventsAfter("UPDATE op_event_chunk SET first = 10").find("events 0 to 9 are missing"),
        std::string::npos);
    EXPECT_NE(opEventsAfter("UPDATE op_event_chunk SET first = -10"), "");
    EXPECT_NE(opEventsAfter("UPDATE op_event_chunk SET first = 9223372036854775807"), "");
}

TEST_F(Damaged, ATruncatedFileNeverCrashesUs) {
    const auto size = std::filesystem::file_size(path);
    const std::string cut = dir.file("cut.tape");
    int refused = 0;
    for (int i = 0; i < 40; ++i) {
        std::filesystem::copy_file(path, cut, std::filesystem::copy_options::overwrite_existing);
        std::filesystem::resize_file(cut, size * static_cast<std::uintmax_t>(i) / 40);
        const auto reader = TapeReader::open(cut);
        if (!reader.ok()) {
            EXPECT_NE(messageOf(reader).find("cut.tape"), std::string::npos);
            ++refused;
            continue;
        }
        EXPECT_GT(readEverything(**reader), 0) << i;
        ++refused;
    }
    EXPECT_EQ(refused, 40);
}

TEST_F(Damaged, FlippedBytesNeverCrashUs) {
    std::ifstream in(path, std::ios::binary);
    const std::string good((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    std::mt19937_64 random(99);
    int noticed = 0;
    for (int round = 0; round < 300; ++round) {
        std::string bad = good;
        if (round % 2 == 0) {  // single bytes, mostly in the pages' headers
            for (int k = 0; k < 40; ++k) {
                const std::size_t page = random() % (bad.size() / 4096);
                const std::size_t at = page * 4096 + random() % (k % 2 == 0 ? 16 : 4096);
                if (at >= 100)
                    bad[at] = static_cast<char>(random());  // the file header stays readable
            }
        } else {  // a page of another place
            const std::size_t pages = bad.size() / 4096;
            bad.replace((1 + random() % (pages - 1)) * 4096, 4096, good, (random() % pages) * 4096,
                        4096);
        }
        std::ofstream(dir.file("bad.tape"), std::ios::binary) << bad;
        const auto reader = TapeReader::open(dir.file("bad.tape"));
        if (!reader.ok() || readEverything(**reader) > 0) ++noticed;
    }
    EXPECT_GT(noticed, 50);
}

TEST_F(Damaged, NamesWithStrangeCharactersOpen) {
    for (const char* name : {"a b?c#d%20.tape", "größe\".tape", "x&immutable=0.tape"}) {
        std::filesystem::copy_file(path, dir.file(name));
        const auto reader = TapeReader::open(dir.file(name));
        ASSERT_TRUE(reader.ok()) << messageOf(reader);
        EXPECT_EQ(readEverything(**reader), 0);
        // The same through SQLite's URI syntax, as for files in folders that cannot be written.
        EXPECT_TRUE(Database::open(dir.file(name), Database::Mode::Immutable).ok());
    }
}

}  // namespace
}  // namespace tapescope::storage
