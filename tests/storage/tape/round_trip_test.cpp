// SPDX-License-Identifier: Apache-2.0
#include "tests/storage/tape/tape_support.h"

#include <cmath>
#include <limits>
#include <thread>

namespace tapescope::storage {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Tape, KeepsRunInfoInItsOrder) {
    const TempDir dir;
    RunInfo info;
    info.runId = "r-1";
    info.name = "digits-cnn";
    info.command = "tapescope run digits-cnn --set lr=0.01";
    info.startWall = 1.7e9;
    info.config = {{"steps", "900"}, {"lr", "0.01"}, {"seed", "7"}};
    info.environment = {{"host", "box"}, {"cpu", "two"}};
    const auto writer = newTape(dir.file("a.tape"), info);
    EXPECT_EQ(writer->startWall(), 1.7e9);
    writer->environment("cpu", "three");
    writer->environment("compiler", "g++");
    EXPECT_OK(writer->seal(RunOutcome::Finished, "900 steps"));
    const auto reader = get(TapeReader::open(dir.file("a.tape")));
    const RunInfo back = get(reader->info());
    EXPECT_EQ(back.runId, "r-1");
    EXPECT_EQ(back.name, "digits-cnn");
    EXPECT_EQ(back.command, info.command);
    EXPECT_EQ(back.startWall, 1.7e9);
    EXPECT_EQ(back.config, info.config);
    using Pairs = std::vector<std::pair<std::string, std::string>>;
    EXPECT_EQ(back.environment, (Pairs{{"host", "box"}, {"cpu", "three"}, {"compiler", "g++"}}));
    EXPECT_EQ(reader->state(), TapeState::Sealed);
    EXPECT_EQ(reader->outcome(), RunOutcome::Finished);
    EXPECT_EQ(reader->outcomeMessage(), "900 steps");
}

TEST(Tape, MakesDifferentRunIdsAndNotesTheStartTime) {
    const TempDir dir;
    const auto a = newTape(dir.file("a.tape"));
    const auto b = newTape(dir.file("b.tape"));
    const RunInfo first = get(get(TapeReader::open(dir.file("a.tape")))->info());
    const RunInfo second = get(get(TapeReader::open(dir.file("b.tape")))->info());
    EXPECT_EQ(first.runId.size(), 32U);
    EXPECT_NE(first.runId, second.runId);
    EXPECT_EQ(first.startWall, a->startWall());
    EXPECT_GT(first.startWall, 1.6e9);
}

TEST(Tape, KeepsScalarsExactlyWithNaNAndInf) {
    const TempDir dir;
    const auto writer = newTape(dir.file("a.tape"));
    const std::vector<ScalarPoint> points = {{0, 1.25, 0.1},
                                             {1, 2.5, kNaN},
                                             {2, 3.75, kInf},
                                             {3, 5, -kInf},
                                             {3, 5.5, std::numeric_limits<double>::denorm_min()},
                                             {-7, 6, -std::numeric_limits<double>::max()},
                                             {INT64_MAX, 7, 3.0}};
    const TagId loss = writer->tag("train/loss", TagKind::Scalar);
    const TagId other = writer->tag("train/größe", TagKind::Scalar);
    EXPECT_EQ(writer->tag("train/loss", TagKind::Scalar), loss);
    EXPECT_NE(writer->tag("train/loss", TagKind::Histogram), loss);
    for (const ScalarPoint& p : points) {
        writer->scalar(loss, p);
        writer->scalar(other, {p.step, p.wall, 1});
    }
    EXPECT_OK(writer->flush());
    const auto reader = get(TapeReader::open(dir.file("a.tape")));
    const auto tags = get(reader->tags());
    ASSERT_EQ(tags.size(), 3U);
    EXPECT_EQ(tags[1].name, "train/größe");
    EXPECT_EQ(tags[2].kind, TagKind::Histogram);
    const auto back = get(reader->scalars(loss));
    ASSERT_EQ(back.size(), points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
        EXPECT_EQ(back[i].step, points[i].step) << i;
        EXPECT_EQ(back[i].wall, points[i].wall) << i;
        EXPECT_EQ(std::isnan(back[i].value), std::isnan(points[i].value)) << i;
        if (!std::isnan(points[i].value)) {
            EXPECT_EQ(back[i].value, points[i].value) << i;
        }
    }
    const auto part = get(reader->scalars(loss, 4, 2));
    ASSERT_EQ(part.size(), 2U);
    EXPECT_EQ(part[0].step, 3);
    EXPECT_EQ(part[1].step, -7);
    EXPECT_TRUE(get(reader->scalars(loss, 7)).empty());
    EXPECT_TRUE(get(reader->scalars(TagId{99})).empty());
}

