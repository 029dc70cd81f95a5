// SPDX-License-Identifier: Apache-2.0
// Record streams that no CUPTI should write. TAPESCOPE_FUZZ_SECONDS (2 without) and
// TAPESCOPE_FUZZ_SEED (1) say how long and which.
#include "profiler/cupti/decoder.h"
#include "storage/tape/chunk_codec.h"
#include "tests/profiler/cupti/cupti_support.h"

#include <array>
#include <chrono>
#include <cstring>
#include <random>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

namespace tapescope::profiler::cupti {
namespace {

using Random = std::mt19937_64;
using storage::GpuEvent;

std::uint64_t number(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}
class Clock {
public:
    Clock()
        : m_end(std::chrono::steady_clock::now() +
                std::chrono::seconds(number("TAPESCOPE_FUZZ_SECONDS", 2))) {}
    bool running() const { return std::chrono::steady_clock::now() < m_end; }

private:
    std::chrono::steady_clock::time_point m_end;
};

constexpr std::array<std::uint32_t, 7> kVersions = {18, 20, 22, 24, 26, 130001, 130900};
constexpr std::array<std::uint32_t, 25> kKinds = {
    1,  2,  3,  4,  5,  8,  9,  10, 11, 12, 13, 17,           22,
    36, 37, 38, 39, 45, 48, 49, 50, 51, 53, 77, 4'000'000'000};
constexpr std::array<const char*, 5> kTexts = {"", "gemm", "_Z4gemmPKfS0_Pfi", "a name \xff\xfe",
                                               "step"};

void fill(Random& random, fake::Record& r) {
    const std::uint32_t kind = r.kind();
    const std::uint64_t style = random() % 3;
    for (std::size_t i = 4; i < r.bytes.size(); i += 8) {
        // Mostly small numbers: those reach further than noise does.
        const std::uint64_t value = style == 0 ? random() : random() % (style == 1 ? 16 : 2000);
        std::memcpy(&r.bytes[i], &value, std::min<std::size_t>(8, r.bytes.size() - i));
    }
    abi::put(r.bytes.data(), abi::kKind, kind);
}

/// Memory that the client frees if it trusts the record, and else loses: no leak to report.
template <class T>
T* handedOver(T* memory) {
#if defined(__SANITIZE_ADDRESS__)
    __lsan_ignore_object(memory);
#endif
    return memory;
}

/// Texts and memory that a client may free must be real for a CUPTI whose layout is known.
void makePointersReal(Random& random, fake::Record& r, std::uint32_t version) {
    const char* text = random() % 4 == 0 ? nullptr : kTexts[random() % kTexts.size()];
    switch (r.kind()) {
        case abi::kKernel:
        case abi::kConcurrentKernel:
            r.with(abi::kernel::kName, text);
            break;
        case abi::kMemory2:
            r.with(abi::memory::kName, text);
            if (version >= abi::kV12_6) r.with(abi::memory::kSource, text);
            break;
        case abi::kMarker:
            r.with(abi::marker::kName, text).with(abi::marker::kDomain, nullptr);
            break;
        case abi::kName:
            r.with(abi::name::kName, text);
            break;
        case abi::kDevice:
            r.with(abi::device::kName, text != nullptr ? handedOver(strdup(text)) : nullptr);
            break;
        case abi::kOverhead:
            if (version >= abi::kV12_4)
                r.with(abi::overhead::kData,
                       random() % 2 == 0 ? handedOver(std::malloc(8)) : nullptr);
            break;
        default:
            break;
    }
}

/// Times near now, so that more than refusals is seen.
void makeTimesNear(Random& random, fake::Record& r, std::uint64_t now) {
    const std::uint64_t start = now - random() % 1'000'000;
    const std::uint64_t end = start + random() % 100'000;
    switch (r.kind()) {
        case abi::kConcurrentKernel: {
            namespace k = abi::kernel;
            r.with(k::kStart, start).with(k::kEnd, end);
            for (const auto field :
                 {k::kGridX, k::kGridY, k::kGridZ, k::kBlockX, k::kBlockY, k::kBlockZ})
                r.with(field, static_cast<std::int32_t>(1 + random() % 8));
            break;
        }
        case abi::kMemcpy:
            r.with(abi::memcopy::kStart, start).with(abi::memcopy::kEnd, end);
            break;
        case abi::kRuntime:
        case abi::kDriver:
            r.with(abi::api::kStart, start).with(abi::api::kEnd, end);
            break;
        case abi::kMemory2:
            r.with(abi::memory::kTimestamp, start).with(abi::memory::kOp, 1);
            break;
        default:
            break;
    }
}

void checkEvent(const GpuEvent& e) {
    ASSERT_NE(e.kind, storage::GpuEventKind::Unknown);
    ASSERT_LE(e.kind, storage::GpuEventKind::GraphLaunch);
    ASSERT_EQ(e.process, 3U);
    if ((e.flags & storage::kGpuNoTime) != 0) {
        ASSERT_EQ(e.startNs, 0);
        ASSERT_EQ(e.durationNs, 0);
    }
    ASSERT_GE(e.durationNs, 0);
    (void)storage::gpuTransfer(e);
    (void)storage::gpuMemory(e);
    (void)storage::transferRate(e);
    (void)storage::kernelLaunch(e);
}

TEST(Fuzz, TheDecoderSurvivesAnyRecord) {
    Random random(number("TAPESCOPE_FUZZ_SEED", 1));
    const Clock clock;
    std::uint64_t records = 0;
    while (clock.running()) {
        const std::uint32_t version = kVersions[random() % kVersions.size()];
        Recorded got;
        MemorySink sink(got);
        ClockMap map;
        std::int64_t monotonic = static_cast<std::int64_t>(random() % 1'000'000) * 1'000'000;
        std::int64_t offset = static_cast<std::int64_t>(random() >> 3U);
        for (std::uint64_t i = random() % 8; i > 0; --i) {  // sometimes a clock that is being set
            map.add({monotonic, monotonic + offset, 100});
            monotonic += static_cast<std::int64_t>(random() % 3'000'000'000);
            if (random() % 3 == 0) offset += static_cast<std::int64_t>(random() >> 20U);
        }
        Decoder decoder(version, map, sink, [&random](bool, std::uint32_t id) {
            return id % 7 == 0 ? nullptr : kTexts[random() % kTexts.size()];
        });
        std::vector<GpuEvent> events;
        std::uint64_t decoded = 0;
        for (int i = 0; i < 500; ++i, ++decoded) {
            fake::Record r(kKinds[random() % kKinds.size()]);
            fill(random, r);
            if (random() % 2 == 0)
                makeTimesNear(
                    random, r,
                    static_cast<std::uint64_t>(monotonic) + static_cast<std::uint64_t>(offset));
            // Of a version that nobody has tested, addresses may be anything.
            if (version <= abi::kNewestTested || random() % 2 == 0)
                makePointersReal(random, r, version);
            // What lies behind the record is not to be looked at.
            const std::size_t size = abi::recordSize(r.kind(), version);
            const auto exact = std::make_unique<std::uint8_t[]>(size != 0 ? size : 64);
            std::memcpy(exact.get(), r.bytes.data(), size != 0 ? size : 64);
            GpuEvent e;
            if (!decoder.decode(exact.get(), e)) continue;
            checkEvent(e);
            if (HasFatalFailure()) return;
            events.push_back(e);
        }
        records += decoded;
        EXPECT_EQ(decoder.records(), decoded);
        Counters counters;
        decoder.addTo(counters);
        EXPECT_LE(counters.impossible + counters.unknownKind, decoded);
        if (events.empty()) continue;
        // Whatever comes out can be stored and read.
        std::vector<GpuEvent> back;
        ASSERT_TRUE(storage::decodeChunk(storage::encodeChunk(events), events.size(), back).ok());
        ASSERT_TRUE(back == events);
    }
    std::printf("%llu records\n", static_cast<unsigned long long>(records));
    EXPECT_GT(records, 1000U);
}

/// Through CUPTI's buffers: truncated, of unknown kinds, dropped, in small buffers that run out.
CUPTI_TEST(Fuzz, TheCollectorSurvivesAnyStream) {
    alarm(0);
    Random random(number("TAPESCOPE_FUZZ_SEED", 1));
    const Clock clock;
    CollectorOptions options;
    options.bufferBytes = 8192;
    options.maxBuffers = 8;
    options.flush = std::chrono::milliseconds(2);
    Run run(Environment{{"FAKE_CUPTI_VERSION", "130900"}}, options);
    ASSERT_EQ(run.started, State::Ok);
    std::uint64_t emitted = 0;
    while (clock.running()) {
        fake::Record r(kKinds[random() % (kKinds.size() - 1)]);
        fill(random, r);
        if (random() % 2 == 0) makeTimesNear(random, r, run.fake.now());
        if (r.kind() == abi::kConcurrentKernel && r.get(abi::kernel::kEnd) == 0)
            r.with(abi::kernel::kEnd, 1);
        run.fake.emit(r);
        ++emitted;
        if (random() % 200 == 0) run.fake.drop(random() % 5);
        if (random() % 500 == 0) {
            run.fake.emit(fake::kernelRecord("whole", 1, 1, 2));
            run.fake.cut(1 + random() % 100);
        }
        if (random() % 1000 == 0) usleep(1000);
    }
    run.collector.stop();
    EXPECT_TRUE(run.got.closed);
    for (const GpuEvent& e : run.got.events) {
        checkEvent(e);
        if (testing::Test::HasFatalFailure()) return;
    }
    EXPECT_EQ(run.got.events.size(), run.got.counters.records);
    EXPECT_GT(run.got.counters.records, 0U);
    EXPECT_GT(run.got.counters.unknownKind, 0U);
    std::printf("%llu records emitted, %llu stored\n", static_cast<unsigned long long>(emitted),
                static_cast<unsigned long long>(run.got.counters.records));
}

}  // namespace
}  // namespace tapescope::profiler::cupti
