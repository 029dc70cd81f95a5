// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/models/timeline_model.h"

#include "support/sample_tape.h"
#include "viewers/models/scalar_series.h"
#include "viewers/models/timeline_builder.h"
#include "viewers/models/timeline_query.h"
#include "viewers/timeline/timeline_geometry.h"

#include <gtest/gtest.h>
#include <random>

namespace tapescope::viewers {
namespace {

using storage::OpEvent;

OpEvent op(std::int64_t start, std::int64_t duration, storage::NameId name = 1,
           std::uint8_t depth = 0) {
    OpEvent e;
    e.startNs = start;
    e.durationNs = duration;
    e.name = name;
    e.lane = 1;
    e.depth = depth;
    e.opId = static_cast<std::uint64_t>(start) + 1;
    return e;
}

OpEvent span(OpEvent::Kind kind, std::int64_t start, std::int64_t duration, std::uint8_t depth) {
    OpEvent e = op(start, duration, 2, depth);
    e.kind = kind;
    e.opId = 0;
    return e;
}

std::shared_ptr<Structure> structure(std::vector<std::string> names) {
    auto s = std::make_shared<Structure>();
    s->names = std::move(names);
    return s;
}

std::string outline(const TimelineData& data) {
    static const char* const kKinds[] = {"step", "phase", "module", "op"};
    std::string text;
    for (const TimelineRow& row : data.rows) {
        text += kKinds[static_cast<int>(row.kind)] + std::to_string(row.depth) + ":";
        for (std::size_t i = 0; i < row.size(); ++i)
            text += " " + std::to_string(row.startNs(i)) + "-" + std::to_string(row.endNs(i));
        text += "\n";
    }
    return text;
}

TEST(TimelineBuilder, RowsAreStepPhaseModulesThenOperatorsByTheirOwnNesting) {
    TimelineBuilder builder;
    // As a recorder writes: what encloses ends later and comes later.
    builder.append({op(10, 5, 1, 4), op(20, 10, 1, 3), op(22, 3, 1, 4),
                    span(OpEvent::Kind::Module, 9, 8, 3), span(OpEvent::Kind::Module, 8, 24, 2),
                    span(OpEvent::Kind::Phase, 7, 26, 1)});
    builder.append({span(OpEvent::Kind::Step, 5, 30, 0)});
    EXPECT_EQ(outline(*builder.snapshot(nullptr)),
              "step0: 5-35\n"
              "phase0: 7-33\n"
              "module0: 8-32\n"
              "module1: 9-17\n"
              "op0: 10-15 20-30\n"
              "op1: 22-25\n");
}

TEST(TimelineBuilder, TrainingAndEvaluationShareRowsAtWhateverDepth) {
    TimelineBuilder builder;
    auto train = span(OpEvent::Kind::Phase, 1, 8, 1),
         trainRoot = span(OpEvent::Kind::Module, 2, 6, 2);
    auto trainInner = span(OpEvent::Kind::Module, 3, 2, 3);
    train.phase = trainRoot.phase = trainInner.phase = storage::Phase::Forward;
    auto evaluate = span(OpEvent::Kind::Phase, 20, 9, 0),
         root = span(OpEvent::Kind::Module, 21, 7, 1);
    auto inner = span(OpEvent::Kind::Module, 22, 3, 2);
    evaluate.phase = root.phase = inner.phase = storage::Phase::Evaluate;
    builder.append(
        {trainInner, trainRoot, train, span(OpEvent::Kind::Step, 0, 10, 0), inner, root, evaluate});
    EXPECT_EQ(outline(*builder.snapshot(nullptr)),
              "step0: 0-10\n"
              "phase0: 1-9 20-29\n"
              "module0: 2-8 21-28\n"
              "module1: 3-5 22-25\n");
}

TEST(TimelineBuilder, OverlappingEventsGoToTheNextRow) {
    TimelineBuilder builder;
    builder.append({span(OpEvent::Kind::Module, 0, 10, 0)});
    builder.append({span(OpEvent::Kind::Module, 5, 10, 0)});
    EXPECT_EQ(outline(*builder.snapshot(nullptr)), "module0: 0-10\nmodule1: 5-15\n");
}

TEST(TimelineBuilder, ASnapshotStaysWhileTheTapeGrows) {
    TimelineBuilder builder;
    std::vector<OpEvent> events;
    for (int i = 0; i < 40'000; ++i) events.push_back(op(i * 10, 5));
    builder.append(events);
    const auto before = builder.snapshot(nullptr);
    builder.append({op(400'000, 7)});
    const auto after = builder.snapshot(nullptr);
    EXPECT_EQ(before->rows[0].size(), 40'000U);
    EXPECT_EQ(after->rows[0].size(), 40'001U);
    EXPECT_EQ(before->rows[0].blocks[0].get(), after->rows[0].blocks[0].get())
        << "full blocks are shared";
    EXPECT_EQ(after->endNs, 400'007);
}

TEST(TimelineBuilder, LongEventsKeepTheirDuration) {
    TimelineBuilder builder;
    builder.append({op(0, 9'000'000'000), op(9'000'000'001, 3)});
    const auto data = builder.snapshot(nullptr);
    EXPECT_EQ(data->rows[0].endNs(0), 9'000'000'000);
    EXPECT_EQ(data->rows[0].firstEndingAfter(8'999'999'999), 0U);
    EXPECT_EQ(data->rows[0].firstEndingAfter(9'000'000'000), 1U);
}

TEST(TimelineBuilder, MemoryIsAStepCurveThatOnlyGoesForward) {
    TimelineBuilder builder;
    storage::MemoryEvent a, b, role;
    a.timeNs = 20;
    a.allocatedBytes = 100;
    b.timeNs = 10;  // of another thread, a little late
    b.allocatedBytes = 80;
    b.kind = storage::MemoryKind::Free;
    role.kind = storage::MemoryKind::Role;
    role.timeNs = 99;
    builder.append(std::vector<storage::MemoryEvent>{a, b, role});
    const auto data = builder.snapshot(nullptr);
    ASSERT_EQ(data->allocated->size(), 2U);
    EXPECT_EQ(data->allocated->point(1).step, 20);
    EXPECT_EQ(data->allocated->point(1).value, 80);
}

TEST(TimelineModel, FindsCallsByIdAndByStepAndNode) {
    TimelineBuilder builder;
    std::vector<OpEvent> events;
    std::vector<storage::MemoryEvent> memory;
    std::uint32_t random = 5;
    std::int64_t now = 0;
    for (int step = 0; step < 50; ++step)
        now = test::appendStepEvents(events, memory, step, now, random);
    builder.append(events);
    auto names = structure(test::sampleNames());
    names->modules = test::sampleModules();
    for (std::size_t i = 0; i < names->modules.size(); ++i)
        names->moduleIndex[names->modules[i].id] = i;
    const auto data = builder.snapshot(names);
    for (const std::uint64_t id : {1ULL, 17'003ULL, 49'001ULL}) {
        const auto found = data->find({.opId = id});
        ASSERT_TRUE(found.has_value()) << id;
        EXPECT_EQ(data->detail(*found).opId, id);
    }
    const auto node = data->find({.graph = 1, .seq = 3, .step = 31});
    ASSERT_TRUE(node.has_value());
    EXPECT_EQ(data->detail(*node).step, 31);
    EXPECT_EQ(data->detail(*node).seq, 3U);
    EXPECT_FALSE(data->find({.opId = 999'999}).has_value());
    const auto step = data->findStep(7);
    ASSERT_TRUE(step.has_value());
    EXPECT_EQ(data->title(*step), "step 7");
}

TEST(TimelineQuery, SumsOnlyWhatLiesInTheRangeAndSelfTimeWithoutChildren) {
    TimelineBuilder builder;
    builder.append({op(0, 100, 1), op(10, 30, 2), op(50, 20, 2), op(200, 10, 2)});
    const auto data = builder.snapshot(structure({"", "outer", "inner"}));
    const auto all = aggregate(*data, {0, 1000});
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].name, "outer");
    EXPECT_EQ(all[0].totalNs, 100);
    EXPECT_EQ(all[0].selfNs, 50);
    EXPECT_EQ(all[1].calls, 3);
    EXPECT_EQ(all[1].totalNs, 60);
    EXPECT_EQ(all[1].minNs, 10);
    EXPECT_EQ(all[1].maxNs, 30);
    const auto part = aggregate(*data, {20, 60});
    ASSERT_EQ(part.size(), 2U);
    EXPECT_EQ(part[0].totalNs, 40);
    EXPECT_EQ(part[1].totalNs, 20 + 10);
    EXPECT_EQ(part[0].selfNs, 10);
}

TEST(TimelineQuery, SearchGoesThroughMatchesInTimeOrderBothWays) {
    TimelineBuilder builder;
    builder.append({op(0, 100, 1), op(10, 30, 2), op(50, 20, 3), op(200, 10, 2)});
    const auto data = builder.snapshot(structure({"", "outer", "Conv2d", "relu"}));
    const NameMatch match = matchNames(*data->structure, "conv");
    EXPECT_EQ(countMatches(*data, match), 2U);
    const auto first = findMatch(*data, match, std::nullopt, true);
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(data->startOf(*first), 10);
    const auto second = findMatch(*data, match, first, true);
    EXPECT_EQ(data->startOf(*second), 200);
    EXPECT_FALSE(findMatch(*data, match, second, true).has_value());
    EXPECT_EQ(findMatch(*data, match, second, false), first);
    EXPECT_FALSE(matchNames(*data->structure, "softmax").any);
}

TEST(TimeAxis, ZoomKeepsWhatIsUnderThePointer) {
    const TimeAxis axis = TimeAxis::fit({1'000, 11'000}, 500);
    EXPECT_EQ(axis.nsPerPx, 20);
    const TimeAxis in = axis.zoomed(0.5, 100);
    EXPECT_EQ(in.nsPerPx, 10);
    EXPECT_EQ(in.t(100), axis.t(100));
    EXPECT_EQ(axis.panned(10).t0, 1'200);
    EXPECT_EQ(axis.pixel(INT64_MAX / 2), 501) << "far times do not overflow";
}

TEST(TimeAxis, ClampingNeverLosesTheRun) {
    const TimeRange all{0, 1'000'000};
    TimeAxis away = TimeAxis::fit({50'000'000, 50'100'000}, 400).clampedTo(all);
    EXPECT_LT(away.t0, all.endNs);
    away = TimeAxis::fit({-900'000'000, 900'000'000}, 400).clampedTo(all);
    EXPECT_LE(away.range().lengthNs(), 1'300'000);
}

/// The naive form: every event, one after the other.
RowPixels scanned(const TimelineRow& row, const TimeAxis& axis) {
    RowPixels out;
    out.pixels.assign(static_cast<std::size_t>(axis.width), {});
    for (std::size_t i = 0; i < row.size(); ++i) {
        const std::int64_t start = row.startNs(i), end = row.endNs(i);
        if (end < axis.t0 || start >= axis.t1()) continue;
        if (end - start >= std::max<std::int64_t>(1, static_cast<std::int64_t>(2 * axis.nsPerPx))) {
            out.boxes.push_back({axis.pixel(start), axis.pixel(end), i});
        } else if (const int x = axis.pixel(start); x >= 0 && x < axis.width) {
            out.pixels[static_cast<std::size_t>(x)].busyNs += static_cast<float>(end - start);
        }
    }
    return out;
}

TEST(TimelineGeometry, ThePyramidShowsWhatAScanOfAllEventsShows) {
    std::mt19937 random(11);
    TimelineBuilder builder;
    std::vector<OpEvent> events;
    std::int64_t now = 0;
    for (int i = 0; i < 60'000; ++i) {
        const auto ns =
            static_cast<std::int64_t>(200 + random() % 4'000 + (random() % 500 == 0 ? 80'000 : 0));
        events.push_back(op(now, ns));
        now += ns + static_cast<std::int64_t>(random() % 1'000);
    }
    builder.append(events);
    const auto data = builder.snapshot(nullptr);
    for (const double share : {1.0, 0.1, 0.01, 0.001}) {
        const auto length = static_cast<std::int64_t>(share * static_cast<double>(now));
        const TimeAxis axis = TimeAxis::fit({now / 3, now / 3 + length}, 800);
        RowPixels fast;
        fast.collect(data->rows[0], axis);
        const RowPixels naive = scanned(data->rows[0], axis);
        EXPECT_LE(fast.boxes.size(), naive.boxes.size());
        double busyFast = 0, busyNaive = 0;
        for (int x = 0; x < axis.width; ++x) {
            const auto at = static_cast<std::size_t>(x);
            busyFast += static_cast<double>(fast.pixels[at].busyNs);
            busyNaive += static_cast<double>(naive.pixels[at].busyNs);
        }
        for (const auto& box : fast.boxes)
            busyFast += static_cast<double>(data->rows[0].endNs(box.event) -
                                            data->rows[0].startNs(box.event));
        for (const auto& box : naive.boxes)
            busyNaive += static_cast<double>(data->rows[0].endNs(box.event) -
                                             data->rows[0].startNs(box.event));
        // Groups within a pixel may fall on the other side of a pixel's border, so only the sum is
        // equal, up to the edges.
        EXPECT_NEAR(busyFast, busyNaive, 3 * axis.nsPerPx + 90'000) << share;
        EXPECT_LT(fast.visited, 120'000U);
    }
}

}  // namespace
}  // namespace tapescope::viewers