TEST(Tape, SummarisesEvery1024PointsAndTheRest) {
    const TempDir dir;
    const auto writer = newTape(dir.file("a.tape"));
    const TagId tag = writer->tag("t", TagKind::Scalar);
    for (std::int64_t i = 0; i < 2500; ++i) {
        writer->scalar(tag, {10 * i, 100.0 + static_cast<double>(i),
                             i % 100 == 3 ? kNaN : static_cast<double>(i % 50)});
    }
    const TagId strange = writer->tag("nan only", TagKind::Scalar);
    writer->scalar(strange, {0, 1, kInf});
    EXPECT_OK(writer->flush());
    const auto reader = get(TapeReader::open(dir.file("a.tape")));
    const auto summaries = get(reader->scalarSummaries(tag));
    ASSERT_EQ(summaries.size(), 3U);
    const auto points = get(reader->scalars(tag));
    std::size_t at = 0;
    for (const ScalarSummary& s : summaries) {
        EXPECT_EQ(s.firstSeq, static_cast<std::int64_t>(at));
        EXPECT_EQ(s.firstStep, points[at].step);
        EXPECT_EQ(s.firstWall, points[at].wall);
        double min = kInf;
        double max = -kInf;
        double sum = 0;
        std::int64_t bad = 0;
        for (std::int64_t k = 0; k < s.count; ++k, ++at) {
            const double v = points[at].value;
            if (!std::isfinite(v)) {
                ++bad;
                continue;
            }
            min = std::min(min, v);
            max = std::max(max, v);
            sum += v;
        }
        EXPECT_EQ(s.min, min);
        EXPECT_EQ(s.max, max);
        EXPECT_EQ(s.sum, sum);
        EXPECT_EQ(s.nonFinite, bad);
        EXPECT_EQ(s.lastStep, points[at - 1].step);
        EXPECT_EQ(s.lastWall, points[at - 1].wall);
    }
    EXPECT_EQ(at, 2500U);
    EXPECT_EQ(summaries[0].count, 1024);
    const auto none = get(reader->scalarSummaries(strange));
    ASSERT_EQ(none.size(), 1U);
    EXPECT_TRUE(std::isnan(none[0].min));
    EXPECT_EQ(none[0].nonFinite, 1);
    EXPECT_EQ(none[0].sum, 0);
}

TEST(Tape, KeepsHistograms) {
    const TempDir dir;
    const auto writer = newTape(dir.file("a.tape"));
    const TagId tag = writer->tag("grad/conv1", TagKind::Histogram);
    Histogram h;
    h.step = 20;
    h.wall = 3.5;
    h.edges = {-1, 0.1, 0.25, 2};
    h.counts = {5, 0, 7.5};
    h.min = -0.9;
    h.max = 1.9;
    h.sum = 3;
    h.sumSquares = 4;
    h.nanCount = 2;
    h.infCount = 1;
    writer->histogram(tag, h);
    Histogram empty;
    empty.step = 40;
    empty.min = kNaN;
    writer->histogram(tag, empty);
    EXPECT_OK(writer->flush());
    const auto reader = get(TapeReader::open(dir.file("a.tape")));
    const auto back = get(reader->histograms(tag));
    ASSERT_EQ(back.size(), 2U);
    EXPECT_EQ(back[0].step, 20);
    EXPECT_EQ(back[0].wall, 3.5);
    EXPECT_EQ(back[0].edges, h.edges);
    EXPECT_EQ(back[0].counts, h.counts);
    EXPECT_EQ(back[0].min, -0.9);
    EXPECT_EQ(back[0].max, 1.9);
    EXPECT_EQ(back[0].sum, 3);
    EXPECT_EQ(back[0].sumSquares, 4);
    EXPECT_EQ(back[0].nanCount, 2);
    EXPECT_EQ(back[0].infCount, 1);
    EXPECT_TRUE(back[1].edges.empty());
    EXPECT_TRUE(back[1].counts.empty());
    EXPECT_TRUE(std::isnan(back[1].min));
    const auto later = get(reader->histograms(tag, 21));
    ASSERT_EQ(later.size(), 1U);
    EXPECT_EQ(later[0].step, 40);
}

