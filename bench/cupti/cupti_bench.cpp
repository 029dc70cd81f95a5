// SPDX-License-Identifier: Apache-2.0
// What recording CUDA costs on our side of CUPTI. Run: build/release/bin/cupti_bench
#include "profiler/cupti/decoder.h"
#include "profiler/cupti/library.h"
#include "profiler/cupti/tape_output.h"
#include "profiler/cupti/totals.h"
#include "tests/profiler/cupti/fakes/fake_records.h"

#include <benchmark/benchmark.h>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace tapescope::profiler::cupti;
using tapescope::storage::GpuEvent;

/// A launch as CUPTI tells it: operator id, call, kernel; 40 kernels with jittered times, one copy
/// in fifty.
class TrainingRecords {
public:
    explicit TrainingRecords(std::size_t launches) {
        for (int i = 0; i < 40; ++i) {
            m_names.push_back("_ZN2at6native29vectorized_elementwise_kernelILi" +
                              std::to_string(i) +
                              "ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_");
        }
        std::mt19937_64 random(42);
        auto time = static_cast<std::uint64_t>(nowNs(CLOCK_REALTIME));
        for (std::size_t i = 0; i < launches; ++i) {
            const auto correlation = static_cast<std::uint32_t>(100 + i);
            time += 4000 + random() % 4096;
            fake::Record id(abi::kExternalCorrelation);
            id.with(abi::external::kExtKind, 5)
                .with(abi::external::kId, i)
                .with(abi::external::kCorrelation, correlation);
            fake::Record call(abi::kRuntime);
            call.with(abi::api::kCbid, 211)
                .with(abi::api::kStart, time)
                .with(abi::api::kEnd, time + 1500 + random() % 512)
                .with(abi::api::kThread, 4242)
                .with(abi::api::kCorrelation, correlation);
            const auto shape = static_cast<std::int32_t>(i % 40);
            add(id);
            add(call);
            const std::uint64_t start = time + 5000;
            const std::uint64_t end = start + 3000 + random() % 1024;
            if (i % 50 == 0) {
                add(fake::memcpyRecord(correlation, start, end, 1U << 20U, 1));
            } else {
                add(fake::kernelRecord(m_names[static_cast<std::size_t>(shape)].c_str(),
                                       correlation, start, end, 7,
                                       {{shape * 16 + 1, 2, 1}, {256, 1, 1}}));
            }
        }
    }
    std::size_t size() const { return m_offsets.size(); }
    const void* operator[](std::size_t i) const { return m_bytes.data() + m_offsets[i]; }
    std::size_t bytes() const { return m_bytes.size(); }

private:
    void add(const fake::Record& r) {
        m_offsets.push_back(m_bytes.size());
        const std::size_t n = abi::recordSize(r.kind(), abi::kNewestTested);
        m_bytes.insert(m_bytes.end(), r.bytes.begin(),
                       r.bytes.begin() + static_cast<std::ptrdiff_t>(n));
    }
    std::vector<std::string> m_names;
    std::vector<std::uint8_t> m_bytes;
    std::vector<std::size_t> m_offsets;
};

std::string freshFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tapescope-bench-XXXXXX").string();
    return mkdtemp(name.data());
}

/// Decoding as the collector does it: names, clock, sums, batch.
void decode(const TrainingRecords& records, Decoder& decoder, Sink& sink, bool store) {
    Totals totals;
    const auto direction = [&sink](tapescope::storage::GpuCopyKind kind) {
        return sink.name(tapescope::storage::gpuCopyKindName(kind));
    };
    std::vector<GpuEvent> batch;
    batch.reserve(4096);
    GpuEvent e;
    for (std::size_t i = 0; i < records.size(); ++i) {
        if (!decoder.decode(records[i], e)) continue;
        totals.add(e, direction);
        batch.push_back(e);
        if (batch.size() < 4096) continue;
        if (store) {
            sink.events(std::exchange(batch, {}));
            batch.reserve(4096);
        } else {
            batch.clear();
        }
    }
    if (store && !batch.empty()) sink.events(std::move(batch));
    sink.summary(totals.changed());
}

void decodeRecords(benchmark::State& state) {
    const TrainingRecords records(100'000);
    const std::string folder = freshFolder();
    {
        const auto sink = shardSink({folder, INT64_MAX})().value().release();
        ClockMap clock;
        clock.sample();
        for (auto _ : state) {
            Decoder decoder(abi::kNewestTested, clock, *sink, {});
            decode(records, decoder, *sink, false);
        }
        sink->close();
        delete sink;
    }
    std::filesystem::remove_all(folder);
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(records.size()));
}
BENCHMARK(decodeRecords)->Unit(benchmark::kMillisecond);

/// From CUPTI's buffers to a sealed tape, on the collector's and the writer's thread.
void buffersToTape(benchmark::State& state) {
    const TrainingRecords records(1'000'000);
    double bytes = 0;
    for (auto _ : state) {
        const std::string folder = freshFolder();
        {
            const std::unique_ptr<Sink> sink = std::move(shardSink({folder, INT64_MAX})()).value();
            ClockMap clock;
            clock.sample();
            Decoder decoder(abi::kNewestTested, clock, *sink, {});
            decode(records, decoder, *sink, true);
            sink->close();
        }
        state.PauseTiming();
        bytes = 0;
        for (const auto& file : std::filesystem::directory_iterator(folder))
            bytes += static_cast<double>(file.file_size());
        std::filesystem::remove_all(folder);
        state.ResumeTiming();
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(records.size()));
    state.counters["bytes/record"] = bytes / static_cast<double>(records.size());
}
BENCHMARK(buffersToTape)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(2);

/// Until it is known that there is no driver.
void answerNoDriver(benchmark::State& state) {
    for (auto _ : state) {
        const Library library = loadLibrary();
        if (library.state != State::NoDriver) {
            state.SkipWithError("this machine has a driver");
            break;
        }
    }
}
BENCHMARK(answerNoDriver)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
