// SPDX-License-Identifier: Apache-2.0
// The collector against the fake CUPTI, which speaks several versions and aborts when a rule is
// broken.
#include "profiler/cupti/op_scope.h"
#include "tests/profiler/cupti/cupti_support.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace tapescope::profiler::cupti {
namespace {

using storage::GpuEventKind;

// ---- every version's layout, from the buffer to the sink ----

void kernelsEndToEnd(const char* version, const std::string& library = kFakeCupti13) {
    CollectorOptions options;
    options.cuptiPath = library;
    Run run(Environment{{"FAKE_CUPTI_VERSION", version}}, options);
    ASSERT_EQ(run.started, State::Ok) << run.collector.message();
    const std::int64_t before = nowNs(CLOCK_MONOTONIC);
    const std::uint64_t now = run.fake.now();
    const std::int64_t after = nowNs(CLOCK_MONOTONIC);
    for (std::uint32_t i = 0; i < 1000; ++i)
        run.kernel("k", 1000 + i, now + i * 100, now + i * 100 + 50);
    run.collector.stop();
    ASSERT_EQ(run.got.count(GpuEventKind::Kernel), 1000U);
    EXPECT_EQ(run.got.devices.size(), 1U);
    EXPECT_EQ(run.got.contexts.size(), 1U);
    const auto kernels = run.got.of(GpuEventKind::Kernel);
    const storage::GpuEvent& e = kernels.front();
    const std::int64_t slack = run.got.clockErrorNs + 1'000'000;
    EXPECT_GT(e.startNs, before - slack);
    EXPECT_LT(e.startNs, after + slack);
    EXPECT_NEAR(static_cast<double>(e.durationNs), 50, 1);
    const storage::KernelLaunch launch = storage::kernelLaunch(e);
    EXPECT_EQ(launch.grid[0], 4U);
    EXPECT_EQ(launch.block[0], 128U);
    EXPECT_EQ(launch.registersPerThread, 32);
    EXPECT_EQ(e.process, 3U);
    EXPECT_EQ(e.stream, 7U);
    EXPECT_EQ(run.nameOf(e), "k");
    EXPECT_EQ(kernels.back().correlation, 1999U);
    EXPECT_EQ(run.got.counters.dropped, 0U);
    EXPECT_EQ(run.got.counters.brokenBuffers, 0U);
    EXPECT_EQ(run.got.counters.unreturnedBuffers, 0U);
    EXPECT_EQ(run.fake.outstandingBuffers(), 0U);
    EXPECT_TRUE(run.got.closed);
    ASSERT_EQ(run.got.summaries.size(), 1U);
    EXPECT_EQ(run.got.summaries[0].count, 1000);
    EXPECT_NEAR(static_cast<double>(run.got.summaries[0].totalNs), 50'000, 1000);
    EXPECT_GE(run.got.clockErrorNs, 0);
}
CUPTI_TEST(Collector, KernelsEndToEnd) { kernelsEndToEnd("130001"); }
CUPTI_TEST(Collector, KernelsEndToEndOnCupti118) { kernelsEndToEnd("18"); }
CUPTI_TEST(Collector, KernelsEndToEndOnCupti124) { kernelsEndToEnd("22", kFakeCupti12); }
CUPTI_TEST(Collector, KernelsEndToEndOnCupti128) { kernelsEndToEnd("26"); }
CUPTI_TEST(Collector, KernelsEndToEndOnAFutureCupti139) { kernelsEndToEnd("130900"); }

CUPTI_TEST(Collector, SaysWhatItFound) {
    Run run(Environment{{"FAKE_CUPTI_VERSION", "130900"}});
    run.collector.stop();
    EXPECT_EQ(run.got.facts["cupti.toolkit"], "CUDA 13.9");
    EXPECT_EQ(run.got.facts["cupti.path"], kFakeCupti13);
    EXPECT_EQ(run.got.facts["driver.cuda"], "CUDA 13.0");
    EXPECT_NE(run.collector.message().find("newer than any that was tested"), std::string::npos);
    ASSERT_EQ(run.got.devices.size(), 1U);
    EXPECT_EQ(run.got.devices[0].name, "Fake H200");
    EXPECT_EQ(run.got.devices[0].uuid, "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f");
    EXPECT_EQ(run.got.devices[0].multiprocessors, 132U);
}

// ---- times ----

CUPTI_TEST(Collector, TimesThatCannotBeAreFlaggedAndCounted) {
    Run run;
    const std::uint64_t n = run.fake.now();
    const std::uint64_t far = 100'000ULL * 1'000'000'000ULL;
    run.kernel("ok", 1, n, n + 10);
    run.kernel("zero", 2, 0, 0);
    run.kernel("negative", 3, n, n - 5);
    run.kernel("running", 4, n, 0);
    run.kernel("elsewhere", 5, n - far, n - far + 10);
    run.collector.stop();
    const auto kernels = run.got.of(GpuEventKind::Kernel);
    ASSERT_EQ(kernels.size(), 5U);
    EXPECT_EQ(run.got.counters.noTime, 1U);
    EXPECT_EQ(run.got.counters.badTime, 3U);
    EXPECT_EQ(std::ranges::count_if(kernels, [](const auto& e) { return e.drawable(); }), 1);
    for (const auto& e : kernels) {
        if (e.drawable()) continue;
        EXPECT_EQ(e.startNs, 0);
        EXPECT_EQ(e.durationNs, 0);
    }
}

CUPTI_TEST(Collector, ARealClockKeepsItsOrder) {
    ClockMap watch;
    ClockMap ends;
    ends.sample();
    Run run;
    for (std::uint32_t i = 0; i < 20; ++i) {
        watch.sample();
        const std::uint64_t n = run.fake.now();
        run.kernel("k", i, n, n + 1000);
        usleep(5000);
    }
    run.collector.stop();
    watch.sample();
    ends.sample();
    if (watch.steps() + ends.steps() > 0) {
        std::puts("skipped: the machine's clock was being set meanwhile");
        return;
    }
    std::int64_t before = 0;
    for (const auto& e : run.got.of(GpuEventKind::Kernel)) {
        EXPECT_GT(e.startNs, before);
        before = e.startNs;
    }
    EXPECT_EQ(run.got.counters.clockSteps, 0U);
}

// ---- what belongs together ----

CUPTI_TEST(Collector, OperatorIdsReachTheirKernelsInAnyOrder) {
    Run run;
    const std::uint64_t n = run.fake.now();
    std::uint32_t correlation = 0;
    {
        const OpScope outer(&run.collector, 77);
        const OpScope inner(&run.collector, 78);
        std::uint64_t start = 0;
        correlation = run.fake.begin(abi::kDrvLaunchKernel, start);
        run.kernel("k", correlation, n + 500, n + 900);  // the record of the kernel comes first
        run.fake.end(abi::kDrvLaunchKernel, correlation, start);
    }
    EXPECT_FALSE(run.collector.popOperator());  // both scopes have been left
    run.collector.stop();
    EXPECT_FALSE(run.collector.pushOperator(1));
    const auto kernels = run.got.of(GpuEventKind::Kernel);
    const auto ids = run.got.of(GpuEventKind::ExternalId);
    const auto calls = run.got.of(GpuEventKind::DriverApi);
    ASSERT_EQ(kernels.size(), 1U);
    ASSERT_EQ(ids.size(), 1U);
    ASSERT_EQ(calls.size(), 1U);
    EXPECT_EQ(kernels[0].correlation, correlation);
    EXPECT_EQ(ids[0].correlation, correlation);
    EXPECT_EQ(storage::externalId(ids[0]), 78U);
    EXPECT_EQ(storage::externalKind(ids[0]), storage::ExternalKind::Engine);
    EXPECT_EQ(run.nameOf(calls[0]), "cuLaunchKernel");
    EXPECT_EQ(calls[0].thread, static_cast<std::uint32_t>(gettid()));
    EXPECT_EQ(storage::apiCallId(calls[0]), abi::kDrvLaunchKernel);
}

void allocationsAndFrees(const char* version) {
    Run run(Environment{{"FAKE_CUPTI_VERSION", version}});
    const std::uint64_t n = run.fake.now();
    const fake::Pool pool{512, 32U << 20};
    run.fake.emit(fake::memoryRecord(1, 1, 0x1000, 4096, n));
    run.fake.emit(fake::memoryRecord(2, 1, 0x2000, 512, n, &pool));
    run.fake.emit(fake::memoryRecord(3, 2, 0x1000, 0, n));
    run.collector.stop();
    EXPECT_EQ(run.got.count(GpuEventKind::MemAlloc), 2U);
    EXPECT_EQ(run.got.count(GpuEventKind::MemFree), 1U);
    int pools = 0;
    for (const auto& e : run.got.of(GpuEventKind::MemAlloc)) {
        const storage::GpuMemory m = storage::gpuMemory(e);
        EXPECT_EQ(m.memory, storage::GpuMemoryKind::Device);
        if (m.poolType == 0) continue;
        ++pools;
        EXPECT_EQ(m.address, 0x2000U);
        EXPECT_EQ(m.bytes, 512U);
        EXPECT_EQ(m.poolUsed, 512U);
        EXPECT_EQ(m.poolBytes, 32ULL << 20U);
        EXPECT_EQ(m.poolAddress, 0x300000000U);
        EXPECT_NE(e.flags & storage::kGpuPool, 0);
        EXPECT_NE(e.flags & storage::kGpuAsync, 0);
    }
    EXPECT_EQ(pools, 1);
}
CUPTI_TEST(Collector, AllocationsAndFrees) { allocationsAndFrees("130001"); }
CUPTI_TEST(Collector, AllocationsAndFreesOnCupti124) { allocationsAndFrees("22"); }

CUPTI_TEST(Collector, CopiesAndMemsetsWithTheirBytes) {
    Run run;
    const std::uint64_t n = run.fake.now();
    run.fake.emit(fake::memcpyRecord(1, n, n + 1'000'000, 25'000'000, 1));
    run.fake.emit(fake::memcpyRecord(2, n, n + 1000, 64, 2));
    run.fake.emit(fake::memsetRecord(3, n, n + 500, 4096, 0xAB));
    run.collector.stop();
    const auto copies = run.got.of(GpuEventKind::Memcpy);
    ASSERT_EQ(copies.size(), 2U);
    EXPECT_NEAR(storage::transferRate(copies[0]), 25e9, 1e6);
    EXPECT_EQ(storage::gpuTransfer(copies[0]).copyKind, storage::GpuCopyKind::HostToDevice);
    EXPECT_EQ(storage::gpuTransfer(copies[1]).to, storage::GpuMemoryKind::Pinned);
    const auto fills = run.got.of(GpuEventKind::Memset);
    ASSERT_EQ(fills.size(), 1U);
    EXPECT_EQ(storage::gpuTransfer(fills[0]).value, 0xABU);
    EXPECT_EQ(storage::gpuTransfer(fills[0]).bytes, 4096U);
    // Summed by direction.
    for (const auto& row : run.got.summaries) {
        if (row.kind == GpuEventKind::Memcpy && run.got.names.at(row.name) == "host to device") {
            EXPECT_EQ(row.bytes, 25'000'000);
        }
    }
    EXPECT_EQ(run.got.summaries.size(), 3U);
}

CUPTI_TEST(Collector, NvtxRangesTheirDataAndNamesOfStreams) {
    Run run;
    const std::uint64_t n = run.fake.now();
    run.fake.emit(fake::markerRecord("step 1", abi::marker::kBegin, 9, n, 42, "torch"));
    run.fake.emit(fake::markerDataRecord(9, 0xFF112233, 5));
    run.fake.emit(fake::markerRecord(nullptr, abi::marker::kFinish, 9, n + 100, 42));
    run.fake.emit(fake::markerRecord("here", abi::marker::kInstant, 10, n, 42));
    run.fake.emit(fake::streamRecord(13, static_cast<std::uint32_t>(-5)));
    run.fake.emit(fake::streamNameRecord(13, "copies"));
    run.collector.stop();
    const auto pushes = run.got.of(GpuEventKind::NvtxPush);
    ASSERT_EQ(pushes.size(), 1U);
    EXPECT_EQ(run.nameOf(pushes[0]), "step 1");
    EXPECT_EQ(run.got.names.at(storage::nvtxDomain(pushes[0])), "torch");
    EXPECT_EQ(pushes[0].thread, 42U);
    ASSERT_EQ(run.got.count(GpuEventKind::NvtxPop), 1U);
    EXPECT_EQ(storage::nvtxId(run.got.of(GpuEventKind::NvtxPop)[0]), 9U);
    EXPECT_EQ(run.got.count(GpuEventKind::NvtxMark), 1U);
    const auto data = run.got.of(GpuEventKind::NvtxData);
    ASSERT_EQ(data.size(), 1U);
    EXPECT_EQ(storage::nvtxColour(data[0]), 0xFF112233U);
    EXPECT_EQ(storage::nvtxCategory(data[0]), 5U);
    ASSERT_EQ(run.got.streams.size(), 1U);
    EXPECT_EQ(run.got.streams[0].priority, -5);
    ASSERT_EQ(run.got.objectNames.size(), 1U);
    EXPECT_EQ(run.got.objectNames[0].object, storage::GpuObject::Stream);
    EXPECT_EQ(run.got.objectNames[0].id, 13U);
    EXPECT_EQ(run.got.objectNames[0].name, "copies");
}

CUPTI_TEST(Collector, KernelNamesAreTakenByContent) {
    // CUPTI has reused the memory of a name after a module was loaded anew.
    Run run(Environment{}, [] {
        CollectorOptions o;
        o.flush = std::chrono::milliseconds(5);
        return o;
    }());
    char name[16] = "first";
    const std::uint64_t n = run.fake.now();
    run.kernel(name, 1, n, n + 1);
    for (int i = 0; i < 400 && run.collector.counters().records == 0; ++i) usleep(10'000);
    std::snprintf(name, sizeof name, "second");
    run.kernel(name, 2, n, n + 1);
    run.collector.stop();
    const auto kernels = run.got.of(GpuEventKind::Kernel);
    ASSERT_EQ(kernels.size(), 2U);
    EXPECT_EQ(run.nameOf(kernels[0]), "first");
    EXPECT_EQ(run.nameOf(kernels[1]), "second");
}

// ---- losses and nonsense ----

CUPTI_TEST(Collector, DroppedRecordsAreCounted) {
    Run run;
    run.fake.drop(41);
    const std::uint64_t n = run.fake.now();
    run.kernel("k", 1, n, n + 1);
    run.collector.stop();
    EXPECT_EQ(run.got.counters.dropped, 41U);
}

CUPTI_TEST(Collector, ATruncatedBuffer) {
    Run run;
    const std::uint64_t n = run.fake.now();
    run.kernel("a", 1, n, n + 1);
    run.kernel("b", 2, n, n + 1);
    run.kernel("c", 3, n, n + 1);
    run.fake.cut(100);
    run.collector.stop();
    EXPECT_EQ(run.got.count(GpuEventKind::Kernel), 2U);
    EXPECT_EQ(run.got.counters.brokenBuffers, 1U);
}

CUPTI_TEST(Collector, AnUnknownKindIsSteppedOver) {
    Run run;
    const std::uint64_t n = run.fake.now();
    run.fake.emit(fake::Record(77));
    run.kernel("after", 2, n, n + 1);
    run.collector.stop();
    EXPECT_EQ(run.got.count(GpuEventKind::Kernel), 1U);
    EXPECT_EQ(run.got.counters.unknownKind, 1U);
}

CUPTI_TEST(Collector, RecordsThatCannotBeAreLeftOut) {
    Run run;
    const std::uint64_t n = run.fake.now();
    run.fake.emit(fake::kernelRecord("x", 1, n, n + 1, 7, {{4, 1, 1}, {70'000, 1, 1}}));
    run.fake.emit(fake::kernelRecord("x", 1, n, n + 1, 7, {{-4, 1, 1}, {32, 1, 1}}));
    run.fake.emit(fake::kernelRecord("x", 1, n, n + 1, 7, {{0, 1, 1}, {32, 1, 1}}));
    run.fake.emit(fake::kernelRecord("x", 1, n, n + 1, 7, {{1, 1, 1}, {1024, 2, 1}}));
    run.fake.emit(fake::memoryRecord(1, 9, 1, 1, n));
    run.collector.stop();
    EXPECT_TRUE(run.got.events.empty());
    EXPECT_EQ(run.got.counters.impossible, 5U);
}

void buffersRunOut(const char* version) {
    CollectorOptions options;
    options.bufferBytes = 4096;
    options.maxBuffers = 2;
    options.flush = std::chrono::seconds(100);
    Run run(Environment{{"FAKE_CUPTI_VERSION", version}}, options);
    const std::uint64_t n = run.fake.now();
    constexpr std::uint64_t kTotal = 20'000;
    for (std::uint32_t i = 0; i < kTotal; ++i) run.kernel("k", i, n, n + 1);
    run.collector.stop();
    const Counters& c = run.got.counters;
    const std::uint64_t size =
        abi::recordSize(abi::kConcurrentKernel, run.collector.library().version);
    EXPECT_EQ(run.got.count(GpuEventKind::Kernel) + c.dropped + c.discardedBytes / size, kTotal)
        << c.dropped << " dropped, " << c.discardedBytes << " bytes discarded";
}
CUPTI_TEST(Collector, BuffersRunOutAndEveryRecordIsAccountedFor) { buffersRunOut("130001"); }
CUPTI_TEST(Collector, BuffersRunOutWhereNoneMayBeRefused) { buffersRunOut("22"); }

CUPTI_TEST(Collector, EightThreadsFortyThousandKernels) {
    CollectorOptions options;
    options.bufferBytes = 65536;
    options.maxBuffers = 256;
    options.flush = std::chrono::milliseconds(5);
    Run run(Environment{}, options);
    const std::uint64_t n = run.fake.now();
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([&run, n] {
            for (std::uint32_t i = 0; i < 5000; ++i) run.kernel("k", i, n, n + 1);
        });
    }
    for (std::thread& t : threads) t.join();
    run.collector.stop();
    EXPECT_EQ(run.got.count(GpuEventKind::Kernel), 40'000U);
    EXPECT_EQ(run.got.counters.dropped, 0U);
}

CUPTI_TEST(Collector, AMillionKernels) {
    CollectorOptions options;
    options.maxBuffers = 512;
    Run run(Environment{}, options);
    const std::uint64_t n = run.fake.now();
    for (std::uint32_t i = 0; i < 1'000'000; ++i) run.kernel("_Z4gemmPKfS0_Pfi", i, n, n + 1);
    run.collector.stop();
    EXPECT_EQ(run.got.count(GpuEventKind::Kernel) + run.got.counters.dropped, 1'000'000U);
}

CUPTI_TEST(Collector, OverheadRecordsWithTheirData) {  // freed once, as AddressSanitizer can tell
    Run run;
    const std::uint64_t n = run.fake.now();
    for (int i = 0; i < 10; ++i) {
        fake::Record r(abi::kOverhead);
        r.with(abi::overhead::kWhat, 6U << 16U)
            .with(abi::overhead::kStart, n)
            .with(abi::overhead::kEnd, n + 5)
            .with(abi::overhead::kData, std::malloc(12));
        run.fake.emit(r);
    }
    run.collector.stop();
    EXPECT_EQ(run.got.count(GpuEventKind::Overhead), 10U);
}

CUPTI_TEST(Collector, WaitsAndEventsAndGraphs) {
    CollectorOptions options;
    options.kinds.graphLevel = true;
    Run run(Environment{}, options);
    const std::uint64_t n = run.fake.now();
    run.fake.emit(fake::syncRecord(5, 4, n, n + 100));
    fake::Record event(abi::kCudaEvent);
    run.fake.emit(event.with(abi::cuda_event::kCorrelation, 6).with(abi::cuda_event::kEvent, 17));
    fake::Record graph(abi::kGraphTrace);
    run.fake.emit(graph.with(abi::graph::kGraphId, 8)
                      .with(abi::graph::kStart, n)
                      .with(abi::graph::kEnd, n + 50)
                      .with(abi::graph::kCorrelation, 7));
    fake::Record pool(abi::kMemoryPool);
    run.fake.emit(
        pool.with(abi::pool::kOp, 3).with(abi::pool::kSize, 1000).with(abi::pool::kTimestamp, n));
    run.collector.stop();
    ASSERT_EQ(run.got.count(GpuEventKind::Sync), 1U);
    EXPECT_EQ(storage::gpuSyncKind(run.got.of(GpuEventKind::Sync)[0]),
              storage::GpuSyncKind::Context);
    EXPECT_EQ(run.got.of(GpuEventKind::Sync)[0].stream, storage::kNoGpuId);
    ASSERT_EQ(run.got.count(GpuEventKind::CudaEventRecord), 1U);
    EXPECT_NE(run.got.of(GpuEventKind::CudaEventRecord)[0].flags & storage::kGpuNoTime, 0);
    EXPECT_EQ(run.got.counters.noTime, 0U);  // that is no loss
    ASSERT_EQ(run.got.count(GpuEventKind::GraphLaunch), 1U);
    EXPECT_EQ(run.got.of(GpuEventKind::GraphLaunch)[0].graph, 8U);
    EXPECT_EQ(run.got.count(GpuEventKind::PoolTrim), 1U);
}

// ---- ends ----

CUPTI_TEST(Collector, AFlushThatHangsIsGivenUp) {
    CollectorOptions options;
    options.stopTimeout = std::chrono::milliseconds(300);
    options.flush = std::chrono::milliseconds(10);
    Run run(Environment{{"FAKE_CUPTI_FLUSH_HANG", "1"}}, options);
    const std::uint64_t n = run.fake.now();
    run.kernel("k", 1, n, n + 1);
    for (int i = 0; i < 400 && run.collector.counters().records == 0; ++i) usleep(10'000);
    const std::int64_t before = nowNs(CLOCK_MONOTONIC);
    run.collector.stop();
    EXPECT_LT(nowNs(CLOCK_MONOTONIC) - before, 3'000'000'000);
    EXPECT_EQ(run.collector.state(), State::FlushTimeout);
    EXPECT_EQ(run.lastState(), State::FlushTimeout);
    EXPECT_TRUE(run.got.closed);
    EXPECT_EQ(run.got.count(GpuEventKind::Kernel), 1U);
    run.collector.stop();  // again: nothing
}

CUPTI_TEST(Collector, ASinkThatCannotBeMadeSwitchesTracingOff) {
    Run::prepare({}, {});
    CollectorOptions options;
    options.cuptiPath = kFakeCupti13;
    Collector collector(options, [] {
        return storage::Result<std::unique_ptr<Sink>>(storage::Status::error("no such folder"));
    });
    EXPECT_EQ(collector.start(), State::Ok);
    collector.stop();
    EXPECT_EQ(collector.state(), State::CannotWrite);
    EXPECT_NE(collector.message().find("no such folder"), std::string::npos);
}

CUPTI_TEST(Collector, ADiskThatFillsUpSwitchesTracingOff) {
    CollectorOptions options;
    options.flush = std::chrono::milliseconds(5);
    Run run(Environment{}, options);
    run.got.answer = Stored::NotWritten;
    const std::uint64_t n = run.fake.now();
    for (std::uint32_t i = 0; i < 100; ++i) run.kernel("k", i, n, n + 1);
    for (int i = 0; i < 400 && run.collector.state() == State::Ok; ++i) usleep(10'000);
    EXPECT_EQ(run.collector.state(), State::CannotWrite);
    EXPECT_NE(run.collector.message().find("the disk is full"), std::string::npos);
    run.kernel("k", 1, n, n + 1);  // the program goes on, untraced
    run.collector.stop();
    EXPECT_EQ(run.got.counters.notWritten, 100U);
    EXPECT_TRUE(run.got.closed);
}

CUPTI_TEST(Collector, AboveTheSizeCapRecordsAreCounted) {
    Run run;
    run.got.answer = Stored::AboveCap;
    const std::uint64_t n = run.fake.now();
    for (std::uint32_t i = 0; i < 100; ++i) run.kernel("k", i, n, n + 1);
    run.collector.stop();
    EXPECT_EQ(run.got.counters.aboveCap, 100U);
    EXPECT_EQ(run.lastState(), State::SizeCap);
    EXPECT_EQ(run.got.summaries.at(0).count, 100);  // sums go on
}

CUPTI_TEST(Collector, OneAProcess) {
    Run first;
    EXPECT_EQ(first.started, State::Ok);
    Run second;
    EXPECT_EQ(second.started, State::Busy);
    EXPECT_NE(second.collector.message().find("traces already"), std::string::npos);
    second.collector.stop();
    first.collector.stop();
    EXPECT_TRUE(first.got.closed);
}

CUPTI_TEST(Collector, StopsWithoutHavingStarted) {
    Recorded got;
    Collector collector({}, [&got] {
        return storage::Result<std::unique_ptr<Sink>>(std::make_unique<MemorySink>(got));
    });
    collector.stop();
    EXPECT_FALSE(collector.pushOperator(1));
    collector.flushSoon();
}

}  // namespace
}  // namespace tapescope::profiler::cupti