TEST(Tape, KeepsTheModelAndItsSources) {
    const TempDir dir;
    const auto writer = newTape(dir.file("a.tape"));
    EXPECT_EQ(writer->name("conv2d"), 1U);
    EXPECT_EQ(writer->name("relu"), 2U);
    EXPECT_EQ(writer->name("conv2d"), 1U);
    EXPECT_EQ(writer->name(""), 0U);
    writer->lane({1, LaneKind::Thread, "model"});
    writer->module({1, 0, "", "Net", 0, ""});
    writer->module({2, 1, "conv1", "Conv2d", 320, "1→32, 3×3"});
    writer->site({1, "plugins/models/net.cpp", 31, "forward"});
    writer->source({"plugins/models/net.cpp", "int main() {}\n"});
    writer->step({4, 100, 900, 1, 4096});
    writer->step({5, 1000, 1800, 1, 8192});
    writer->log({1.5, 4, Severity::Warning, "gradient is zero"});
    writer->lost("operator events", 3, "buffer full");
    writer->lost("operator events", 4, "buffer full");
    writer->lost("memory events", 0, "nothing");
    EXPECT_OK(writer->flush());
    const auto reader = get(TapeReader::open(dir.file("a.tape")));
    EXPECT_EQ(get(reader->names()), (std::vector<std::string>{"", "conv2d", "relu"}));
    EXPECT_EQ(get(reader->lanes()).at(0).label, "model");
    const auto modules = get(reader->modules());
    ASSERT_EQ(modules.size(), 2U);
    EXPECT_EQ(modules[1].path, "conv1");
    EXPECT_EQ(modules[1].parent, 1U);
    EXPECT_EQ(modules[1].parameters, 320);
    EXPECT_EQ(modules[1].details, "1→32, 3×3");
    const auto sites = get(reader->sites());
    ASSERT_EQ(sites.size(), 1U);
    EXPECT_EQ(sites[0].file, "plugins/models/net.cpp");
    EXPECT_EQ(sites[0].line, 31U);
    EXPECT_EQ(get(reader->sources()).at(0).text, "int main() {}\n");
    const auto steps = get(reader->steps(5));
    ASSERT_EQ(steps.size(), 1U);
    EXPECT_EQ(steps[0].endNs, 1800);
    EXPECT_EQ(steps[0].peakBytes, 8192);
    const auto log = get(reader->log());
    ASSERT_EQ(log.size(), 1U);
    EXPECT_EQ(log[0].severity, Severity::Warning);
    EXPECT_EQ(log[0].text, "gradient is zero");
    const auto losses = get(reader->losses());
    ASSERT_EQ(losses.size(), 1U);
    EXPECT_EQ(losses[0].count, 7);
    EXPECT_EQ(losses[0].reason, "buffer full");
}

TEST(Tape, ReplacesTheSummaryOfOperators) {
    const TempDir dir;
    const auto writer = newTape(dir.file("a.tape"));
    writer->opSummary({{"relu", Phase::Forward, 1, 10, 10, 10, 10, 0, 8}});
    writer->opSummary({{"conv2d", Phase::Forward, 3, 90, 80, 20, 40, 1e9, 4096},
                       {"conv2d", Phase::Backward, 3, 190, 180, 50, 80, 2e9, 8192}});
    EXPECT_OK(writer->flush());
    const auto rows = get(get(TapeReader::open(dir.file("a.tape")))->opSummary());
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].phase, Phase::Backward);  // most self time first
    EXPECT_EQ(rows[1].name, "conv2d");
    EXPECT_EQ(rows[1].calls, 3);
    EXPECT_EQ(rows[1].totalNs, 90);
    EXPECT_EQ(rows[1].selfNs, 80);
    EXPECT_EQ(rows[1].minNs, 20);
    EXPECT_EQ(rows[1].maxNs, 40);
    EXPECT_EQ(rows[1].flops, 1e9);
    EXPECT_EQ(rows[1].bytes, 4096);
}

