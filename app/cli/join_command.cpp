// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"
#include "app/cli/terminal_text.h"
#include "profiler/record/join.h"

#include <array>
#include <cstdio>

namespace tapescope::app {
namespace {

namespace record = profiler::record;

const std::array kOptions{OptionDef{"-o", "F", "the joined tape"},
                          OptionDef{"--force", "", "replace F if it exists"}};

int run(const Arguments& args, const std::string& commandLine) {
    const auto output = args.value("-o");
    if (!output || output->empty())
        throw CommandLineError("tapescope join: -o F is missing: the name of the joined tape");
    record::JoinOptions options;
    options.overwrite = args.has("--force");
    options.command = commandLine;
    const auto report = record::joinTapes(args.positionals(), *output, options);
    if (!report.ok()) {
        std::fprintf(stderr, "tapescope join: %s\n", printable(report.status().message()).c_str());
        return 1;
    }
    for (const std::string& refused : report->refused)
        std::fprintf(stderr, "tapescope join: left out: %s\n", printable(refused).c_str());
    for (const std::string& note : report->notes)
        std::fprintf(stderr, "tapescope join: %s\n", printable(note).c_str());
    const auto count = [](auto n, const char* what) {
        return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
    };
    const std::string processes =
        std::to_string(report->processes) + (report->processes == 1 ? " process" : " processes");
    std::printf("%s, %s used CUDA, %s, %s, %s: %s\n", count(report->joined.size(), "file").c_str(),
                processes.c_str(), count(report->gpuEvents, "GPU event").c_str(),
                count(report->allocatorEvents, "allocator event").c_str(),
                count(report->counterSamples, "counter sample").c_str(),
                printable(*output).c_str());
    return report->refused.empty() && report->damaged == 0 ? 0 : 1;
}

}  // namespace

const Command& joinCommand() {
    static const Command command{"join",
                                 "-o F TAPE|FOLDER...",
                                 "join the tapes of several processes or machines into one",
                                 kOptions,
                                 1,
                                 SIZE_MAX,
                                 run};
    return command;
}

}  // namespace tapescope::app
