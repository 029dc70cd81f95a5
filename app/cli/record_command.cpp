// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"
#include "app/runner/environment.h"
#include "engine/text.h"
#include "profiler/record/injection.h"
#include "profiler/record/recording.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <unistd.h>

namespace tapescope::app {
namespace {

namespace record = profiler::record;

const std::array kOptions{
    OptionDef{"-o", "F", "the tape; default: the program's name, time and process id"},
    OptionDef{"--force", "", "replace F if it exists"},
    OptionDef{"--counters", "", "also utilisation, memory, power, clock, temperature (NVML)"},
    OptionDef{"--allocator-history", "", "also what PyTorch's CUDA allocator does"},
    OptionDef{"--filter", "KINDS", "add or leave out kinds of record: -runtime,+driver"}};

constexpr std::array kKinds = {"runtime", "driver",   "memory",   "sync",
                               "nvtx",    "external", "overhead", "graph-level"};

/// "-runtime,+driver", checked; "driver" means "+driver".
std::string kindsOf(const std::string& text) {
    const std::vector<std::string> names(kKinds.begin(), kKinds.end());
    std::string out;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t comma = std::min(text.find(',', at), text.size());
        std::string one = text.substr(at, comma - at);
        at = comma + 1;
        const bool sign = !one.empty() && (one[0] == '+' || one[0] == '-');
        const std::string name = sign ? one.substr(1) : one;
        if (std::find(names.begin(), names.end(), name) == names.end()) {
            std::string all;
            for (const std::string& n : names) all += (all.empty() ? "" : ", ") + n;
            throw CommandLineError("tapescope record: --filter knows no kind \"" + name + "\"" +
                                   engine::didYouMean(name, names) + " (kinds: " + all + ")");
        }
        out += (out.empty() ? "" : ",") + (sign ? one : "+" + one);
    }
    return out;
}

std::string defaultOutput(const std::string& program) {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    std::array<char, 32> text{};
    (void)std::strftime(text.data(), text.size(), "-%Y%m%d-%H%M%S-", &local);
    // The pid: two that start in one second get a tape each.
    return std::filesystem::path(program).filename().string() + text.data() +
           std::to_string(getpid()) + ".tape";
}

void say(const std::string& text) {
    std::fprintf(stderr, "tapescope record: %s\n", text.c_str());
    std::fflush(stderr);
}

int run(const Arguments& args, const std::string& commandLine) {
    record::RecordOptions options;
    options.command = args.positionals();
    if (options.command.front().empty())
        throw CommandLineError("tapescope record: the program's name is empty");
    options.output = args.value("-o").value_or(defaultOutput(options.command.front()));
    if (options.output.empty())
        throw CommandLineError("tapescope record: -o takes a file's name, not an empty text");
    options.overwrite = args.has("--force");
    options.counters = args.has("--counters");
    options.allocatorHistory = args.has("--allocator-history");
    if (const auto filter = args.value("--filter")) options.kinds = kindsOf(*filter);
    options.commandLine = commandLine;
    options.environment = describeEnvironment();
    options.say = say;

    const std::string here = record::programFolder();
    const record::Found library = record::findInjectionLibrary(here);
    if (library.path.empty()) say(library.problem + "; recording without GPU tracing");
    options.injectionLibrary = library.path;
    if (options.allocatorHistory) {
        const record::Found hook = record::findPythonHook(here);
        if (hook.path.empty()) {
            say(hook.problem);
            return 1;
        }
        options.pythonHook = hook.path;
    }
    const auto result = record::recordProgram(options);
    if (!result.ok()) {
        say(result.status().message());
        return 1;
    }
    if (result->startError != 0) {
        const std::string& program = options.command.front();
        if (result->startError == ENOENT) {
            say("there is no program \"" + program + "\": check its name and PATH");
            return 127;
        }
        say("\"" + program + "\" cannot be run (" + std::strerror(result->startError) + ")");
        return 126;
    }
    if (result->ending.signal != 0) record::endAs(result->ending);
    return result->ending.exitCode;
}

}  // namespace

const Command& recordCommand() {
    static const Command command{"record",
                                 "[OPTIONS] [--] PROGRAM [ARGUMENTS]",
                                 "run a program and record what its CUDA processes do",
                                 kOptions,
                                 1,
                                 SIZE_MAX,
                                 run,
                                 true};
    return command;
}

}  // namespace tapescope::app