Graph sampleGraph(std::size_t nodes) {
    Graph g;
    g.id = 1;
    g.signature = 0xfedcba9876543210U;
    g.firstStep = 3;
    for (std::size_t i = 0; i < nodes; ++i) {
        GraphNode n;
        n.seq = static_cast<std::uint32_t>(i);
        n.op = i % 2 == 0 ? "conv2d" : "relu";
        n.module = 2;
        n.site = 1;
        n.phase = i == 0 ? Phase::Forward : Phase::Backward;
        n.forwardSeq = i == 0 ? -1 : 0;
        n.attrs = "stride=[1, 1]";
        n.outputs = "f32[64,32,8,8]";
        n.flops = 1e6;
        n.bytes = 1024;
        if (i == 0) {
            n.inputs = {{-1, 0, 0, "input", "f32[64,1,8,8]"},
                        {-1, 0, 1, "conv1.weight", "f32[32,1,3,3]"}};
        } else {
            n.inputs = {{static_cast<std::int32_t>(i - 1), 1, 0, "", "f32[64,32,8,8]"}};
        }
        g.nodes.push_back(n);
    }
    return g;
}

TEST(Tape, KeepsGraphs) {
    const TempDir dir;
    const auto writer = newTape(dir.file("a.tape"));
    const Graph g = sampleGraph(5);
    writer->graph(g);
    EXPECT_OK(writer->flush());
    const auto reader = get(TapeReader::open(dir.file("a.tape")));
    const auto list = get(reader->graphs());
    ASSERT_EQ(list.size(), 1U);
    EXPECT_EQ(list[0].signature, g.signature);
    EXPECT_TRUE(list[0].nodes.empty());
    const Graph back = get(reader->graph(1));
    EXPECT_EQ(back.firstStep, 3);
    EXPECT_TRUE(back.complete);
    EXPECT_EQ(back.nodes, g.nodes);
    EXPECT_NE(messageOf(reader->graph(2)).find("has no graph 2"), std::string::npos);
}

TEST(Tape, AnUnfinishedGraphGrowsChangesAndIsReplaced) {
    const TempDir dir;
    const auto writer = newTape(dir.file("a.tape"));
    const auto reader = get(TapeReader::open(dir.file("a.tape")));
    Graph partial = sampleGraph(2);
    partial.complete = false;
    partial.nodes[1].outputs = "";  // still running
    writer->graph(partial);
    EXPECT_OK(writer->flush());
    EXPECT_EQ(get(reader->graph(1)).nodes, partial.nodes);
    EXPECT_FALSE(get(reader->graphs()).at(0).complete);

    partial = sampleGraph(4);
    partial.complete = false;
    writer->graph(partial);
    EXPECT_OK(writer->flush());
    EXPECT_EQ(get(reader->graph(1)).nodes, partial.nodes);

    const Graph whole = sampleGraph(3);  // fewer nodes than before
    writer->graph(whole);
    EXPECT_OK(writer->flush());
    EXPECT_EQ(get(reader->graph(1)).nodes, whole.nodes);
    EXPECT_TRUE(get(reader->graph(1)).complete);
    EXPECT_EQ(sql(dir.file("a.tape"), "SELECT count(*) FROM graph_edge"), Rows{"4"});
}

TEST(Tape, DropsAnUnfinishedGraphButNoFinishedOne) {
    const TempDir dir;
    const auto writer = newTape(dir.file("a.tape"));
    Graph partial = sampleGraph(2);
    partial.complete = false;
    writer->graph(partial);
    Graph whole = sampleGraph(3);
    whole.id = 2;
    writer->graph(whole);
    writer->dropGraph(1);
    writer->dropGraph(2);
    EXPECT_OK(writer->flush());
    const auto reader = get(TapeReader::open(dir.file("a.tape")));
    ASSERT_EQ(get(reader->graphs()).size(), 1U);
    EXPECT_EQ(get(reader->graphs())[0].id, 2);
    EXPECT_EQ(get(reader->graph(2)).nodes.size(), 3U);
    EXPECT_EQ(sql(dir.file("a.tape"), "SELECT count(*) FROM graph_node WHERE graph = 1"),
              Rows{"0"});
}

