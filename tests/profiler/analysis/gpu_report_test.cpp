// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/gpu_report.h"

#include "profiler/analysis/interval_set.h"
#include "tests/storage/tape/tape_support.h"

#include <algorithm>
#include <random>

namespace tapescope::profiler {
namespace {

using namespace storage;  // NOLINT(google-build-using-namespace): records of the tape

using Pieces = std::vector<IntervalSet::Interval>;

TEST(IntervalSet, IsTheUnionInWhateverOrderTheyCome) {
    IntervalSet set;
    for (const auto& [begin, end] : std::vector<std::pair<int, int>>{
             {50, 60}, {10, 20}, {15, 25}, {25, 30}, {70, 70}, {90, 80}, {55, 58}, {-5, -1}})
        set.add(begin, end);
    EXPECT_EQ(set.pieces(), (Pieces{{-5, -1}, {10, 30}, {50, 60}}));
    EXPECT_EQ(set.coveredNs(), 34);
    set.add(-1, 10);
    EXPECT_EQ(set.pieces(), (Pieces{{-5, 30}, {50, 60}}));
    EXPECT_EQ(set.resolutionNs(), 0);
}

TEST(IntervalSet, AgreesWithABitPerNanosecond) {
    std::mt19937 random(7);
    IntervalSet set;
    std::vector<bool> covered(20'000, false);
    for (int i = 0; i < 3000; ++i) {
        const auto begin = static_cast<std::int64_t>(random() % 19'000);
        const auto end = begin + static_cast<std::int64_t>(random() % 8);
        set.add(begin, end);
        for (std::int64_t t = begin; t < end; ++t) covered[static_cast<std::size_t>(t)] = true;
        if (i % 500 == 0) (void)set.pieces();
    }
    EXPECT_EQ(set.coveredNs(), std::count(covered.begin(), covered.end(), true));
}

TEST(IntervalSet, AboveItsLimitTheSmallestGapsCloseAndItSaysSo) {
    IntervalSet set(100);
    for (std::int64_t i = 0; i < 1000; ++i) set.add(i * 100, i * 100 + 10);
    set.add(50'000'000, 50'000'001);
    EXPECT_LE(set.pieces().size(), 100U);
    EXPECT_EQ(set.pieces().back(), (IntervalSet::Interval{50'000'000, 50'000'001}));
    EXPECT_GT(set.resolutionNs(), 0);
    EXPECT_LE(set.resolutionNs(), 2000);
    IntervalSet extremes;
    extremes.add(INT64_MIN, INT64_MIN + 1);
    extremes.add(INT64_MAX - 1, INT64_MAX);
    EXPECT_EQ(extremes.pieces().size(), 2U);
    EXPECT_EQ(extremes.coveredNs(), 2);
    extremes.add(INT64_MIN, INT64_MAX);
    EXPECT_EQ(extremes.coveredNs(), INT64_MAX);
}

GpuEvent event(GpuEventKind kind, GpuProcessId process, std::int64_t startNs,
               std::int64_t durationNs) {
    GpuEvent e;
    e.kind = kind;
    e.process = process;
    e.startNs = startNs;
    e.durationNs = durationNs;
    return e;
}
GpuEvent memory(GpuEventKind kind, std::int64_t timeNs, std::uint64_t address,
                std::uint64_t bytes) {
    GpuEvent e = event(kind, 1, timeNs, 0);
    GpuMemory m;
    m.address = address;
    m.bytes = bytes;
    m.memory = GpuMemoryKind::Device;
    setGpuMemory(e, m);
    return e;
}

TEST(GpuReport, CountsTimesIdleGapsMemoryAndLosses) {
    const TempDir dir;
    const std::string path = dir.file("a.tape");
    {
        const auto tape = newTape(path);
        for (const GpuProcessId id : {1U, 2U}) {
            GpuProcess p;
            p.id = id;
            p.pid = 100 + id;
            p.clock = "same clock";
            tape->gpuProcess(p);
            // The same card under different numbers.
            tape->gpuDevice({id, id == 1 ? 0U : 3U, "Fake", "GPU-1", 8ULL << 30U, 132, 9, 0});
            tape->gpuStatus({id, "cupti", id == 1 ? "ok" : "busy", "A sentence.", "", 0});
            tape->gpuCount({id, kGpuCountRecords, 10});
            tape->gpuCount({id, "dropped records", id == 1 ? 0 : 7});
            tape->gpuCount({id, "clock steps", 0});
        }
        // Busy 100..200 (two that overlap), 1000..1100 by the other process, 5000..5100.
        auto other = event(GpuEventKind::Kernel, 2, 1000, 100);
        other.device = 3;
        const NameId gemm = tape->name("_Z4gemmPKfS0_Pfi");
        const NameId up = tape->name("host to device");
        other.name = gemm;
        auto last = event(GpuEventKind::Memcpy, 1, 5000, 100);
        last.x[0] = static_cast<std::uint32_t>(GpuCopyKind::HostToDevice);
        auto wait = event(GpuEventKind::RuntimeApi, 1, 300, 4000);
        wait.name = tape->name("cudaStreamSynchronize");
        auto elsewhere = event(GpuEventKind::RuntimeApi, 9, 0, 6000);  // does not use the device
        auto untimed = event(GpuEventKind::Kernel, 1, 0, 0);
        untimed.flags = kGpuNoTime;
        tape->gpuEvents({last, other, untimed, elsewhere, event(GpuEventKind::Kernel, 1, 100, 60),
                         event(GpuEventKind::Kernel, 1, 150, 50), wait,
                         event(GpuEventKind::Sync, 1, 400, 3000),
                         memory(GpuEventKind::MemFree, 40, 0xA, 0),
                         memory(GpuEventKind::MemAlloc, 10, 0xA, 1000),
                         memory(GpuEventKind::MemAlloc, 20, 0xB, 500),
                         memory(GpuEventKind::MemAlloc, 50, 0xC, 700),
                         memory(GpuEventKind::MemFree, 60, 0xF, 9999)});
        tape->gpuSummary({{1, 0, GpuEventKind::Kernel, gemm, 2, 110, 50, 60, 0},
                          {2, 3, GpuEventKind::Kernel, gemm, 1, 100, 100, 100, 0},
                          {1, 0, GpuEventKind::Kernel, tape->name("relu"), 3, 90, 30, 30, 0},
                          {1, 0, GpuEventKind::Memcpy, up, 1, 100, 100, 100, 2500}});
        using enum AllocatorAction;
        const auto allocation = [](AllocatorAction action, std::int64_t bytes) {
            AllocatorEvent e;
            e.process = 1;
            e.action = action;
            e.sizeBytes = bytes;
            return e;
        };
        tape->allocatorEvents({allocation(SegmentAlloc, 2048), allocation(Alloc, 512),
                               allocation(Alloc, 256), allocation(FreeRequested, 512),
                               allocation(Alloc, 128), allocation(FreeRequested, 9000),
                               allocation(OutOfMemory, 1 << 30)});
        EXPECT_OK(tape->seal(RunOutcome::Finished));
    }
    const auto tape = get(TapeReader::open(path));
    const GpuReport r = get(makeGpuReport(*tape));
    EXPECT_TRUE(r.present);
    EXPECT_EQ(r.records, 20);
    ASSERT_EQ(r.kernels.size(), 2U);
    EXPECT_EQ(r.kernels[0].name, "gemm(float const*, float const*, float*, int)");
    EXPECT_EQ(r.kernels[0].count, 3);
    EXPECT_EQ(r.kernels[0].totalNs, 210);
    EXPECT_EQ(r.kernels[0].minNs, 50);
    EXPECT_EQ(r.kernels[0].maxNs, 100);
    EXPECT_DOUBLE_EQ(r.kernels[0].meanNs(), 70);
    EXPECT_DOUBLE_EQ(r.kernels[0].share, 0.7);
    ASSERT_EQ(r.transfers.size(), 1U);
    EXPECT_DOUBLE_EQ(r.transfers[0].gigabytesPerSecond(), 25);
    ASSERT_EQ(r.devices.size(), 1U);
    const GpuReport::Device& d = r.devices[0];
    EXPECT_EQ(d.processes, 2);
    EXPECT_EQ(d.busyNs, 300);
    EXPECT_EQ(d.firstNs, 100);
    EXPECT_EQ(d.lastNs, 5100);
    EXPECT_DOUBLE_EQ(d.busyShare, 0.06);
    ASSERT_EQ(d.gaps.size(), 2U);
    EXPECT_EQ(d.gaps[0].startNs, 1100);
    EXPECT_EQ(d.gaps[0].durationNs, 3900);
    EXPECT_EQ(d.gaps[0].before, "gemm");
    EXPECT_EQ(d.gaps[0].after, "copy host to device");
    EXPECT_EQ(d.gaps[0].call, "cudaStreamSynchronize");
    EXPECT_EQ(d.gaps[0].callNs, 3200);  // of its 4000, 300 to 1100 lie before
    EXPECT_EQ(d.gaps[1].durationNs, 800);
    EXPECT_EQ(d.gaps[1].before, "kernel");  // one without a name
    EXPECT_EQ(d.gaps[1].after, "gemm");
    EXPECT_EQ(d.gaps[1].callNs, 700);
    EXPECT_EQ(d.peakBytes, 1500);
    EXPECT_EQ(d.peakNs, 20);
    ASSERT_EQ(r.losses.size(), 1U);
    EXPECT_EQ(r.losses[0].name, "dropped records");
    EXPECT_EQ(r.losses[0].count, 7);
    ASSERT_EQ(r.allocators.size(), 1U);
    EXPECT_EQ(r.allocators[0].pid, 101);
    EXPECT_EQ(r.allocators[0].peakAllocatedBytes, 768);
    EXPECT_EQ(r.allocators[0].peakReservedBytes, 2048);
    EXPECT_EQ(r.allocators[0].outOfMemory, 1);
    ASSERT_EQ(r.states.size(), 2U);
    EXPECT_EQ(r.states[1].code, "busy");
    EXPECT_EQ(get(makeGpuReport(*tape, 1)).devices[0].gaps.size(), 1U);
}

TEST(GpuReport, AProcessHoldsNoMemoryAfterItsEnd) {
    const TempDir dir;
    for (const bool withPool : {false, true}) {
        const std::string path = dir.file(withPool ? "a.tape" : "b.tape");
        const auto tape = newTape(path);
        for (GpuProcessId id = 1; id <= 200; ++id) {
            GpuProcess p;
            p.id = id;
            tape->gpuProcess(p);
            tape->gpuDevice({id, 0, "Fake", "GPU-1", 8ULL << 30U, 132, 9, 0});
            GpuEvent e = memory(GpuEventKind::MemAlloc, id * 1000, 0xA, 100);
            e.process = id;
            tape->gpuEvents({e, event(GpuEventKind::Kernel, id, id * 1000 + 10, 20)});
            // The first is known to be there longer: while the next two are.
            if (id == 1) tape->gpuStatus({1, "cupti", "ok", "", "", 3500});
        }
        // A pool counts by its size, not by what is in use of it.
        GpuEvent pool = memory(GpuEventKind::MemAlloc, 500'000, 0xB, 10);
        pool.flags = kGpuPool;
        GpuMemory m = gpuMemory(pool);
        m.poolType = 1;
        m.poolAddress = 0xC;
        m.poolBytes = 150;
        m.poolUsed = 10;
        setGpuMemory(pool, m);
        pool.process = 200;
        EXPECT_EQ(gpuMemory(pool).poolBytes, 150U);
        if (withPool) tape->gpuEvents({pool});
        EXPECT_OK(tape->seal(RunOutcome::Finished));
        const GpuReport r = get(makeGpuReport(*get(TapeReader::open(path))));
        ASSERT_EQ(r.devices.size(), 1U);
        EXPECT_EQ(r.devices[0].peakBytes, withPool ? 250 : 200);
        EXPECT_EQ(r.devices[0].peakNs, withPool ? 500'000 : 2000);
        EXPECT_EQ(r.processesWithCuda, 200);
    }
}

TEST(GpuReport, OfACutTapeIsMadeFromItsEvents) {
    const TempDir dir;
    const std::string path = dir.file("a.tape");
    {
        const auto tape = newTape(path);
        GpuProcess p;
        p.id = 1;
        tape->gpuProcess(p);
        const NameId gemm = tape->name("gemm");
        auto one = event(GpuEventKind::Kernel, 1, 100, 10);
        auto two = event(GpuEventKind::Kernel, 1, 200, 30);
        one.name = two.name = gemm;
        auto copy = event(GpuEventKind::Memcpy, 1, 300, 5);
        copy.x[0] = static_cast<std::uint32_t>(GpuCopyKind::HostToDevice);
        copy.u[0] = 4096;
        tape->gpuEvents({one, two, copy});
        tape->gpuSummary({{1, 0, GpuEventKind::Kernel, gemm, 1, 10, 10, 10, 0}});
        tape->gpuCount({1, kGpuCountRecords, 1});
        tape->gpuStatus({1, "cupti", "ok", "", "", 3500});
        EXPECT_OK(tape->seal(RunOutcome::Finished));
    }
    EXPECT_EQ(get(makeGpuReport(*get(TapeReader::open(path)))).records, 1);
    sql(path, "UPDATE meta SET value = 'cut' WHERE key = 'state'");
    const auto tape = get(TapeReader::open(path));
    ASSERT_EQ(tape->state(), TapeState::Cut);
    const GpuReport r = get(makeGpuReport(*tape));
    EXPECT_EQ(r.records, 3);
    EXPECT_EQ(r.countsOfLastCommit, 1);
    ASSERT_EQ(r.kernels.size(), 1U);
    EXPECT_EQ(r.kernels[0].count, 2);
    EXPECT_EQ(r.kernels[0].totalNs, 40);
    EXPECT_EQ(r.kernels[0].maxNs, 30);
    ASSERT_EQ(r.transfers.size(), 1U);
    EXPECT_EQ(r.transfers[0].name, "host to device");
    EXPECT_EQ(r.transfers[0].bytes, 4096);
}

TEST(GpuReport, ATapeWithoutAGpuPartHasNone) {
    const TempDir dir;
    EXPECT_OK(newTape(dir.file("a.tape"))->seal(RunOutcome::Finished));
    const auto tape = get(TapeReader::open(dir.file("a.tape")));
    const GpuReport r = get(makeGpuReport(*tape));
    EXPECT_FALSE(r.present);
    EXPECT_TRUE(r.devices.empty() && r.kernels.empty());
}

TEST(GpuReport, DamagedEventsAreNamedAndTheRestIsThere) {
    const TempDir dir;
    const std::string path = dir.file("a.tape");
    {
        const auto tape = newTape(path);
        GpuProcess p;
        p.id = 1;
        tape->gpuProcess(p);
        tape->gpuEvents({event(GpuEventKind::Kernel, 1, 1, 1)});
        tape->gpuSummary({{1, 0, GpuEventKind::Kernel, tape->name("k"), 1, 1, 1, 1, 0}});
        EXPECT_OK(tape->seal(RunOutcome::Finished));
    }
    sql(path, "UPDATE gpu_event_chunk SET data = x'00'");
    const auto tape = get(TapeReader::open(path));
    const GpuReport r = get(makeGpuReport(*tape));
    EXPECT_EQ(r.damage.size(), 1U);
    EXPECT_EQ(r.kernels.size(), 1U);
}

}  // namespace
}  // namespace tapescope::profiler
