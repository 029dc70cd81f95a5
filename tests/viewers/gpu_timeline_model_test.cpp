// SPDX-License-Identifier: GPL-3.0-or-later
// A tape's GPU part as lanes, charts and relations.
#include "support/gpu_sample.h"
#include "support/gpu_timeline_fixture.h"
#include "support/sample_tape.h"
#include "viewers/models/gpu_builder.h"
#include "viewers/models/gpu_relations.h"
#include "viewers/models/scalar_series.h"
#include "viewers/models/tape_follower.h"
#include "viewers/models/tape_session.h"
#include "viewers/models/timeline_query.h"

#include <QTemporaryDir>

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <stdexcept>

namespace tapescope::viewers {
namespace {

using storage::GpuEvent;
using storage::GpuEventKind;
using test::externalId;
using test::gpuCall;
using test::gpuCopy;
using test::gpuKernel;
using test::nvtx;

using test::outline;

class GpuTimeline : public test::GpuTimelineFixture {};

TEST_F(GpuTimeline, CallsRangesAndStreamsGetLanesUnderTheirProcess) {
    GpuTables tables;
    tables.processes = {{1, 11, 1, "box", "boot", "python3 train.py", -1, -1, -1, 0, 0, 0, ""}};
    tables.devices = {{1, 0, "NVIDIA H200", "GPU-1", 141, 132, 9, 0}};
    tables.contexts = {{1, 1, 0, 7}};
    tables.streams = {{1, 1, 13, -5, 2}};
    tables.names = {{1, storage::GpuObject::Stream, 13, 1, "copies"}};
    m_gpu.setTables(tables);
    const auto data = build(
        {gpuKernel(2, 200, 50, 1), gpuKernel(3, 260, 10, 2), gpuCall(1, 100, 10, 1),
         gpuCall(1, 120, 10, 2), gpuCopy(storage::GpuCopyKind::HostToDevice, 400, 150, 100, 3, 13),
         gpuCall(7, 105, 3, 1), nvtx(GpuEventKind::NvtxPush, 4, 1, 90),
         nvtx(GpuEventKind::NvtxPush, 5, 2, 95), nvtx(GpuEventKind::NvtxPop, 0, 2, 130),
         nvtx(GpuEventKind::NvtxPop, 0, 1, 140)});
    EXPECT_EQ(outline(*data),
              "# python3 train.py · pid 11\n"
              "## main thread\n"
              "nvtx0 [NVTX] forward 90-140\n"
              "nvtx1 [NVTX] layer1 95-130\n"
              "api0 [CUDA calls] cudaLaunchKernel 100-110 cudaLaunchKernel 120-130\n"
              "api1 [CUDA calls] cuLaunchKernel 105-108\n"
              "## GPU 0 · NVIDIA H200\n"
              "~ busy\n"
              "~ queue\n"
              "stream0 [stream 7 default] gemm 200-250 relu 260-270\n"
              "stream0 [copies p-5] copy host to device 150-250\n");
    EXPECT_EQ(data->beginNs, 90);
    EXPECT_EQ(data->endNs, 270);
    // Streams: 150-250 and 200-250, 260-270.
    EXPECT_EQ(coveredNs(data->charts[0].busy, {0, 1000}), 110);
    EXPECT_EQ(coveredNs(data->charts[0].busy, {240, 265}), 15);
}

TEST_F(GpuTimeline, LatencyQueueRangesAndOperatorOfAKernel) {
    TimelineBuilder ops;
    storage::OpEvent op;
    op.startNs = 98;
    op.durationNs = 14;
    op.opId = 77;
    op.lane = 1;
    m_builder.append(std::vector<storage::OpEvent>{op});
    const auto data =
        build({nvtx(GpuEventKind::NvtxPush, 4, 1, 90), nvtx(GpuEventKind::NvtxPop, 0, 1, 140),
               gpuCall(1, 100, 10, 1), gpuCall(1, 120, 10, 2), gpuCall(1, 135, 90, 3),
               gpuKernel(2, 150, 50, 1), gpuKernel(3, 200, 10, 2), gpuKernel(3, 210, 10, 3),
               externalId(storage::ExternalKind::Engine, 77, 1)});
    const GpuRelations first = gpuRelations(*data, find(*data, "gemm"));
    EXPECT_EQ(first.launch, find(*data, "cudaLaunchKernel"));
    EXPECT_EQ(first.sinceCallNs, 50);
    EXPECT_EQ(first.sinceReturnNs, 40);
    EXPECT_EQ(first.queued, 0U);
    ASSERT_EQ(first.ranges.size(), 1U);
    EXPECT_EQ(data->title(first.ranges[0]), "forward");
    ASSERT_TRUE(first.op.has_value());
    EXPECT_EQ(data->detail(*first.op).opId, 77U);

    const GpuRelations third = gpuRelations(*data, find(*data, "relu", 1));
    EXPECT_EQ(third.sinceReturnNs, -15) << "it began while the call had not returned";
    EXPECT_EQ(third.queued, 2U) << "both were launched before and not over at 135";
    EXPECT_EQ(gpuRelations(*data, find(*data, "relu")).queued, 1U);

    const std::size_t stream = find(*data, "gemm").row;
    // Launched at 100, 120, 135; over at 200, 210, 220.
    for (const auto& [t, depth] : std::vector<std::pair<std::int64_t, std::size_t>>{
             {99, 0}, {100, 1}, {130, 2}, {140, 3}, {199, 3}, {200, 2}, {215, 1}, {220, 0}})
        EXPECT_EQ(queueDepth(*data, stream, t), depth) << t;

    const GpuRelations call = gpuRelations(*data, find(*data, "cudaLaunchKernel", 1));
    EXPECT_EQ(call.work, std::vector<EventRef>{find(*data, "relu")});
    const GpuRelations range = gpuRelations(*data, find(*data, "forward"));
    EXPECT_EQ(range.work.size(), 3U);
    EXPECT_EQ(range.deviceNs, 70);
    const GpuRelations engine = gpuRelations(*data, *first.op);
    EXPECT_EQ(engine.work, std::vector<EventRef>{find(*data, "gemm")});
}

TEST_F(GpuTimeline, KernelsOfAGraphLeadToItsLaunch) {
    std::vector<GpuEvent> events;
    for (std::int64_t i = 0; i < 400; ++i) events.push_back(gpuKernel(2, 1000 + i * 10, 8, 5));
    events.push_back(gpuCall(1, 900, 30, 5));
    const auto data = build(events);
    EXPECT_EQ(gpuRelations(*data, find(*data, "gemm", 399)).launch,
              find(*data, "cudaLaunchKernel"));
    const GpuRelations launch = gpuRelations(*data, find(*data, "cudaLaunchKernel"));
    EXPECT_EQ(launch.work.size(), GpuRelations::kMostWork);
    EXPECT_TRUE(launch.workIsCut);
    EXPECT_EQ(launch.work.front(), find(*data, "gemm"));
}

TEST_F(GpuTimeline, MissingPartnersLeaveHoles) {
    const auto data = build({gpuKernel(2, 150, 50, 1), gpuCall(1, 100, 10, 2)});
    const GpuRelations kernel = gpuRelations(*data, find(*data, "gemm"));
    EXPECT_FALSE(kernel.launch || kernel.sinceCallNs || kernel.queued || kernel.op);
    EXPECT_TRUE(gpuRelations(*data, find(*data, "cudaLaunchKernel")).work.empty());
}

TEST_F(GpuTimeline, AWaitWithoutAThreadStandsOnThatOfItsCall) {
    GpuEvent wait;
    wait.kind = GpuEventKind::Sync;
    wait.process = 1;
    wait.startNs = 105;
    wait.durationNs = 20;
    wait.correlation = 4;
    wait.x[0] = 3;
    const auto data = build({gpuCall(1, 100, 30, 4), wait});
    EXPECT_EQ(outline(*data),
              "# process #1\n## thread 11\napi0 [CUDA calls] cudaLaunchKernel 100-130\n"
              "wait0 [waits] waits for stream 105-125\n");
    EXPECT_EQ(findGpu(*data, 1), find(*data, "waits for stream"));
    EXPECT_EQ(gpuRelations(*data, find(*data, "waits for stream")).launch,
              find(*data, "cudaLaunchKernel"));
}

TEST_F(GpuTimeline, AWaitWithoutACallStandsOnTheThreadThatCallsMost) {
    GpuEvent wait;
    wait.kind = GpuEventKind::Sync;
    wait.process = 1;
    wait.startNs = 205;
    wait.durationNs = 20;
    wait.correlation = 999;  // its call was not recorded
    wait.x[0] = 3;
    GpuEvent elsewhere = gpuCall(1, 100, 30, 4);
    elsewhere.thread = 5;
    GpuEvent late = wait;  // its call comes in the next batch
    late.startNs = 305;
    late.correlation = 8;
    GpuEvent lateCall = gpuCall(1, 300, 30, 8);
    lateCall.thread = 5;
    m_gpu.append({wait, elsewhere, late}, *m_names);
    const auto data =
        build({gpuCall(1, 140, 30, 5), gpuCall(1, 180, 40, 6), lateCall, gpuCall(1, 400, 40, 7)});
    EXPECT_EQ(outline(*data),
              "# process #1\n## thread 5\n"
              "api0 [CUDA calls] cudaLaunchKernel 100-130 cudaLaunchKernel 300-330\n"
              "wait0 [waits] waits for stream 305-325\n"
              "## thread 11\n"
              "api0 [CUDA calls] cudaLaunchKernel 140-170 cudaLaunchKernel 180-220 "
              "cudaLaunchKernel 400-440\n"
              "wait0 [waits] waits for stream 205-225\n");
    EXPECT_TRUE(findGpu(*data, 0).has_value());
}

TEST_F(GpuTimeline, EventsInAnyOrderGiveTheSamePicture) {
    std::vector<GpuEvent> events;
    for (std::uint32_t i = 1; i <= 40'000; ++i) {
        events.push_back(gpuCall(1, i * 100, 30, i));
        events.push_back(gpuKernel(2 + i % 2, i * 100 + 60, 90, i, 7 + i % 3));
        if (i % 10 != 0) continue;
        events.push_back(nvtx(GpuEventKind::NvtxPush, 4, i, i * 100 - 500));
        events.push_back(nvtx(GpuEventKind::NvtxPop, 0, i, i * 100 + 40));
    }
    m_gpu.append(events, *m_names);
    const auto expected = m_builder.snapshot(m_names, &m_gpu);

    GpuBuilder other;
    TimelineBuilder none;
    std::mt19937 random(3);
    // Nearly in order, as buffers come; then a part in wild disorder.
    for (std::size_t at = 0; at + 200 < events.size(); at += 200)
        std::shuffle(events.begin() + static_cast<std::ptrdiff_t>(at),
                     events.begin() + static_cast<std::ptrdiff_t>(at + 200), random);
    std::shuffle(events.begin(), events.begin() + 5000, random);
    TimelinePtr mixed;
    for (std::size_t at = 0; at < events.size(); at += 7'000) {
        const auto end = std::min(events.size(), at + 7'000);
        other.append({events.begin() + static_cast<std::ptrdiff_t>(at),
                      events.begin() + static_cast<std::ptrdiff_t>(end)},
                     *m_names);
        mixed = none.snapshot(m_names, &other);
    }
    EXPECT_EQ(outline(*mixed), outline(*expected));
    EXPECT_EQ(coveredNs(mixed->charts[0].busy, {0, 10'000'000}),
              coveredNs(expected->charts[0].busy, {0, 10'000'000}));
    for (const TimelineRow& row : mixed->rows)
        for (std::size_t b = 0; b + 1 < row.blocks.size(); ++b)
            ASSERT_EQ(row.blocks[b]->size(), EventBlock::kCapacity);
}

TEST_F(GpuTimeline, HostileIdsAndOverlapsAreBounded) {
    std::vector<GpuEvent> events;
    std::mt19937 engine(9);
    const auto random = [&engine] { return static_cast<std::uint32_t>(engine()); };
    for (std::uint32_t i = 0; i < 20'000; ++i) {
        GpuEvent e = gpuKernel(random(), static_cast<std::int64_t>(random() % 1000), 5'000,
                               random(), random() % 4 == 0 ? random() : 7, random() % 3);
        e.device = random() % 2 == 0 ? 0 : random();
        if (i % 7 == 0) e.kind = static_cast<GpuEventKind>(random() % 21);
        e.thread = random();
        events.push_back(e);
    }
    const auto data = build(events);
    EXPECT_LE(data->rows.size(), GpuBuilder::kMaxLanes * GpuRows::kMaxRows);
    std::int64_t drawn = 0, unplaced = 0;
    for (const TimelineRow& row : data->rows) {
        drawn += static_cast<std::int64_t>(row.size());
        for (std::size_t i = 1; i < row.size(); ++i)
            ASSERT_GE(row.startNs(i), row.endNs(i - 1)) << "rows never overlap";
    }
    for (const auto& notice : data->gpu->notices)
        unplaced += notice.text.find("no lane") != std::string::npos ? 1 : 0;
    EXPECT_GT(drawn, 0);
    EXPECT_EQ(unplaced, 1) << "what is not drawn is said";
    for (std::size_t r = 0; r < data->rows.size(); r += 17) gpuRelations(*data, {r, 0});
}

TEST_F(GpuTimeline, WhatHasNoLaneIsSaidFirstAndCounted) {
    constexpr std::uint32_t kProcesses = GpuBuilder::kMaxLanes + 100;
    std::vector<GpuEvent> events;
    GpuTables tables;
    for (std::uint32_t p = 1; p <= kProcesses; ++p) {
        tables.devices.push_back({p, 0, "NVIDIA H200", "GPU-1", 1000, 132, 9, 0});
        for (int k = 0; k < 2; ++k) {
            GpuEvent e = gpuKernel(2, 1000 * p + 100 * k, 50, p * 2 + k);
            e.process = p;
            events.push_back(e);
        }
    }
    m_gpu.setTables(tables);
    const auto data = build(events);
    EXPECT_EQ(data->rows.size(), GpuBuilder::kMaxLanes);
    ASSERT_FALSE(data->gpu->notices.empty());
    EXPECT_EQ(data->gpu->notices[0].text, "200 events of 100 processes have no lane");
    const auto sums = aggregate(*data, {data->beginNs, data->endNs});
    ASSERT_EQ(sums.size(), 1U);
    EXPECT_EQ(sums[0].calls, 2 * kProcesses);
    EXPECT_EQ(sums[0].totalNs, 100 * kProcesses);
    EXPECT_EQ(aggregate(*data, {0, 1000 * kProcesses})[0].calls, 2 * kProcesses - 2);
    std::int64_t busy = 0;
    for (const TimelineChart& chart : data->charts)
        busy += coveredNs(chart.busy, {data->beginNs, data->endNs});
    EXPECT_EQ(busy, 100 * kProcesses) << "the overview is made of it";
}

TEST_F(GpuTimeline, OfManyProcessesOnlyTheFirstStartsOpen) {
    std::vector<GpuEvent> events;
    for (std::uint32_t p = 1; p <= GpuBuilder::kOpenProcesses; ++p) {
        events.push_back(gpuKernel(2, 1000 * p, 50, p));
        events.back().process = p;
    }
    const auto folded = [](const TimelineData& data) {
        return std::ranges::count_if(data.groups, &TimelineGroup::startsFolded);
    };
    EXPECT_EQ(folded(*build(events)), 0);
    events = {gpuKernel(2, 5, 50, 99)};
    events.back().process = GpuBuilder::kOpenProcesses + 1;
    const auto data = build(events);
    EXPECT_EQ(folded(*data), static_cast<int>(GpuBuilder::kOpenProcesses));
    EXPECT_FALSE(data->groups[0].startsFolded);
}

TEST_F(GpuTimeline, NamesThatComeLateReplaceTheirNumbers) {
    auto data = build({gpuKernel(8, 150, 50, 1)});
    EXPECT_EQ(data->title({0, 0}), "kernel #8");
    m_names->names.push_back("_Z7reversePf");
    data = build({gpuKernel(8, 250, 50, 2)});
    EXPECT_EQ(data->title({0, 0}), "reverse");
    EXPECT_EQ(data->title({0, 1}), "reverse");
    EXPECT_EQ(data->gpu->label(data->nameId({0, 0}))->full, "reverse(float*)");
}

TEST_F(GpuTimeline, SearchAndSumsKnowKernels) {
    m_names->names.push_back("_Z7reversePf");
    const auto data = build({gpuKernel(8, 150, 50, 1), gpuKernel(2, 250, 50, 2),
                             gpuCopy(storage::GpuCopyKind::DeviceToHost, 4000, 400, 100, 3),
                             gpuKernel(2, 600, 20, 4)});
    const NameMatch match = matchNames(*m_names, "float*", data->gpu.get());
    EXPECT_EQ(findMatch(*data, match, std::nullopt, true), find(*data, "reverse"));
    EXPECT_EQ(countMatches(*data, matchNames(*m_names, "GEMM", data->gpu.get())), 2U);
    EXPECT_EQ(countMatches(*data, matchNames(*m_names, "device to host", data->gpu.get())), 1U);
    std::vector<double> medians;
    const auto sums = aggregate(*data, {0, 610}, {}, &medians);
    ASSERT_EQ(sums.size(), 3U);
    EXPECT_EQ(medians, (std::vector<double>{100, 50, 50}));
    EXPECT_EQ(sums[0].name, "copy device to host");
    EXPECT_EQ(sums[0].bytes, 4000);
    EXPECT_EQ(sums[1].name, "gemm");
    EXPECT_EQ(sums[1].calls, 2);
    EXPECT_EQ(sums[1].totalNs, 60) << "only the part inside";
}

TEST_F(GpuTimeline, MemoryBandsUseNvmlAndTheAllocator) {
    GpuTables tables;
    tables.devices = {{1, 0, "NVIDIA H200", "GPU-1", 1000, 132, 9, 0}};
    tables.counters = {{5, "memory used", "B", "GPU-1", "NVIDIA H200", "box"},
                       {6, "power", "W", "GPU-1", "NVIDIA H200", "box"},
                       {7, "power", "W", "GPU-2", "NVIDIA A10", "box"}};
    m_gpu.setTables(tables);
    storage::AllocatorEvent segment;
    segment.process = 1;
    segment.timeNs = 20;
    segment.sizeBytes = 300;
    segment.address = 1;
    segment.action = storage::AllocatorAction::SegmentAlloc;
    storage::AllocatorEvent block = segment;
    block.timeNs = 30;
    block.sizeBytes = 120;
    block.action = storage::AllocatorAction::Alloc;
    m_gpu.append(
        std::vector<storage::CounterSample>{{10, 500, 5}, {40, 700, 5}, {10, 90, 6}, {12, 60, 7}});
    m_gpu.append(std::vector<storage::AllocatorEvent>{segment, block});
    const auto data = build({gpuKernel(2, 5, 30, 1)});
    EXPECT_EQ(outline(*data, false),
              "# process #1\n## GPU 0 · NVIDIA H200\n~ busy\n~ memory\n~ power\n"
              "stream0 [stream 7]\n# NVIDIA A10\n~ power\n");
    const TimelineChart& memory = data->charts[1];
    EXPECT_EQ(memory.limit, 1000);
    const auto at = [&](int band, std::size_t i) {
        return memory.curves[static_cast<std::size_t>(band)]->point(i).value;
    };
    ASSERT_EQ(memory.curves[0]->size(), 4U);
    EXPECT_EQ(at(0, 3), 120);
    EXPECT_EQ(at(1, 3), 300);
    EXPECT_EQ(at(2, 0), 500);
    EXPECT_EQ(at(2, 3), 700);
}

TEST_F(GpuTimeline, MemoryEndsWithItsProcess) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    storage::AllocatorEvent segment;
    segment.process = 1;
    segment.timeNs = 20;
    segment.sizeBytes = 300;
    segment.address = 1;
    segment.action = storage::AllocatorAction::SegmentAlloc;
    m_gpu.append(std::vector<storage::AllocatorEvent>{segment});
    GpuEvent other = gpuKernel(2, 2 * kSecond, 50, 2);
    other.process = 2;
    const auto last = [](const TimelineData& data, std::size_t band) {
        for (const TimelineChart& chart : data.charts)
            if (chart.kind == TimelineChart::Kind::Memory)
                return chart.curves[band]->point(chart.curves[band]->size() - 1);
        throw std::runtime_error("no memory chart");
    };
    EXPECT_EQ(last(*build({gpuKernel(2, 5, 30, 1), other}), 1).value, 300)
        << "a growing tape: it may only be waiting";
    m_gpu.setSealed(true);
    auto data = build({});
    EXPECT_EQ(last(*data, 1).value, 0);
    EXPECT_EQ(last(*data, 1).step, 36) << "its last kernel ended at 35";
    EXPECT_EQ(last(*data, 2).value, 0);
    m_gpu.setSealed(false);
    other.startNs = 20 * kSecond;
    EXPECT_EQ(last(*build({other}), 1).value, 0) << "others went on for long";
    EXPECT_EQ(last(*build({gpuKernel(2, 19 * kSecond, 30, 3)}), 1).value, 300)
        << "it was not over after all";
}

TEST_F(GpuTimeline, MemoryUsedAfterAllProcessesIsTheDevices) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    GpuTables tables;
    tables.devices = {{1, 0, "NVIDIA H200", "GPU-1", 1000, 132, 9, 0},
                      {2, 0, "NVIDIA H200", "GPU-1", 1000, 132, 9, 0}};
    tables.counters = {{5, "memory used", "B", "GPU-1", "NVIDIA H200", "box"}};
    m_gpu.setTables(tables);
    m_gpu.setSealed(true);
    using Samples = std::vector<storage::CounterSample>;
    m_gpu.append(Samples{{10, 500, 5}, {kSecond / 2, 600, 5}});
    EXPECT_EQ(outline(*build({gpuKernel(2, 5, 30, 1)}), false),
              "# process #1\n## GPU 0 · NVIDIA H200\n~ busy\n~ memory\nstream0 [stream 7]\n")
        << "sampled soon after its end: its own";
    m_gpu.append(Samples{{10 * kSecond, 80, 5}, {20 * kSecond, 90, 5}});
    const auto data = build({});
    EXPECT_EQ(outline(*data, false),
              "# process #1\n## GPU 0 · NVIDIA H200\n~ busy\n~ memory\n~ used (NVML)\n"
              "stream0 [stream 7]\n");
    const TimelineChart& used = data->charts[2];
    EXPECT_EQ(used.unit, "B");
    ASSERT_EQ(used.curves[0]->size(), 4U);
    EXPECT_EQ(used.curves[0]->last().value, 90);
    EXPECT_EQ(data->charts[1].curves[2]->last().value, 0) << "the process's own band ended";
    GpuEvent other = gpuKernel(2, 20 * kSecond, 50, 2);
    other.process = 2;
    EXPECT_EQ(outline(*build({other}), false),
              "# process #1\n## GPU 0 · NVIDIA H200\n~ busy\n~ memory\nstream0 [stream 7]\n"
              "# process #2\n## GPU 0 · NVIDIA H200\n~ busy\n~ memory\nstream0 [stream 7]\n")
        << "they are in the band of the process that went on";
}

TEST(GpuTape, ATrainingStepIsSeenWhole) {
    QTemporaryDir dir;
    const QString path = dir.filePath(QStringLiteral("gpu.tape"));
    test::writeGpuSample(path.toStdString(), {.steps = 1, .operators = true});
    TapeFollower follower(path.toStdString());
    while (true) {
        follower.poll(TapeSession::All, {});
        if (!follower.snapshot().loading) break;
    }
    ASSERT_TRUE(follower.snapshot().status.ok()) << follower.snapshot().status.message();
    const TimelineData& data = *follower.snapshot().timeline;
    EXPECT_EQ(outline(data, false),
              "# python3 train.py --epochs 3 · pid 4242 · rank 0\n"
              "## main thread\n"
              "nvtx0 [NVTX]\n"
              "nvtx1 [NVTX]\n"
              "api0 [CUDA calls]\n"
              "wait0 [waits]\n"
              "overhead0 [tracing cost]\n"
              "## data loader\n"
              "api0 [CUDA calls]\n"
              "## GPU 0 · NVIDIA H200\n"
              "~ busy\n"
              "~ queue\n"
              "~ memory\n"
              "~ utilisation\n"
              "~ power\n"
              "~ clock\n"
              "event0 []\n"
              "stream0 [stream 7 default]\n"
              "event0 []\n"
              "stream0 [copies p-5]\n");
    std::string notices;
    for (const auto& n : data.gpu->notices)
        if (n.kind == profiler::GpuNotice::Kind::Loss) notices += n.text + "\n";
    EXPECT_EQ(notices,
              "3 declined buffers\n42 dropped records\n1 event without a time, not drawn\n"
              "2 kernels or copies without their launch call\n");
    // 12 kernels, the graph's 5, two copies and the orphan; each but the orphan has its launch.
    std::size_t work = 0, launched = 0, byOperator = 0;
    for (std::size_t r = 0; r < data.rows.size(); ++r)
        for (std::size_t i = 0; data.rows[r].kind == RowKind::Stream && i < data.rows[r].size();
             ++i) {
            const GpuRelations relations = gpuRelations(data, {r, i});
            ++work;
            launched += relations.launch ? 1 : 0;
            byOperator += relations.op ? 1 : 0;
        }
    EXPECT_EQ(work, 20U);
    EXPECT_EQ(launched, 19U);
    EXPECT_EQ(byOperator, 12U);
}

TEST(GpuTape, ALiveTapeGrows) {
    QTemporaryDir dir;
    const QString path = dir.filePath(QStringLiteral("gpu.tape"));
    const auto writer =
        test::writeGpuSample(path.toStdString(), {.steps = 2, .losses = false, .seal = false});
    ASSERT_TRUE(writer->flush().ok());
    TapeSession session(path);
    const auto events = [&] {
        const auto& timeline = session.snapshot().timeline;
        return timeline ? timeline->events : 0;
    };
    ASSERT_TRUE(test::waitUntil([&] { return events() > 0 && !session.snapshot().loading; }));
    const std::size_t before = events();
    const auto name = writer->name("late_kernel");
    writer->gpuEvents({gpuKernel(name, 60'000, 5'000, 50'000, 99)});
    ASSERT_TRUE(writer->flush().ok());
    ASSERT_TRUE(test::waitUntil([&] { return events() == before + 1; }));
    session.holdEvents(true);
    session.refresh();
    writer->gpuEvents({gpuKernel(name, 70'000, 5'000, 50'001, 99)});
    writer->gpuStatus({1, "cupti", "flush-timeout", "A sentence.", "", 9});
    ASSERT_TRUE(writer->flush().ok());
    session.holdEvents(false);
    ASSERT_TRUE(test::waitUntil([&] { return events() == before + 2; })) << "read on";
}

TEST(GpuTape, RunningOutOfMemoryIsMarkedWithWhatWasAskedForAndWhere) {
    QTemporaryDir dir;
    const QString path = dir.filePath(QStringLiteral("gpu.tape"));
    test::writeGpuSample(path.toStdString(), {.outOfMemoryAt = 1});
    TapeFollower follower(path.toStdString());
    follower.poll(TapeSession::All, {});
    const TimelineData& data = *follower.snapshot().timeline;
    std::size_t marks = 0;
    for (const TimelineChart& chart : data.charts) {
        if (!chart.outOfMemory) continue;
        EXPECT_EQ(chart.kind, TimelineChart::Kind::Memory);
        ASSERT_EQ(chart.outOfMemory->size(), 1U);
        marks += chart.outOfMemory->size();
        const TimelineChart::OutOfMemory& mark = chart.outOfMemory->front();
        EXPECT_EQ(mark.askedBytes, 3LL << 30);
        EXPECT_EQ(mark.freeBytes, 1LL << 30);
        EXPECT_EQ(mark.site, "train.py:31 forward");
        EXPECT_GT(mark.timeNs, data.beginNs);
        EXPECT_LT(mark.timeNs, data.endNs);
    }
    EXPECT_EQ(marks, 1U);
}

TEST(GpuTape, AFinishedRecordSaysWhyItHasNoModules) {
    QTemporaryDir dir;
    const auto whyNo = [](const QString& path) {
        TapeFollower follower(path.toStdString());
        follower.poll(TapeSession::All, {});
        return follower.snapshot().whyNo(QStringLiteral("modules")).toStdString();
    };
    const QString path = dir.filePath(QStringLiteral("gpu.tape"));
    test::writeGpuSample(path.toStdString());
    EXPECT_EQ(whyNo(path), "This tape has no modules: it records a CUDA program.");
    const QString live = dir.filePath(QStringLiteral("live.tape"));
    const auto writer = test::writeGpuSample(live.toStdString(), {.seal = false});
    ASSERT_TRUE(writer->flush().ok());
    EXPECT_EQ(whyNo(live), "") << "they may still come";
    const QString engine = dir.filePath(QStringLiteral("engine.tape"));
    test::writeGpuSample(engine.toStdString(), {.operators = true});
    EXPECT_EQ(whyNo(engine), "This tape has no modules.");
}

TEST(GpuTape, MissingRecordsCountAsLostAndDoubtsDoNot) {
    QTemporaryDir dir;
    const QString path = dir.filePath(QStringLiteral("gpu.tape"));
    test::writeGpuSample(path.toStdString());  // 42 dropped, 3 buffers declined
    TapeFollower follower(path.toStdString());
    follower.poll(TapeSession::All, {});
    EXPECT_EQ(follower.snapshot().lostCount(), 42);
    ASSERT_EQ(follower.snapshot().losses->size(), 1U);
    EXPECT_EQ(follower.snapshot().losses->front().what, "GPU records");
    EXPECT_EQ(follower.snapshot().losses->front().reason, "dropped records");
}

TEST(GpuTape, AMachineWithoutADriverSaysSo) {
    QTemporaryDir dir;
    const QString path = dir.filePath(QStringLiteral("none.tape"));
    test::writeNoDriverSample(path.toStdString());
    TapeFollower follower(path.toStdString());
    follower.poll(TapeSession::All, {});
    const TimelineData& data = *follower.snapshot().timeline;
    EXPECT_EQ(data.events, 0U);
    ASSERT_TRUE(data.gpu);
    ASSERT_EQ(data.gpu->notices.size(), 1U);
    EXPECT_EQ(data.gpu->notices[0].text,
              "GPU tracing (CUPTI): no-driver – No NVIDIA driver on this machine; everything else "
              "works.");
}

}  // namespace
}  // namespace tapescope::viewers
