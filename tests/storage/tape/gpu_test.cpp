// SPDX-License-Identifier: Apache-2.0
// The GPU part of a tape: what goes in comes out, and a hostile chunk is refused.
#include "storage/tape/chunk_codec.h"
#include "storage/tape/gpu_records.h"
#include "tests/storage/tape/tape_support.h"

#include <random>
#include <sys/stat.h>
#include <zstd.h>

namespace tapescope::storage {
namespace {

std::vector<std::byte> packed(const std::string& raw) {
    std::vector<std::byte> out(ZSTD_compressBound(raw.size()));
    out.resize(ZSTD_compress(out.data(), out.size(), raw.data(), raw.size(), 1));
    return out;
}

AllocatorEvent allocatorEvent(std::int64_t i) {
    AllocatorEvent e;
    e.timeNs = 10 * i;
    e.address = 0x7f00'0000'0000U + static_cast<std::uint64_t>(i) * 512;
    e.sizeBytes = 512 * i;
    e.deviceFreeBytes = i % 9 == 8 ? 1'000'000 : 0;
    e.stream = static_cast<std::uint64_t>(i % 2) << 40U;
    e.process = 2;
    e.device = static_cast<std::uint32_t>(i % 4);
    e.site = static_cast<NameId>(i % 3);
    e.action = static_cast<AllocatorAction>(i % 9);
    return e;
}

TEST(GpuTape, EventsComeBackAsTheyWere) {
    const TempDir dir;
    const std::string path = dir.file("a.tape");
    const auto writer = newTape(path);
    const auto events = gpuEvents(0, 150'000);
    std::vector<CounterSample> samples;
    std::vector<AllocatorEvent> allocations;
    for (std::int64_t i = 0; i < 5000; ++i) {
        samples.push_back(
            {100 * i, 0.1 * static_cast<double>(i), static_cast<std::uint32_t>(i % 8)});
        allocations.push_back(allocatorEvent(i));
    }
    for (std::size_t at = 0; at < events.size(); at += 3000) {
        writer->gpuEvents({events.begin() + static_cast<std::ptrdiff_t>(at),
                           events.begin() + static_cast<std::ptrdiff_t>(at + 3000)});
        if (at % 30000 == 0) {
            EXPECT_OK(writer->flush());
        }
    }
    writer->counterSamples(samples);
    writer->allocatorEvents(allocations);
    EXPECT_OK(writer->seal(RunOutcome::Finished));

    const auto reader = get(TapeReader::open(path));
    EXPECT_TRUE(get(reader->gpuEvents()).events == events);
    EXPECT_TRUE(get(reader->counterSamples()).samples == samples);
    EXPECT_TRUE(get(reader->allocatorEvents()).events == allocations);
    // By cursor, in pieces that do not fit the chunks.
    std::vector<GpuEvent> pieces;
    for (std::int64_t cursor = 0;;) {
        const auto part = get(reader->gpuEvents(cursor, 7777));
        if (part.events.empty()) break;
        pieces.insert(pieces.end(), part.events.begin(), part.events.end());
        cursor = part.cursor;
    }
    EXPECT_TRUE(pieces == events);
    EXPECT_TRUE(get(reader->losses()).empty());
}

TEST(GpuTape, RowsComeBackAndReplaceEarlierOnes) {
    const TempDir dir;
    const std::string path = dir.file("a.tape");
    const auto writer = newTape(path);
    const GpuProcess process{1, 77, 5,         "box",     "boot-1", "python3 train.py", 3,
                             1, 8,  1'000'000, 2'000'000, 250,      "same clock"};
    GpuProcess early;
    early.id = 1;
    early.pid = 77;
    writer->gpuProcess(early);
    writer->gpuProcess(process);
    const GpuProcess other{2, 78, 5, "other", "boot-2", "python3 train.py",     4,
                           0, 8,  1, 2,       -1,       "aligned by wall clock"};
    writer->gpuProcess(other);
    const GpuDevice device{1, 0, "NVIDIA H200", "GPU-00010203", 141ULL << 30U, 132, 9, 0};
    writer->gpuDevice(device);
    const GpuContext context{1, 1, 0, 7};
    writer->gpuContext(context);
    const GpuStream stream{1, 1, 13, -5, 2};
    writer->gpuStream(stream);
    const GpuObjectName name{1, GpuObject::Stream, 13, 1, "copies"};
    writer->gpuObjectName(name);
    writer->gpuStatus({1, "cupti", "ok", "GPU tracing is on.", "", 5});
    const GpuStatus status{1, "cupti", "flush-timeout", "A sentence.", "10 s", 900};
    writer->gpuStatus(status);
    writer->gpuCount({1, "dropped records", 41});
    const GpuCount count{1, "dropped records", 42};
    writer->gpuCount(count);
    const NameId kernel = writer->name("_Z4gemmPKfS0_Pfi");
    writer->gpuSummary({{1, 0, GpuEventKind::Kernel, kernel, 1, 10, 10, 10, 0}});
    const GpuSummary total{1,         0, GpuEventKind::Kernel, kernel, 4, 8'000'000, 1'000'000,
                           3'000'000, 0};
    const GpuSummary copies{1,       0,         GpuEventKind::Memcpy, 0, 2, 1'000'000, 400'000,
                            600'000, 25'000'000};
    writer->gpuSummary({copies, total});
    const GpuCounter counter{1, "power", "W", "GPU-00010203", "NVIDIA H200", "box"};
    writer->gpuCounter(counter);
    EXPECT_OK(writer->seal(RunOutcome::Finished));

    const auto reader = get(TapeReader::open(path));
    EXPECT_EQ(get(reader->gpuProcesses()), (std::vector{process, other}));
    EXPECT_EQ(get(reader->gpuDevices()), std::vector{device});
    EXPECT_EQ(get(reader->gpuContexts()), std::vector{context});
    EXPECT_EQ(get(reader->gpuStreams()), std::vector{stream});
    EXPECT_EQ(get(reader->gpuObjectNames()), std::vector{name});
    EXPECT_EQ(get(reader->gpuStatuses()), std::vector{status});
    EXPECT_EQ(get(reader->gpuCounts()), std::vector{count});
    EXPECT_EQ(get(reader->gpuSummary()), (std::vector{total, copies}));
    EXPECT_EQ(get(reader->gpuCounters()), std::vector{counter});
    EXPECT_EQ(sql(path, "SELECT device, name, count, total_ms, mean_us FROM gpu_kernels"),
              Rows{"0|_Z4gemmPKfS0_Pfi|4|8.0|2000.0"});
    EXPECT_EQ(sql(path, "SELECT kind, bytes, gb_per_s FROM gpu_copies"),
              Rows{"copy|25000000|25.0"});
    EXPECT_EQ(sql(path, "SELECT pid, rank, code FROM gpu_states"), Rows{"77|3|flush-timeout"});
    EXPECT_EQ(sql(path, "SELECT host, name, count FROM gpu_counts"),
              Rows{"box|dropped records|42"});
}

TEST(GpuTape, ATapeOfVersion1OpensAndHasNoGpuPart) {
    const TempDir dir;
    const std::string path = dir.file("old.tape");
    {
        const auto writer = newTape(path);
        writer->opEvents(opEvents(0, 100));
        EXPECT_OK(writer->seal(RunOutcome::Finished));
    }
    sql(path,
        "DROP VIEW gpu_kernels; DROP VIEW gpu_copies; DROP VIEW gpu_states; DROP VIEW gpu_counts;"
        "DROP TABLE gpu_process; DROP TABLE gpu_device; DROP TABLE gpu_context; DROP TABLE "
        "gpu_stream;"
        "DROP TABLE gpu_object_name; DROP TABLE gpu_status; DROP TABLE gpu_count; DROP TABLE "
        "gpu_summary;"
        "DROP TABLE gpu_counter; DROP TABLE gpu_event_chunk; DROP TABLE counter_sample_chunk;"
        "DROP TABLE allocator_event_chunk; PRAGMA user_version=1");
    EXPECT_EQ(sql(path, "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'gpu%'"), Rows{"0"});
    ASSERT_EQ(chmod(path.c_str(), 0444), 0);
    const auto reader = get(TapeReader::open(path));
    EXPECT_EQ(get(reader->opEvents()).events.size(), 100U);
    EXPECT_TRUE(get(reader->gpuEvents()).events.empty());
    EXPECT_TRUE(get(reader->counterSamples()).samples.empty());
    EXPECT_TRUE(get(reader->allocatorEvents()).events.empty());
    EXPECT_TRUE(get(reader->gpuProcesses()).empty());
    EXPECT_TRUE(get(reader->gpuStatuses()).empty());
    EXPECT_TRUE(get(reader->gpuSummary()).empty());
    EXPECT_EQ(sql(path, "PRAGMA user_version"), Rows{"1"});
}

TEST(GpuTape, EventsAboveTheBacklogAreCounted) {
    const TempDir dir;
    const std::string path = dir.file("a.tape");
    WriterOptions options;
    options.maxBacklogBytes = 1;
    options.commitMs = 100'000;  // nothing leaves the backlog by itself
    const auto writer = newTape(path, {}, options);
    writer->lane({1, LaneKind::Thread, "a row that fills it"});
    std::int64_t offered = 0;
    for (int i = 0; i < 50; ++i, offered += 30) {
        writer->gpuEvents(gpuEvents(0, 10));
        writer->counterSamples(std::vector<CounterSample>(10));
        writer->allocatorEvents(std::vector<AllocatorEvent>(10));
    }
    EXPECT_OK(writer->seal(RunOutcome::Finished));
    const auto reader = get(TapeReader::open(path));
    auto stored = static_cast<std::int64_t>(get(reader->gpuEvents()).events.size() +
                                            get(reader->counterSamples()).samples.size() +
                                            get(reader->allocatorEvents()).events.size());
    std::int64_t lost = 0;
    for (const LossCount& loss : get(reader->losses())) lost += loss.count;
    EXPECT_GT(lost, 0);
    EXPECT_EQ(stored + lost, offered);
}

TEST(GpuTape, AProducerThatWaitsLosesNothing) {
    const TempDir dir;
    const std::string path = dir.file("a.tape");
    WriterOptions options;
    options.maxBacklogBytes = 1U << 20;
    const auto writer = newTape(path, {}, options);
    for (int i = 0; i < 200; ++i) {
        writer->waitForRoom();
        writer->gpuEvents(gpuEvents(1000 * i, 1000));
    }
    EXPECT_OK(writer->seal(RunOutcome::Finished));
    writer->waitForRoom();  // does not wait for what will never be written
    const auto reader = get(TapeReader::open(path));
    EXPECT_TRUE(get(reader->gpuEvents()).events == gpuEvents(0, 200'000));
    EXPECT_TRUE(get(reader->losses()).empty());
}

TEST(GpuChunk, NeedsFewBytesForATrainingStep) {
    // Launch call, kernel and operator id, over and over, with jitter; 40 kernels of 12 shapes.
    std::mt19937_64 random(7);
    std::vector<GpuEvent> events;
    std::int64_t time = 0;
    std::uint32_t correlation = 100;
    while (events.size() + 3 <= kMaxChunkEvents) {
        const auto shape = static_cast<std::uint32_t>(events.size() / 3 % 40);
        time += 4000 + static_cast<std::int64_t>(random() % 4096);
        GpuEvent call;
        call.kind = GpuEventKind::RuntimeApi;
        call.startNs = time;
        call.durationNs = 1500 + static_cast<std::int64_t>(random() % 512);
        call.correlation = ++correlation;
        call.name = 3;
        call.thread = 4242;
        call.u[0] = 211;
        call.process = 1;
        GpuEvent kernel;
        kernel.kind = GpuEventKind::Kernel;
        kernel.startNs = time + 5000;
        kernel.durationNs = 3000 + static_cast<std::int64_t>(random() % 1024);
        kernel.correlation = correlation;
        kernel.name = 10 + shape;
        kernel.context = 1;
        kernel.stream = 7;
        kernel.process = 1;
        setKernelLaunch(kernel,
                        {{shape * 16 + 1, 2, 1}, {256, 1, 1}, {}, 1024, shape * 64, 40, 0, 0});
        GpuEvent id;
        id.kind = GpuEventKind::ExternalId;
        id.flags = kGpuNoTime;
        id.correlation = correlation;
        id.u[0] = correlation * 2ULL;
        id.x[0] = 5;
        id.process = 1;
        events.insert(events.end(), {id, call, kernel});
    }
    const auto data = encodeChunk(events);
    const double bytes = static_cast<double>(data.size()) / static_cast<double>(events.size());
    RecordProperty("bytes_per_record", std::to_string(bytes));
    EXPECT_LT(bytes, 15);
    std::vector<GpuEvent> back;
    EXPECT_OK(decodeChunk(data, events.size(), back));
    EXPECT_TRUE(back == events);
}

TEST(GpuChunk, BoundsLeaveOutWhatCannotBeDrawn) {
    std::vector<GpuEvent> events(3);
    events[0].startNs = -1'000'000'000'000;
    events[0].flags = kGpuBadTime;
    events[1].startNs = 50;
    events[1].durationNs = 10;
    events[2].flags = kGpuNoTime;
    const ChunkBounds b = boundsOf(events);
    EXPECT_EQ(b.t0, 50);
    EXPECT_EQ(b.t1, 60);
    EXPECT_EQ(b.min, 10);
    EXPECT_EQ(b.max, 10);
    events.erase(events.begin() + 1);
    EXPECT_EQ(boundsOf(events).t1, 0);
}

TEST(GpuChunk, RefusesAnotherNumberOrKindOfEvents) {
    const auto data = encodeChunk(gpuEvents(0, 10));
    for (const std::size_t n : {0U, 1U, 9U, 11U, 65536U, 65537U}) {
        std::vector<GpuEvent> out;
        EXPECT_FALSE(decodeChunk(data, n, out).ok()) << n;
        EXPECT_TRUE(out.empty());
    }
    std::vector<AllocatorEvent> other;
    EXPECT_FALSE(decodeChunk(data, 10, other).ok());
    std::vector<CounterSample> samples;
    EXPECT_FALSE(decodeChunk(data, 10, samples).ok());
}

TEST(GpuChunk, RefusesABombWithoutUnpackingIt) {
    const auto bomb = packed(std::string(256U << 20U, '\0'));
    std::vector<GpuEvent> out;
    EXPECT_NE(decodeChunk(bomb, 1, out).message().find("not compressed as its 1 events would be"),
              std::string::npos);
    std::vector<CounterSample> samples;
    EXPECT_FALSE(decodeChunk(bomb, 1, samples).ok());
}

TEST(GpuChunk, RefusesValuesOutsideTheirTypes) {
    // One event of zeros: kind, then 20 varints; with the flag "no time", 18.
    std::string raw(21, '\0');
    std::vector<GpuEvent> out;
    EXPECT_OK(decodeChunk(packed(raw), 1, out));
    raw[0] = 20;
    EXPECT_OK(decodeChunk(packed(raw), 1, out));
    raw[0] = 21;  // GpuEventKind has values 0 to 20
    EXPECT_FALSE(decodeChunk(packed(raw), 1, out).ok());
    raw[0] = 1;
    raw[1] = kGpuNoTime;
    EXPECT_FALSE(decodeChunk(packed(raw), 1, out).ok());
    raw.resize(19);
    EXPECT_OK(decodeChunk(packed(raw), 1, out));
    // flags are 16 bits, names 32
    const std::string wide("\xff\xff\xff\xff\x7f", 5);
    EXPECT_FALSE(
        decodeChunk(packed(std::string(1, '\1') + wide + std::string(19, '\0')), 1, out).ok());
    EXPECT_FALSE(
        decodeChunk(packed(std::string(6, '\0') + wide + std::string(14, '\0')), 1, out).ok());
}

TEST(GpuChunk, SurvivesFlippedAndCutPayloads) {
    std::mt19937_64 random(11);
    const auto good = gpuEvents(0, 300);
    // The zstd frame has no checksum: flip bits in what is inside, too.
    const auto data = encodeChunk(good);
    int refused = 0;
    for (int i = 0; i < 2000; ++i) {
        auto bad = data;
        if (i % 4 == 0) {
            bad.resize(random() % bad.size());
        } else {
            for (int k = 0; k <= i % 3; ++k)
                bad[random() % bad.size()] ^= static_cast<std::byte>(1U << (random() % 8));
        }
        std::vector<GpuEvent> out;
        if (!decodeChunk(bad, 300, out).ok()) {
            ++refused;
            EXPECT_TRUE(out.empty());
        } else {
            EXPECT_EQ(out.size(), 300U);
        }
    }
    EXPECT_GT(refused, 500);
}

TEST(GpuRecords, PayloadsSurviveTheirWords) {
    GpuEvent e;
    e.kind = GpuEventKind::Kernel;
    const KernelLaunch launch{{65535, 2, 3}, {256, 4, 1}, {2, 1, 1}, 1024,
                              98304,         255,         2,         0xABCDEF0123456789};
    setKernelLaunch(e, launch);
    EXPECT_EQ(kernelLaunch(e), launch);
    GpuEvent alloc;
    alloc.kind = GpuEventKind::MemAlloc;
    setGpuMemory(alloc,
                 {0x7f1234567890, 4096, GpuMemoryKind::Device, 1, 0x300000000, 5ULL << 32U, 512});
    const GpuMemory m = gpuMemory(alloc);
    EXPECT_EQ(m.address, 0x7f1234567890U);
    EXPECT_EQ(m.bytes, 4096U);
    EXPECT_EQ(m.memory, GpuMemoryKind::Device);
    EXPECT_EQ(m.poolType, 1U);
    EXPECT_EQ(m.poolAddress, 0x300000000U);
    EXPECT_EQ(m.poolBytes, 5ULL << 32U);
    EXPECT_EQ(m.poolUsed, 512U);
    GpuEvent copy;
    copy.kind = GpuEventKind::Memcpy;
    copy.u = {1 << 20, 0, 1};
    copy.x = {1, 2, 3, 0, 0, 0};
    copy.durationNs = 1'000'000;
    EXPECT_EQ(gpuTransfer(copy).copyKind, GpuCopyKind::HostToDevice);
    EXPECT_EQ(gpuTransfer(copy).from, GpuMemoryKind::Pinned);
    EXPECT_DOUBLE_EQ(transferRate(copy), 1048576e3);
    copy.x[0] = 4'000'000'000U;
    EXPECT_EQ(gpuTransfer(copy).copyKind, GpuCopyKind::Unknown);
    copy.flags = kGpuBadTime;
    EXPECT_EQ(transferRate(copy), 0);
}

TEST(GpuRecords, NamesAreForPeople) {
    EXPECT_EQ(gpuEventKindName(GpuEventKind::GraphLaunch), "graph launch");
    EXPECT_EQ(gpuEventKindName(static_cast<GpuEventKind>(200)), "unknown");
    EXPECT_EQ(gpuCopyKindName(GpuCopyKind::DeviceToHost), "device to host");
    EXPECT_EQ(gpuMemoryKindName(GpuMemoryKind::Managed), "managed");
    EXPECT_EQ(allocatorActionName(AllocatorAction::OutOfMemory), "oom");
}

TEST(GpuRecords, DemanglesWithoutBeingBombed) {
    // c++filt's answers.
    EXPECT_EQ(demangled("_Z4gemmPKfS0_Pfi"), "gemm(float const*, float const*, float*, int)");
    EXPECT_EQ(demangled("_ZN2at6native4fillILi4EfEEvT0_"),
              "void at::native::fill<4, float>(float)");
    EXPECT_EQ(demangled("ampere_sgemm_128x64_tn"), "ampere_sgemm_128x64_tn");
    EXPECT_EQ(demangled("_Z"), "_Z");
    // p(p<p<…>>) where each level repeats the one before, twice: 2^60 times "i".
    std::string bomb = "_ZN1n1fI1pIiiE";
    for (int i = 1; i < 60; ++i) {
        std::string number;
        for (int k = i + 2; k > 0; k /= 36)
            number.insert(0, 1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[k % 36]);
        bomb += "1qIS" + number + "_S" + number + "_E";
    }
    bomb += "EEvv";
    EXPECT_EQ(demangled(bomb), "n::f<…>");
}

}  // namespace
}  // namespace tapescope::storage
