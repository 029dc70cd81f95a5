// SPDX-License-Identifier: Apache-2.0
// What recording and reading a tape costs. Run: build/release/bin/tape_bench
#include "engine/observe/context.h"
#include "engine/ops/op_def.h"
#include "profiler/recorder/recorder.h"
#include "storage/tape/reader.h"
#include "storage/tape/writer.h"

#include <benchmark/benchmark.h>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <stdexcept>
#include <thread>
#include <unistd.h>

namespace {

using namespace tapescope;
using storage::OpEvent;
using storage::TapeReader;
using storage::TapeWriter;

std::string freshPath(const char* name) {
    const auto path = std::filesystem::temp_directory_path() /
                      ("tapescope-bench-" + std::to_string(getpid()) + "-" + name + ".tape");
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path.string() + suffix);
    return path.string();
}
void removeTape(const std::string& path) {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path + suffix);
}

template <class T>
T must(storage::Result<T> result) {
    if (!result.ok()) throw std::runtime_error(result.status().message());
    return std::move(result).value();
}
void must(const storage::Status& status) {
    if (!status.ok()) throw std::runtime_error(status.message());
}

/// Events as a training run makes them: steps of 100 operators, jittered times, two lanes.
std::vector<OpEvent> trainingEvents(std::size_t count) {
    std::mt19937_64 random(42);
    std::vector<OpEvent> out(count);
    std::int64_t time = 0;
    for (std::size_t i = 0; i < count; ++i) {
        OpEvent& e = out[i];
        const auto seq = static_cast<std::uint32_t>(i % 100);
        time += 200 + static_cast<std::int64_t>(random() % 2048);
        e.startNs = time;
        e.durationNs = 1000 + 400 * seq + static_cast<std::int64_t>(random() % 1024);
        time += e.durationNs;
        e.opId = i + 1;
        e.parentId = seq >= 50 ? i + 1 - (2 * (seq - 50) + 1) : 0;
        e.step = static_cast<std::int64_t>(i / 100);
        e.flops = 1e4 * seq;
        e.bytes = 4096 * seq;
        e.name = 1 + seq % 23;
        e.module = seq % 9;
        e.site = 1 + seq % 31;
        e.lane = 1;
        e.seq = seq;
        e.phase = seq < 50 ? storage::Phase::Forward : storage::Phase::Backward;
        e.depth = static_cast<std::uint8_t>(2 + seq % 3);
    }
    return out;
}

/// The producer's side only: what a model's thread pays for a scalar.
void scalarEnqueue(benchmark::State& state) {
    const std::string path = freshPath("enqueue");
    {
        const auto writer = must(TapeWriter::create(path, {}));
        const storage::TagId tag = writer->tag("train/loss", storage::TagKind::Scalar);
        std::int64_t i = 0;
        for (auto _ : state) {
            writer->scalar(tag,
                           {i, 0.5 * static_cast<double>(i), 1.0 / static_cast<double>(1 + i)});
            ++i;
        }
        must(writer->flush());
        state.SetItemsProcessed(state.iterations());
    }
    removeTape(path);
}
BENCHMARK(scalarEnqueue)->Iterations(1'000'000)->UseRealTime()->MeasureProcessCPUTime();

/// Everything, to the last commit: 50 tags, a million points.
void scalarWrite(benchmark::State& state) {
    constexpr std::int64_t kPoints = 1'000'000;
    for (auto _ : state) {
        const std::string path = freshPath("scalars");
        {
            const auto writer = must(TapeWriter::create(path, {}));
            std::vector<storage::TagId> tags;
            for (int t = 0; t < 50; ++t) {
                tags.push_back(writer->tag("tag " + std::to_string(t), storage::TagKind::Scalar));
            }
            for (std::int64_t i = 0; i < kPoints; ++i) {
                writer->scalar(tags[static_cast<std::size_t>(i % 50)],
                               {i / 50, 1.7e9 + 0.002 * static_cast<double>(i),
                                1.0 / static_cast<double>(1 + i)});
            }
            must(writer->seal(storage::RunOutcome::Finished));
        }
        state.counters["bytes/point"] =
            static_cast<double>(std::filesystem::file_size(path)) / static_cast<double>(kPoints);
        removeTape(path);
    }
    state.SetItemsProcessed(state.iterations() * kPoints);
}
BENCHMARK(scalarWrite)->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();

constexpr std::size_t kEvents = 2'000'000;

void writeEvents(const std::string& path, const std::vector<OpEvent>& events) {
    // A backlog that holds them all: nothing is dropped, the writer works at its own pace.
    const auto writer =
        must(TapeWriter::create(path, {}, {.maxBacklogBytes = std::size_t{1} << 30U}));
    for (std::size_t i = 0; i < events.size(); i += 4096) {
        const auto first = events.begin() + static_cast<std::ptrdiff_t>(i);
        const auto last =
            events.begin() + static_cast<std::ptrdiff_t>(std::min(i + 4096, events.size()));
        writer->opEvents({first, last});
    }
    must(writer->seal(storage::RunOutcome::Finished));
}

