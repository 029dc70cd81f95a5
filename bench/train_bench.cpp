// SPDX-License-Identifier: Apache-2.0
// A training step of digits-cnn, watched by nobody and by the recorder. Compare rows of one run
// only: absolute times depend on the machine's load.
#include "app/runner/training_run.h"
#include "app/runner/wait_policy.h"

#include <algorithm>
#include <benchmark/benchmark.h>
#include <chrono>
#include <filesystem>
#include <string>
#include <unistd.h>
#include <vector>

namespace tapescope::app {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::int64_t kSteps = 120;
constexpr std::int64_t kWarmUp = 10;

enum Watch : std::int64_t { kNobody, kRecorder, kRecorderWithoutMemory };

/// Seconds of every step behind the warm-up, without the ones that validation followed.
std::vector<double> stepTimes(const RunOptions& options) {
    std::vector<double> times;
    Clock::time_point start;
    bool validated = false;
    RunHooks hooks;
    hooks.beforeStep = [&](std::int64_t) { start = Clock::now(); };
    hooks.onText = [&](std::string_view) { validated = true; };
    hooks.onProgress = [&](const RunProgress& p) {
        const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        if (p.step > kWarmUp && !validated) times.push_back(seconds);
        validated = false;
    };
    const RunResult result = TrainingRun(builtinModels(), options).run(hooks);
    if (!result.ok()) times.clear();
    return times;
}

void digitsCnnStep(benchmark::State& state) {
    RunOptions options;
    options.model = "digits-cnn";
    options.steps = kSteps;
    options.histogramEvery = kSteps;  // histograms have their own cost
    if (state.range(0) != kNobody) {
        options.tape = (std::filesystem::temp_directory_path() /
                        ("train-bench-" + std::to_string(getpid()) + ".tape"))
                           .string();
        options.overwrite = true;
        options.record.memoryEvents = state.range(0) == kRecorder;
    }
    std::vector<double> all;
    for (auto _ : state) {
        std::vector<double> times = stepTimes(options);
        if (times.empty()) {
            state.SkipWithError("the run failed");
            return;
        }
        std::nth_element(times.begin(),
                         times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2),
                         times.end());
        state.SetIterationTime(times[times.size() / 2]);
        all.insert(all.end(), times.begin(), times.end());
    }
    state.counters["fastest_ms"] = *std::min_element(all.begin(), all.end()) * 1e3;
    if (options.tape) std::filesystem::remove(*options.tape);
}

BENCHMARK(digitsCnnStep)
    ->ArgName("recorder")
    ->Arg(kNobody)
    ->Arg(kRecorder)
    ->Arg(kRecorderWithoutMemory)
    ->UseManualTime()
    ->Iterations(3)
    ->Repetitions(5)
    ->ReportAggregatesOnly()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tapescope::app

int main(int argc, char** argv) {
    tapescope::app::waitPassively(argv);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
