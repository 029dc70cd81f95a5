// SPDX-License-Identifier: GPL-3.0-or-later
// What the lanes of a stream show besides its work.
#include "support/gpu_timeline_fixture.h"
#include "viewers/models/gpu_relations.h"
#include "viewers/models/timeline_query.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <map>
#include <random>

namespace tapescope::viewers {
namespace {

using storage::GpuEvent;
using storage::GpuEventKind;
using test::eventRecord;
using test::gpuCall;
using test::gpuKernel;
using test::nvtx;
using test::nvtxData;
using test::outline;
using test::streamWait;

class GpuLanes : public test::GpuTimelineFixture {};

/// The queue below a stream's rows; null: it has none.
const TimelineChart* queueOf(const TimelineData& data, std::size_t row) {
    for (const TimelineChart& chart : data.charts)
        if (chart.kind == TimelineChart::Kind::Queue && chart.lane == data.rows[row].lane)
            return &chart;
    return nullptr;
}

TEST_F(GpuLanes, AStreamsQueueCountsWhatWasLaunchedAndIsNotOver) {
    const auto data =
        build({gpuCall(1, 100, 10, 1), gpuCall(1, 120, 10, 2), gpuCall(1, 135, 90, 3),
               gpuKernel(2, 150, 50, 1), gpuKernel(3, 200, 10, 2), gpuKernel(3, 210, 10, 3),
               // Alone in its stream: one launch is no queue.
               gpuCall(1, 140, 5, 4), gpuKernel(2, 150, 50, 4, 8),
               // Not launched on the tape: not counted, but said.
               gpuKernel(2, 155, 30, 99)});
    const std::size_t stream = find(*data, "gemm").row;
    const TimelineChart* queue = queueOf(*data, stream);
    ASSERT_NE(queue, nullptr);
    EXPECT_EQ(queue->label, "queue");
    EXPECT_EQ(queue->uncounted, 1U);
    for (const auto& [t, depth] : std::vector<std::pair<std::int64_t, std::size_t>>{{99, 0},
                                                                                    {100, 1},
                                                                                    {130, 2},
                                                                                    {140, 3},
                                                                                    {160, 3},
                                                                                    {199, 3},
                                                                                    {200, 2},
                                                                                    {215, 1},
                                                                                    {220, 0}}) {
        EXPECT_EQ(queue->queue.at(t), depth) << t;
        EXPECT_EQ(queueDepth(*data, stream, t), depth) << t;
    }
    EXPECT_EQ(std::ranges::count(data->charts, TimelineChart::Kind::Queue, &TimelineChart::kind),
              1);
}

TEST_F(GpuLanes, KernelsOfAGraphWaitFromItsLaunchOn) {
    std::vector<GpuEvent> events{gpuCall(1, 100, 30, 5), gpuCall(1, 5'000, 30, 6)};
    for (std::int64_t i = 0; i < 40; ++i) events.push_back(gpuKernel(2, 1000 + i * 10, 8, 5));
    events.push_back(gpuKernel(2, 6'000, 8, 6));
    const auto data = build(events);
    const TimelineChart* queue = queueOf(*data, find(*data, "gemm").row);
    ASSERT_NE(queue, nullptr);
    EXPECT_EQ(queue->queue.at(99), 0U);
    EXPECT_EQ(queue->queue.at(100), 40U);
    EXPECT_EQ(queue->queue.at(1'009), 39U) << "the first is over";
    EXPECT_EQ(queue->queue.at(1'397), 1U);
    EXPECT_EQ(queue->queue.at(1'398), 0U);
    EXPECT_EQ(queue->queue.at(5'500), 1U);
}

TEST_F(GpuLanes, QueuesAgreeWithQueueDepthHoweverTheEventsCome) {
    std::mt19937 random(21);
    std::vector<GpuEvent> events;
    std::array<std::int64_t, 2> free{0, 0};
    std::map<std::uint32_t, std::vector<std::pair<std::int64_t, std::int64_t>>> counted;
    std::int64_t host = 1'000;
    for (std::uint32_t i = 1; i <= 6'000; ++i) {
        const std::uint32_t stream = i % 5 == 0 ? 13 : 7;
        std::int64_t& device = free[i % 5 == 0 ? 1 : 0];
        host += 20 + static_cast<std::int64_t>(random() % 60);
        if (random() % 50 == 0) host = std::max(host, device);  // the host waits
        const bool known = i % 17 != 0;
        if (known) events.push_back(gpuCall(1, host, 15, i));
        if (known && i % 4 == 0) {
            events.push_back(gpuCall(7, host + 3, 5, i));
            events.back().kind = GpuEventKind::DriverApi;
        }
        for (std::uint32_t k = 0; k < (i % 40 == 0 ? 6U : 1U); ++k) {
            const std::int64_t start = std::max(host + 8, device + 2);
            const auto ns = static_cast<std::int64_t>(5 + random() % 90);
            events.push_back(gpuKernel(2, start, ns, i, stream));
            device = start + ns;
            if (known) counted[stream].emplace_back(host, device);
        }
    }
    for (std::size_t at = 0; at + 400 < events.size(); at += 200)
        std::shuffle(events.begin() + static_cast<std::ptrdiff_t>(at),
                     events.begin() + static_cast<std::ptrdiff_t>(at + 400), random);
    TimelinePtr data;
    for (std::size_t at = 0; at < events.size(); at += 333) {
        const auto end = std::min(events.size(), at + 333);
        data = build({events.begin() + static_cast<std::ptrdiff_t>(at),
                      events.begin() + static_cast<std::ptrdiff_t>(end)});
    }
    std::size_t streams = 0;
    for (std::size_t r = 0; r < data->rows.size(); ++r) {
        const TimelineChart* queue = queueOf(*data, r);
        if (queue == nullptr || data->rows[r].depth != 0) continue;
        ++streams;
        const auto& spans = counted.at(data->rows[r].label == "stream 7" ? 7 : 13);
        for (std::size_t i = 0; i < spans.size(); i += 13)
            for (const std::int64_t t :
                 {spans[i].first - 1, spans[i].first, spans[i].second - 1, spans[i].second}) {
                const auto expected = std::ranges::count_if(
                    spans, [t](const auto& s) { return s.first <= t && t < s.second; });
                ASSERT_EQ(queue->queue.at(t), expected) << t;
                ASSERT_EQ(queueDepth(*data, r, t), static_cast<std::size_t>(expected)) << t;
            }
    }
    EXPECT_EQ(streams, 2U);
}

TEST_F(GpuLanes, RangesKnowTheirColourWhicheverCameFirst) {
    const auto colours = [](const TimelineData& data) {
        std::map<std::int64_t, std::uint32_t> out;  // start -> colour
        for (const TimelineRow& row : data.rows)
            for (std::size_t i = 0; i < row.size(); ++i)
                out[row.startNs(i)] =
                    data.gpu->label(row.block(i).name[TimelineRow::indexInBlock(i)])->colour;
        return out;
    };
    GpuEvent other = nvtxData(3, 0xFFAABBCC);
    other.process = 2;
    auto data =
        build({nvtxData(1, 0xFF112233), nvtx(GpuEventKind::NvtxPush, 4, 1, 10),
               nvtx(GpuEventKind::NvtxPop, 0, 1, 90), nvtx(GpuEventKind::NvtxPush, 4, 2, 20),
               nvtx(GpuEventKind::NvtxPop, 0, 2, 80), nvtx(GpuEventKind::NvtxPush, 4, 3, 30),
               nvtx(GpuEventKind::NvtxPop, 0, 3, 40), nvtx(GpuEventKind::NvtxMark, 5, 4, 50),
               nvtxData(4, 0x40FFFFFF), other, nvtxData(3, 0, 7)});
    using Colours = std::map<std::int64_t, std::uint32_t>;
    EXPECT_EQ(colours(*data), (Colours{{10, 0xFF112233}, {20, 0}, {30, 0}, {50, 0x40FFFFFF}}));
    data = build({nvtxData(2, 0xFF445566)});
    EXPECT_EQ(colours(*data),
              (Colours{{10, 0xFF112233}, {20, 0xFF445566}, {30, 0}, {50, 0x40FFFFFF}}))
        << "said after it was drawn";
    EXPECT_EQ(data->events, 4U);
    EXPECT_EQ(data->title(*findGpu(*data, 3)), "forward");
}

TEST_F(GpuLanes, AColourThatComesLateReachesItsRangeAmongMany) {
    std::vector<GpuEvent> events;
    for (std::uint32_t i = 1; i <= 40'000; ++i) {  // three blocks
        events.push_back(nvtx(GpuEventKind::NvtxPush, 4, i, i * 100));
        events.push_back(nvtx(GpuEventKind::NvtxPop, 0, i, i * 100 + 60));
    }
    const auto before = build(events);
    const auto after = build({nvtxData(20'000, 0xFF010203)});
    ASSERT_EQ(after->rows.size(), 1U);
    ASSERT_EQ(after->rows[0].size(), 40'000U);
    std::size_t coloured = 0;
    for (std::size_t i = 0; i < after->rows[0].size(); ++i) {
        const std::uint32_t colour = after->gpu->label(after->nameId({0, i}))->colour;
        ASSERT_EQ(colour, i == 19'999 ? 0xFF010203U : 0U) << i;
        coloured += colour != 0 ? 1 : 0;
        ASSERT_EQ(before->gpu->label(before->nameId({0, i}))->colour, 0U);
    }
    EXPECT_EQ(coloured, 1U);
    EXPECT_EQ(after->rows[0].blocks[0], before->rows[0].blocks[0]) << "shared";
}

TEST_F(GpuLanes, EventRecordsAndWaitsForThemAreTicksOnTheirStream) {
    GpuTables tables;
    tables.contexts = {{1, 1, 2, 7}};  // the records do not say that it is device 2
    m_gpu.setTables(tables);
    GpuEvent kernel = gpuKernel(2, 200, 50, 1);
    kernel.device = 2;
    const auto data = build({gpuCall(1, 100, 10, 1), kernel, gpuCall(7, 120, 5, 2),
                             eventRecord(5, 260, 2), gpuCall(7, 130, 5, 3), eventRecord(6, -1, 3),
                             eventRecord(7, -1, 99), gpuCall(7, 140, 9, 4),
                             streamWait(5, 142, 6, 4, 8), streamWait(5, 150, 6, 0, 0xFFFFFFFFU)});
    EXPECT_EQ(outline(*data),
              "# process #1\n"
              "## thread 11\n"
              "api0 [CUDA calls] cudaLaunchKernel 100-110 cuLaunchKernel 120-125 "
              "cuLaunchKernel 130-135 cuLaunchKernel 140-149\n"
              "wait0 [waits] stream waits for event 142-148 stream waits for event 150-156\n"
              "## GPU 2\n"
              "~ busy\n"
              "event0 [] event record 130-131 event record 260-261\n"
              "stream0 [stream 7 default] gemm 200-250\n"
              "event0 [stream 8] stream waits for event 142-143\n")
        << "timed by the device, by the call, and not at all";
    const EventRef record = find(*data, "event record");
    EXPECT_EQ(gpuRelations(*data, record).launch, find(*data, "cuLaunchKernel", 1));
    EXPECT_EQ(gpuRelations(*data, find(*data, "event record", 1)).launch,
              find(*data, "cuLaunchKernel", 0));
    std::string facts;
    for (const auto& notice : data->gpu->notices)
        if (notice.text.find("event record") != std::string::npos) facts += notice.text;
    EXPECT_EQ(facts, "1 event record has neither a time nor a call on the tape, not drawn");
    EXPECT_EQ(countMatches(*data, matchNames(*m_names, "waits for event", data->gpu.get())), 2U)
        << "a wait is found once, though it stands in two lanes";
    EXPECT_EQ(countMatches(*data, matchNames(*m_names, "event record", data->gpu.get())), 2U);
    EXPECT_EQ(coveredNs(data->charts[0].busy, {0, 1000}), 50) << "ticks are no work";
    EXPECT_EQ(aggregate(*data, {0, 1000}).size(), 1U);
}

TEST_F(GpuLanes, AnEventRecordFindsItsCallWhicheverComesFirst) {
    auto data = build({eventRecord(6, -1, 3), gpuKernel(2, 200, 50, 1)});
    EXPECT_EQ(outline(*data), "# process #1\n## GPU 0\n~ busy\nstream0 [stream 7] gemm 200-250\n");
    data = build({gpuCall(7, 130, 5, 3)});
    EXPECT_EQ(data->startOf(find(*data, "event record")), 130);
    GpuEvent impossible = eventRecord(8, 400, 4);
    impossible.flags = storage::kGpuBadTime;
    data = build({impossible, gpuCall(7, 390, 5, 4)});
    EXPECT_THROW(find(*data, "event record", 1), std::runtime_error) << "a time that cannot be";
    EXPECT_EQ(data->gpu->notices.back().text,
              "1 event record has neither a time nor a call on the tape, not drawn");
}

}  // namespace
}  // namespace tapescope::viewers