void eventWrite(benchmark::State& state) {
    const auto events = trainingEvents(kEvents);
    const std::string path = freshPath("events");
    for (auto _ : state) {
        removeTape(path);
        writeEvents(path, events);
    }
    state.counters["bytes/event"] =
        static_cast<double>(std::filesystem::file_size(path)) / static_cast<double>(kEvents);
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kEvents));
    removeTape(path);
}
BENCHMARK(eventWrite)->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();

void eventRead(benchmark::State& state) {
    const std::string path = freshPath("read");
    writeEvents(path, trainingEvents(kEvents));
    for (auto _ : state) {
        const auto reader = must(TapeReader::open(path));
        if (must(reader->opEvents()).events.size() != kEvents)
            throw std::runtime_error("events are missing");
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kEvents));
    removeTape(path);
}
BENCHMARK(eventRead)->Unit(benchmark::kMillisecond);

void scalarRead(benchmark::State& state) {
    constexpr std::int64_t kPoints = 1'000'000;
    const std::string path = freshPath("scalar-read");
    {
        const auto writer = must(TapeWriter::create(path, {}));
        const storage::TagId tag = writer->tag("t", storage::TagKind::Scalar);
        for (std::int64_t i = 0; i < kPoints; ++i)
            writer->scalar(tag, {i, 0.5 * static_cast<double>(i), 1.25});
        must(writer->seal(storage::RunOutcome::Finished));
    }
    const auto reader = must(TapeReader::open(path));
    const bool summaries = state.range(0) != 0;
    for (auto _ : state) {
        if (summaries) {
            benchmark::DoNotOptimize(must(reader->scalarSummaries(storage::TagId{1})));
        } else {
            benchmark::DoNotOptimize(must(reader->scalars(storage::TagId{1})));
        }
    }
    state.SetItemsProcessed(state.iterations() * kPoints);
    removeTape(path);
}
BENCHMARK(scalarRead)->Arg(0)->Arg(1)->ArgName("summaries")->Unit(benchmark::kMillisecond);

/// A view that polls while a run writes 20,000 points and 200,000 events a second; no change and
/// some change in turn.
void tailPoll(benchmark::State& state) {
    const std::string path = freshPath("tail");
    {
        const auto writer = must(TapeWriter::create(path, {}));
        const storage::TagId tag = writer->tag("t", storage::TagKind::Scalar);
        must(writer->flush());
        const auto events = trainingEvents(2000);
        const std::jthread run([&](const std::stop_token& stop) {
            auto next = std::chrono::steady_clock::now();
            for (std::int64_t i = 0; !stop.stop_requested(); ++i) {
                for (int k = 0; k < 200; ++k) writer->scalar(tag, {200 * i + k, 0, 1});
                writer->opEvents(events);
                std::this_thread::sleep_until(next += std::chrono::milliseconds(10));
            }
        });
        const auto reader = must(TapeReader::open(path));
        std::int64_t seen = 0;
        std::int64_t cursor = 0;
        for (auto _ : state) {
            if (!reader->changed()) continue;
            seen += static_cast<std::int64_t>(must(reader->scalars(tag, seen)).size());
            cursor = must(reader->opEvents(cursor)).cursor;
        }
        state.counters["events/s"] =
            benchmark::Counter(static_cast<double>(cursor), benchmark::Counter::kIsRate);
    }
    removeTape(path);
}
BENCHMARK(tailPoll)->Unit(benchmark::kMicrosecond)->MinTime(2)->UseRealTime();

/// The recorder's own cost for one operator (begin and end), graph included, as the model's thread
/// pays it.
void recorderOperator(benchmark::State& state) {
    using namespace tapescope::engine;
    const std::string path = freshPath("recorder");
    {
        const auto writer = must(TapeWriter::create(path, {}));
        profiler::RecorderOptions options;
        options.graphs = state.range(0) != 0;
        profiler::Recorder recorder(*writer, options);
        const OpDef* op = OpTable::instance().find("add");
        if (op == nullptr) throw std::runtime_error("no operator add");
        const Tensor a = Tensor::empty({64, 32});
        const Tensor b = Tensor::empty({64, 32});
        const Tensor* inputs[] = {&a, &b};
        const Attrs attrs;
        OpCall call;
        call.op = op;
        call.inputs = inputs;
        call.attrs = &attrs;
        call.site = Site{"bench.cpp", "f", 1};
        call.phase = Phase::Forward;
        std::int64_t step = 0;
        recorder.onStepBegin(step);
        for (auto _ : state) {
            ++call.id;
            recorder.onOpBegin(call);
            call.outputs = {&a, 1};
            call.startNs = call.endNs;
            call.endNs += 1000;
            recorder.onOpEnd(call);
            call.outputs = {};
            if (call.id % 100 == 0) {
                recorder.onStepEnd(step++);
                recorder.onStepBegin(step);
            }
        }
        recorder.finish();
        std::int64_t lost = 0;
        must(writer->flush());
        for (const auto& loss : must(must(TapeReader::open(path))->losses())) lost += loss.count;
        state.counters["lost"] = static_cast<double>(lost);
    }
    removeTape(path);
}
BENCHMARK(recorderOperator)->Arg(0)->Arg(1)->ArgName("graphs")->Iterations(500'000);

}  // namespace

BENCHMARK_MAIN();
