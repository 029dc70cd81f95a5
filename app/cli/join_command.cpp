// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"
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
        std::fprintf(stderr, "tapescope join: %s\n", report.status().message().c_str());
        return 1;
    }
    for (const std::string& refused : report->refused)
        std::fprintf(stderr, "tapescope join: left out: %s\n", refused.c_str());
    for (const std::string& note : report->notes)
        std::fprintf(stderr, "tapescope join: %s\n", note.c_str());
    std::printf(
        "%zu files, %zu processes, %lld GPU events, %lld allocator events, %lld counter "
        "samples: %s\n",
        report->joined.size(), report->processes, static_cast<long long>(report->gpuEvents),
        static_cast<long long>(report->allocatorEvents),
        static_cast<long long>(report->counterSamples), output->c_str());
    return report->refused.empty() ? 0 : 1;
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