TEST(Tape, KeepsExtremeEvents) {
    const TempDir dir;
    const auto writer = newTape(dir.file("a.tape"));
    OpEvent extreme;
    extreme.startNs = INT64_MIN;
    extreme.durationNs = INT64_MAX;
    extreme.opId = UINT64_MAX;
    extreme.parentId = UINT64_MAX - 1;
    extreme.step = INT64_MIN;
    extreme.flops = kInf;
    extreme.bytes = INT64_MIN;
    extreme.name = extreme.module = extreme.site = extreme.lane = extreme.seq = UINT32_MAX;
    extreme.kind = OpEvent::Kind::Phase;
    extreme.phase = Phase::Evaluate;
    extreme.depth = 255;
    OpEvent zero;
    OpEvent top = extreme;
    top.startNs = INT64_MAX;
    top.flops = -0.0;
    const std::vector<OpEvent> ops = {extreme, zero, top, opEvent(7), zero};
    writer->opEvents(ops);
    MemoryEvent memory;
    memory.timeNs = INT64_MIN;
    memory.address = UINT64_MAX;
    memory.sizeBytes = INT64_MIN;
    memory.allocatedBytes = INT64_MAX;
    memory.reservedBytes = INT64_MIN;
    memory.opId = UINT64_MAX;
    memory.kind = MemoryKind::OutOfMemory;
    memory.role = MemoryRole::Temporary;
    const std::vector<MemoryEvent> memories = {memory, {}, memoryEvent(3), memory};
    writer->memoryEvents(memories);
    EXPECT_OK(writer->flush());
    const auto reader = get(TapeReader::open(dir.file("a.tape")));
    const auto back = get(reader->opEvents());
    EXPECT_EQ(firstDifference(back.events, ops), -1);
    EXPECT_TRUE(std::signbit(back.events.at(2).flops));
    EXPECT_EQ(back.cursor, 5);
    EXPECT_EQ(firstDifference(get(reader->memoryEvents()).events, memories), -1);
}

TEST(Tape, TakesRecordsFromManyThreads) {
    const TempDir dir;
    const auto writer = newTape(dir.file("a.tape"));
    constexpr int kThreads = 4;
    constexpr std::int64_t kEach = 3000;
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < kThreads; ++t) {
            threads.emplace_back([&writer, t] {
                for (std::int64_t i = 0; i < kEach; ++i) {
                    // Names are interned by all threads at once, and used at once.
                    const TagId tag = writer->tag("tag " + std::to_string(i % 10), TagKind::Scalar);
                    writer->scalar(tag, {i, static_cast<double>(t), static_cast<double>(i)});
                    if (i % 100 == 0) {
                        OpEvent e = opEvent(i);
                        e.lane = static_cast<std::uint32_t>(t);
                        e.name = writer->name("op " + std::to_string(i % 300));
                        writer->opEvents({e});
                    }
                }
            });
        }
    }
    EXPECT_OK(writer->seal(RunOutcome::Finished));
    const auto reader = get(TapeReader::open(dir.file("a.tape")));
    const auto tags = get(reader->tags());
    ASSERT_EQ(tags.size(), 10U);
    std::vector<std::int64_t> perThread(kThreads, 0);
    for (const TagRow& tag : tags) {
        std::vector<std::int64_t> last(kThreads, -1);
        for (const ScalarPoint& p : get(reader->scalars(tag.id))) {
            const auto t = static_cast<std::size_t>(p.wall);
            EXPECT_GT(p.step, last[t]);  // one thread's points stay in order
            last[t] = p.step;
            ++perThread[t];
        }
    }
    EXPECT_EQ(perThread, std::vector<std::int64_t>(kThreads, kEach));
    EXPECT_EQ(get(reader->opEvents()).events.size(), kThreads * kEach / 100);
    EXPECT_EQ(get(reader->names()).size(), 4U);
}

}  // namespace
}  // namespace tapescope::storage
