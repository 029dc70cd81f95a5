// SPDX-License-Identifier: Apache-2.0
// How GPU records hang together, in whatever order they arrive.
#include "profiler/analysis/gpu_activity.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace tapescope::profiler {
namespace {

using storage::GpuEvent;
using storage::GpuEventKind;

GpuEvent event(GpuEventKind kind, std::int64_t start, std::int64_t duration,
               std::uint32_t correlation = 0, storage::GpuProcessId process = 1) {
    GpuEvent e;
    e.kind = kind;
    e.process = process;
    e.startNs = start;
    e.durationNs = duration;
    e.correlation = correlation;
    return e;
}

GpuEvent external(storage::ExternalKind kind, std::uint64_t id, std::uint32_t correlation) {
    GpuEvent e = event(GpuEventKind::ExternalId, 0, 0, correlation);
    e.flags = storage::kGpuNoTime;
    e.u[0] = id;
    e.x[0] = static_cast<std::uint32_t>(kind);
    return e;
}

GpuEvent range(GpuEventKind kind, std::uint64_t id, std::int64_t at,
               storage::GpuProcessId process = 1) {
    GpuEvent e = event(kind, at, 0, 0, process);
    e.u[0] = id;
    return e;
}

TEST(GpuActivity, AKernelFindsItsCallWhicheverCameFirst) {
    GpuActivityBuilder builder;
    builder.append({event(GpuEventKind::Kernel, 500, 100, 7)});
    EXPECT_FALSE(builder.launchOf(0).has_value());
    builder.append({event(GpuEventKind::RuntimeApi, 100, 20, 7),
                    event(GpuEventKind::Kernel, 900, 5, 8),
                    event(GpuEventKind::DriverApi, 800, 4, 8)});
    const GpuActivity activity = builder.snapshot();
    EXPECT_EQ(activity.launchOf(0), 1U);
    EXPECT_EQ(activity.launchOf(2), 3U);
    EXPECT_EQ(activity.workOf(1, 10), std::vector<GpuOrdinal>{0});
    EXPECT_EQ(builder.doubts(), GpuDoubts());
}

TEST(GpuActivity, ACallWithATimeIsTheLaunchRatherThanOneWithout) {
    GpuActivityBuilder builder;
    GpuEvent timeless = event(GpuEventKind::RuntimeApi, 0, 0, 7);
    timeless.flags = storage::kGpuNoTime;
    builder.append({timeless, event(GpuEventKind::Kernel, 500, 100, 7)});
    EXPECT_EQ(builder.launchOf(1), 0U);
    builder.append({event(GpuEventKind::DriverApi, 105, 10, 7)});
    EXPECT_EQ(builder.launchOf(1), 2U);
}

TEST(GpuActivity, NvtxDataBelongsToTheRangeOfItsProcessAndId) {
    GpuActivityBuilder builder;
    builder.append({range(GpuEventKind::NvtxPush, 5, 100), range(GpuEventKind::NvtxData, 6, 0),
                    range(GpuEventKind::NvtxData, 5, 0, 2),
                    range(GpuEventKind::NvtxData, (std::uint64_t{1} << 32U) + 5, 0)});
    EXPECT_FALSE(builder.activity().nvtxDataOf(0).has_value());
    builder.append({range(GpuEventKind::NvtxData, 5, 0), range(GpuEventKind::NvtxPop, 5, 200),
                    range(GpuEventKind::NvtxMark, 6, 120)});
    const GpuActivity activity = builder.snapshot();
    EXPECT_EQ(activity.nvtxDataOf(0), 4U);
    EXPECT_EQ(activity.nvtxRangeOf(4), 0U);
    EXPECT_EQ(activity.nvtxDataOf(6), 1U) << "data before its mark";
    EXPECT_FALSE(activity.nvtxRangeOf(2).has_value());
    EXPECT_FALSE(activity.nvtxRangeOf(3).has_value()) << "equal in its low bits only";
}

TEST(GpuActivity, TheOutermostCallIsTheLaunch) {
    GpuActivityBuilder builder;
    builder.append({event(GpuEventKind::DriverApi, 105, 10, 7),
                    event(GpuEventKind::RuntimeApi, 100, 20, 7),
                    event(GpuEventKind::Kernel, 500, 100, 7)});
    EXPECT_EQ(builder.snapshot().launchOf(2), 1U);
}

TEST(GpuActivity, CorrelationIdsOfOtherProcessesMeanNothing) {
    GpuActivityBuilder builder;
    builder.append({event(GpuEventKind::RuntimeApi, 100, 20, 7, 2),
                    event(GpuEventKind::Kernel, 500, 100, 7, 1)});
    EXPECT_FALSE(builder.snapshot().launchOf(1).has_value());
    EXPECT_EQ(builder.doubts().withoutLaunch, 1);
}

TEST(GpuActivity, KernelsWithoutACallAreCountedUntilItComes) {
    GpuActivityBuilder builder;
    builder.append({event(GpuEventKind::Kernel, 10, 1, 7), event(GpuEventKind::Kernel, 20, 1, 7),
                    event(GpuEventKind::Kernel, 30, 1, 9)});
    EXPECT_EQ(builder.doubts().withoutLaunch, 3);
    builder.append({event(GpuEventKind::RuntimeApi, 1, 1, 7)});
    EXPECT_EQ(builder.doubts().withoutLaunch, 1);
}

TEST(GpuActivity, AGraphsKernelsAllBelongToItsLaunchInOrderOfStart) {
    GpuActivityBuilder builder;
    std::vector<GpuEvent> events;
    for (int i = 4; i >= 0; --i) events.push_back(event(GpuEventKind::Kernel, 1000 + i * 10, 8, 3));
    events.push_back(event(GpuEventKind::RuntimeApi, 900, 30, 3));
    builder.append(events);
    const GpuActivity activity = builder.snapshot();
    EXPECT_EQ(activity.workOf(5, 100), (std::vector<GpuOrdinal>{4, 3, 2, 1, 0}));
    for (GpuOrdinal i = 0; i < 5; ++i) EXPECT_EQ(activity.launchOf(i), 5U);
}

TEST(GpuActivity, AnOperatorMayBeNamedBeforeOrAfterItsWork) {
    GpuActivityBuilder builder;
    builder.append({external(storage::ExternalKind::Engine, 77, 5)});
    builder.append(
        {event(GpuEventKind::Kernel, 500, 100, 5), event(GpuEventKind::RuntimeApi, 100, 20, 5),
         event(GpuEventKind::Kernel, 700, 10, 6), event(GpuEventKind::RuntimeApi, 600, 20, 6)});
    builder.append({external(storage::ExternalKind::KinetoUser, 1, 6),
                    external(storage::ExternalKind::Kineto, 4, 6)});
    const GpuActivity activity = builder.snapshot();
    const GpuActivity::Operator engine{storage::ExternalKind::Engine, 77};
    EXPECT_EQ(activity.operatorOf(1), engine);
    EXPECT_EQ(activity.operatorOf(2), engine);
    const GpuActivity::Operator torch{storage::ExternalKind::Kineto, 4};
    EXPECT_EQ(activity.operatorOf(3), torch) << "the operator says more than the range";
    EXPECT_EQ(activity.callsOf(77, 10), std::vector<GpuOrdinal>{2});
    EXPECT_TRUE(activity.callsOf(4, 10).empty()) << "not one of the engine's";
}

TEST(GpuActivity, RangesGetTheirPlaceWhenBothEndsAreThere) {
    GpuActivityBuilder builder;
    EXPECT_TRUE(
        builder
            .append({range(GpuEventKind::NvtxPush, 1, 100), range(GpuEventKind::NvtxPop, 2, 180)})
            .empty());
    EXPECT_EQ(builder.doubts().openRanges, 1);
    const auto spans =
        builder.append({range(GpuEventKind::NvtxPush, 2, 120), range(GpuEventKind::NvtxPop, 1, 200),
                        range(GpuEventKind::NvtxPop, 1, 300, 2)});
    EXPECT_EQ(spans, (std::vector<GpuSpan>{{120, 60, 2}, {100, 100, 0}}));
    EXPECT_EQ(builder.doubts().openRanges, 0) << "a pop of another process opens nothing";
}

TEST(GpuActivity, WhatHasNoPlaceIsCountedAndNotPlaced) {
    GpuActivityBuilder builder;
    GpuEvent timeless = event(GpuEventKind::Kernel, 0, 0);
    timeless.flags = storage::kGpuNoTime;
    GpuEvent bad = event(GpuEventKind::Kernel, 50, 10);
    bad.flags = storage::kGpuBadTime;
    GpuEvent stepped = event(GpuEventKind::Kernel, 60, 10);
    stepped.flags = storage::kGpuClockStepped;
    const auto spans = builder.append(
        {timeless, bad, stepped, event(GpuEventKind::Kernel, 10, -5),
         event(GpuEventKind::Kernel, INT64_MAX - 3, 10), event(GpuEventKind::Kernel, INT64_MIN, 10),
         event(GpuEventKind::Kernel, -100, 50), event(GpuEventKind::Kernel, -100, 150),
         event(GpuEventKind::Unknown, 5, 5)});
    EXPECT_EQ(spans, (std::vector<GpuSpan>{{60, 10, 2}, {0, 50, 7}}));
    GpuDoubts expected;
    expected.noTime = 1;
    expected.badTime = 4;
    expected.clockStepped = 1;
    expected.beforeTape = 1;
    expected.clipped = 1;
    expected.unknownKind = 1;
    EXPECT_EQ(builder.doubts(), expected);
}

TEST(GpuActivity, ASnapshotStaysWhileMoreArrives) {
    GpuActivityBuilder builder;
    builder.append({event(GpuEventKind::Kernel, 1, 1, 1)});
    const GpuActivity before = builder.snapshot();
    builder.append({event(GpuEventKind::RuntimeApi, 0, 1, 1)});
    EXPECT_EQ(before.size(), 1U);
    EXPECT_FALSE(before.launchOf(0).has_value());
    EXPECT_EQ(builder.snapshot().launchOf(0), 1U);
    EXPECT_NE(&before.event(0), &builder.snapshot().event(0)) << "the open chunk was copied";
}

TEST(OrdinalIndex, FindsWhatAPlainMultimapDoes) {
    OrdinalIndex index;
    std::vector<OrdinalIndex::Entry> all;
    std::uint32_t random = 12345;
    for (int batch = 0; batch < 60; ++batch) {
        std::vector<OrdinalIndex::Entry> entries;
        for (int i = 0; i < 1 + batch * 7 % 50; ++i) {
            random = random * 1664525 + 1013904223;
            entries.emplace_back(random % 97, static_cast<GpuOrdinal>(all.size()));
            all.push_back(entries.back());
        }
        index.add(entries);
    }
    for (std::uint64_t key = 0; key < 100; ++key) {
        std::vector<GpuOrdinal> expected;
        for (const auto& [k, ordinal] : all)
            if (k == key) expected.push_back(ordinal);
        EXPECT_EQ(index.find(key, SIZE_MAX), expected);
        EXPECT_EQ(index.contains(key), !expected.empty());
        expected.resize(std::min<std::size_t>(expected.size(), 3));
        EXPECT_EQ(index.find(key, 3), expected);
    }
}

}  // namespace
}  // namespace tapescope::profiler
