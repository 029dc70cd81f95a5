// SPDX-License-Identifier: Apache-2.0
// Busy time, memory bands, names and notices against values worked out by hand.
#include "profiler/analysis/gpu_names.h"
#include "profiler/analysis/gpu_notices.h"
#include "profiler/analysis/interval_union.h"
#include "profiler/analysis/memory_bands.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace tapescope::profiler {
namespace {

TEST(IntervalUnion, OverlappingAndTouchingIntervalsAreOne) {
    IntervalUnion busy;
    // Streams A: 10-20, 40-50; B: 15-30, 50-55. Busy 10-30 and 40-55: 35 ns.
    EXPECT_EQ(busy.add({{10, 20}, {40, 50}}), 0U);
    EXPECT_EQ(busy.add({{50, 55}, {15, 30}, {60, 60}, {70, 65}}), 0U);
    EXPECT_EQ(busy.intervals(), (std::vector<Interval>{{10, 30}, {40, 55}}));
    EXPECT_EQ(busy.totalNs(), 35);
    EXPECT_EQ(busy.within(25, 45), 10);
    EXPECT_EQ(busy.within(30, 40), 0);
    EXPECT_EQ(busy.add({{80, 90}}), 2U) << "the first two did not change";
    EXPECT_EQ(busy.add({{54, 81}}), 1U);
    EXPECT_EQ(busy.intervals(), (std::vector<Interval>{{10, 30}, {40, 90}}));
}

TEST(IntervalUnion, EqualsCountingEveryNanosecond) {
    std::mt19937 random(7);
    IntervalUnion busy;
    std::vector<bool> ns(2000);
    for (int batch = 0; batch < 40; ++batch) {
        std::vector<Interval> intervals;
        for (int i = 0; i < 8; ++i) {
            const auto begin = static_cast<std::int64_t>(random() % 1900);
            const auto length = static_cast<std::int64_t>(random() % 30);
            intervals.push_back({begin, begin + length});
            std::fill_n(ns.begin() + begin, length, true);
        }
        busy.add(intervals);
        EXPECT_EQ(busy.totalNs(), std::count(ns.begin(), ns.end(), true));
        EXPECT_EQ(busy.within(300, 1100), std::count(ns.begin() + 300, ns.begin() + 1100, true));
    }
}

storage::AllocatorEvent allocation(storage::AllocatorAction action, std::int64_t at,
                                   std::uint64_t address, std::int64_t bytes) {
    storage::AllocatorEvent e;
    e.action = action;
    e.timeNs = at;
    e.address = address;
    e.sizeBytes = bytes;
    return e;
}

storage::GpuEvent driver(bool alloc, std::int64_t at, std::uint64_t address, std::uint64_t bytes) {
    storage::GpuEvent e;
    e.kind = alloc ? storage::GpuEventKind::MemAlloc : storage::GpuEventKind::MemFree;
    e.startNs = at;
    storage::GpuMemory memory;
    memory.address = address;
    memory.bytes = bytes;
    memory.memory = storage::GpuMemoryKind::Device;
    storage::setGpuMemory(e, memory);
    return e;
}

using Action = storage::AllocatorAction;

TEST(MemoryBands, InUseCachedAndTheRestLieOnEachOther) {
    MemoryBands bands;
    bands.add(driver(true, 5, 0x1000, 50));  // cuDNN's own
    bands.add(driver(true, 9, 0x2000, 100));
    bands.add(allocation(Action::SegmentAlloc, 10, 0x2000, 100));
    bands.add(allocation(Action::Alloc, 20, 0x2000, 30));
    bands.add(allocation(Action::Alloc, 30, 0x2040, 40));
    bands.add(allocation(Action::FreeRequested, 35, 0x2000, 30));
    bands.add(allocation(Action::FreeCompleted, 40, 0x2000, 30));
    bands.add(driver(false, 50, 0x1000, 50));
    EXPECT_EQ(bands.levels(), (std::vector<MemoryLevels>{{5, 0, 0, 50},
                                                         {9, 0, 0, 150},
                                                         {10, 0, 100, 150},
                                                         {20, 30, 100, 150},
                                                         {30, 70, 100, 150},
                                                         {40, 40, 100, 150},
                                                         {50, 40, 100, 100}}));
    EXPECT_EQ(bands.unknownFrees(), 0);
}

TEST(MemoryBands, NvmlSaysBestWhatIsTaken) {
    MemoryBands bands;
    bands.add(driver(true, 5, 0x1000, 50));
    bands.addUsed(8, 500);
    bands.add(allocation(Action::SegmentAlloc, 10, 0x2000, 100));
    bands.addUsed(20, 60);  // sampled a little late: never below what is known
    EXPECT_EQ(bands.levels(),
              (std::vector<MemoryLevels>{
                  {5, 0, 0, 50}, {8, 0, 0, 500}, {10, 0, 100, 500}, {20, 0, 100, 100}}));
}

TEST(MemoryBands, LateEventsGiveTheSameLevelsAsOnesInOrder) {
    MemoryBands inOrder, late;
    const std::vector<storage::AllocatorEvent> events{
        allocation(Action::SegmentAlloc, 10, 1, 100), allocation(Action::Alloc, 20, 1, 30),
        allocation(Action::FreeCompleted, 30, 1, 30), allocation(Action::Alloc, 40, 2, 5)};
    for (const auto& e : events) inOrder.add(e);
    late.add(events[2]);
    late.add(events[3]);
    late.levels();
    EXPECT_EQ(late.unknownFrees(), 1);
    late.add(events[0]);
    late.add(events[1]);
    EXPECT_EQ(late.levels(), inOrder.levels());
    EXPECT_EQ(late.changedFrom(), 0U);
    EXPECT_EQ(late.unknownFrees(), 0) << "counted anew";
    late.add(allocation(Action::Alloc, 50, 3, 5));
    late.levels();
    EXPECT_EQ(late.changedFrom(), 4U) << "it only grew";
}

TEST(MemoryBands, LevelsEndWithTheProcess) {
    MemoryBands bands;
    bands.add(driver(true, 5, 0x1000, 50));
    bands.add(allocation(Action::SegmentAlloc, 10, 0x2000, 20));
    bands.endProcess(12);
    EXPECT_EQ(bands.levels().back(), (MemoryLevels{13, 0, 0, 0}));
    bands.add(driver(true, 30, 0x3000, 10));  // it had not ended yet
    bands.endProcess(40);
    EXPECT_EQ(bands.levels(), (std::vector<MemoryLevels>{
                                  {5, 0, 0, 50}, {10, 0, 20, 50}, {30, 0, 20, 60}, {41, 0, 0, 0}}));
    bands.endProcess(40);
    EXPECT_EQ(bands.levels().size(), 4U);
    EXPECT_EQ(bands.changedFrom(), 4U) << "nothing new";
    MemoryBands withNvml;
    withNvml.add(driver(true, 5, 0x1000, 50));
    withNvml.addUsed(8, 500);
    withNvml.endProcess(12);
    EXPECT_EQ(withNvml.levels().back(), (MemoryLevels{13, 0, 0, 500})) << "of all processes";
    MemoryBands none;
    none.endProcess(12);
    EXPECT_TRUE(none.empty() && none.levels().empty());
}

TEST(MemoryBands, PoolsCountByTheirSizeAndHostileSizesDoNotOverflow) {
    MemoryBands bands;
    storage::GpuEvent pooled = driver(true, 5, 0x1000, 10);
    pooled.flags = storage::kGpuPool;
    pooled.x[1] = 1;
    pooled.x[3] = 640;  // the pool's size
    bands.add(pooled);
    EXPECT_EQ(bands.levels().back(), (MemoryLevels{5, 0, 0, 640}));
    for (std::uint64_t i = 0; i < 100; ++i) {
        bands.add(driver(true, 10, i, UINT64_MAX));
        bands.add(allocation(Action::Alloc, 10, i, INT64_MAX));
        bands.add(allocation(Action::SegmentAlloc, 10, i, INT64_MIN));
    }
    const MemoryLevels last = bands.levels().back();
    EXPECT_GT(last.total, 0);
    EXPECT_LE(last.inUse, last.segments);
    EXPECT_LE(last.segments, last.total);
}

TEST(KernelNames, AreShortenedToWhatPeopleRead) {
    EXPECT_EQ(shortKernelName("void at::native::vectorized_elementwise_kernel<4, "
                              "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int)"),
              "vectorized_elementwise_kernel<CUDAFunctor_add>");
    EXPECT_EQ(shortKernelName("ampere_sgemm_128x64_tn"), "ampere_sgemm_128x64_tn");
    EXPECT_EQ(shortKernelName("(anonymous namespace)::softmax_warp_forward<float, 10>(float*)"),
              "softmax_warp_forward");
    EXPECT_EQ(shortKernelName("gemm(float const*, int)"), "gemm");
    EXPECT_EQ(shortKernelName(""), "");
    EXPECT_EQ(shortKernelName("<<<"), "<<<");
    EXPECT_LE(shortKernelName(std::string(100'000, 'a')).size(), 4096U);
}

TEST(KernelNames, TellTheFamily) {
    EXPECT_EQ(kernelFamily("sm90_xmma_gemm_bf16bf16"), KernelFamily::Matmul);
    EXPECT_EQ(kernelFamily("sm80_xmma_fprop_implicit_gemm_f32"), KernelFamily::Convolution);
    EXPECT_EQ(kernelFamily("flash_fwd_kernel"), KernelFamily::Attention);
    EXPECT_EQ(kernelFamily("cunn_SoftMaxForward"), KernelFamily::Normalisation);
    EXPECT_EQ(kernelFamily("vectorized_elementwise_kernel"), KernelFamily::Elementwise);
    EXPECT_EQ(kernelFamily("ncclDevKernel_AllReduce_Sum_f32_RING_LL"), KernelFamily::Communication);
    EXPECT_EQ(kernelFamily("reduce_kernel"), KernelFamily::Reduction);
    EXPECT_EQ(kernelFamily("indexSelectLargeIndex"), KernelFamily::Indexing);
    EXPECT_EQ(kernelFamily("multi_tensor_apply_kernel"), KernelFamily::Optimizer);
    EXPECT_EQ(kernelFamily("saxpy"), KernelFamily::Other);
}

std::string listed(const std::vector<GpuNotice>& notices) {
    std::string text;
    for (const GpuNotice& n : notices)
        text += std::string(n.kind == GpuNotice::Kind::Loss  ? "! "
                            : n.kind == GpuNotice::Kind::Off ? "- "
                                                             : "  ") +
                (n.process.empty() ? "" : n.process + ": ") + n.text + "\n";
    return text;
}

TEST(GpuNotices, NameEveryLossAndNoZero) {
    GpuRecordFacts facts;
    storage::GpuProcess p;
    p.id = 1;
    p.pid = 42;
    p.command = "/usr/bin/python3 train.py --data /big";
    p.rank = 3;
    p.clock = "same clock";
    p.clockErrorNs = 250;
    facts.processes = {p};
    facts.statuses = {{1, "cupti", "ok", "On.", "", 0},
                      {1, "nvml", "no-driver", "None here.", "", 0}};
    facts.counts = {{1, "records", 1000}, {1, "dropped records", 1234567}, {1, "clock steps", 0}};
    facts.doubts.noTime = 1;
    facts.doubts.withoutLaunch = 2;
    facts.overheads = {{1, 2'000'000}};
    facts.spanNs = 1'000'000'000;
    EXPECT_EQ(
        listed(gpuNotices(facts)),
        "! python3 train.py --data /big · pid 42 · rank 3: 1\u202f234\u202f567 dropped records\n"
        "! 1 event without a time, not drawn\n"
        "! 2 kernels or copies without their launch call\n"
        "- python3 train.py --data /big · pid 42 · rank 3: GPU counters (NVML): no-driver – None "
        "here.\n"
        "  python3 train.py --data /big · pid 42 · rank 3: GPU tracing (CUPTI): ok – On.\n"
        "  python3 train.py --data /big · pid 42 · rank 3: times are right to ±250\u00a0ns (same "
        "clock)\n"
        "  python3 train.py --data /big · pid 42 · rank 3: tracing itself took 2\u00a0ms "
        "(0.2\u00a0%)\n");
    EXPECT_TRUE(gpuNotices({}).empty());
}

TEST(GpuNotices, ATitleIsCutBetweenLetters) {
    storage::GpuProcess p;
    p.pid = 1;
    for (int i = 0; i < 100; ++i) p.command += "é";
    const std::string title = gpuProcessTitle(p);
    EXPECT_EQ(title, [] {
        std::string expected;
        for (int i = 0; i < 40; ++i) expected += "é";
        return expected + "… · pid 1";
    }());
}

}  // namespace
}  // namespace tapescope::profiler
