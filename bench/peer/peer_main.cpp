// SPDX-License-Identifier: Apache-2.0
// Runs named pieces of work on Tapescope's engine and prints one line of JSON each: median seconds
// of the repetitions and the process's peak memory. compare.py runs it beside PyTorch.
#include "bench/peer/peer_case.h"
#include "engine/observe/context.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <sys/resource.h>

namespace tapescope::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds(Clock::time_point since) {
    return std::chrono::duration<double>(Clock::now() - since).count();
}

void measure(const PeerCase& work, double budget) {
    engine::Context context;
    const engine::ContextScope scope(context);
    context.generator().manual_seed(1);
    const std::function<void()> call = work.make();
    call();
    // So many calls a repetition that reading the clock is nothing.
    std::int64_t calls = 1;
    for (;; calls *= 2) {
        const Clock::time_point start = Clock::now();
        for (std::int64_t i = 0; i < calls; ++i) call();
        if (seconds(start) > 0.002 || calls > (1 << 24)) break;
    }
    std::vector<double> times;
    const Clock::time_point begin = Clock::now();
    while (times.size() < 5 || (seconds(begin) < budget && times.size() < 201)) {
        const Clock::time_point start = Clock::now();
        for (std::int64_t i = 0; i < calls; ++i) call();
        times.push_back(seconds(start) / static_cast<double>(calls));
    }
    std::sort(times.begin(), times.end());
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::printf("{\"case\":\"%s\",\"seconds\":%.9g,\"best\":%.9g,\"work\":%.9g,\"peak_kb\":%ld}\n",
                work.name.c_str(), times[times.size() / 2], times.front(), work.work,
                usage.ru_maxrss);
    std::fflush(stdout);
}

int main(int argc, char** argv) {
    double budget = 1;
    std::vector<std::string_view> wanted;
    bool list = false;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (word == "--seconds" && i + 1 < argc) {
            budget = std::atof(argv[++i]);
        } else if (word == "--list") {
            list = true;
        } else if (word.substr(0, 2) == "--") {
            std::fputs(
                "usage: peer_bench [--list] [--seconds S] [CASE...]; threads: OMP_NUM_THREADS\n",
                stderr);
            return 2;
        } else {
            wanted.push_back(word);
        }
    }
    std::vector<PeerCase> all = overheadCases();
    for (const auto& more : {operatorCases(), trainingCases()})
        all.insert(all.end(), more.begin(), more.end());
    for (const std::string_view name : wanted) {
        if (std::none_of(all.begin(), all.end(),
                         [&](const PeerCase& c) { return c.name == name; })) {
            std::fprintf(stderr, "peer_bench: there is no case %s; see --list\n",
                         std::string(name).c_str());
            return 2;
        }
    }
    for (const PeerCase& work : all) {
        if (list) {
            std::puts(work.name.c_str());
        } else if (wanted.empty() ||
                   std::find(wanted.begin(), wanted.end(), work.name) != wanted.end()) {
            measure(work, budget);
        }
    }
    return 0;
}

}  // namespace
}  // namespace tapescope::bench

int main(int argc, char** argv) { return tapescope::bench::main(argc, argv); }
