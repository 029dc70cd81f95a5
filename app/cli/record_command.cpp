// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"
#include "app/cli/terminal_text.h"
#include "app/runner/environment.h"
#include "engine/text.h"
#include "profiler/record/injection.h"
#include "profiler/record/recording.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace tapescope::app {
namespace {

namespace record = profiler::record;

const std::array kOptions{
    OptionDef{"-o", "F", "the tape; default: the program's name, time and process id"},
    OptionDef{"--force", "", "replace F if it exists"},
    OptionDef{"--counters", "", "also utilisation, memory, power, clock, temperature (NVML)"},
    OptionDef{"--allocator-history", "", "also what PyTorch's CUDA allocator does"},
    OptionDef{"--filter", "KINDS",
              "add (+, or no sign) or leave out (-) kinds of record: -runtime,+driver. On: "
              "runtime, memory, sync, nvtx, external, overhead; off: driver (all driver calls), "
              "graph-level"}};

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

/// Each line behind our name, so that it can be told from the program's.
void say(const std::string& text) {
    const std::string clean = printable(text);
    std::string all;
    for (std::size_t at = 0; at <= clean.size();) {
        const std::size_t end = std::min(clean.find('\n', at), clean.size());
        all += "tapescope record: " + clean.substr(at, end - at) + "\n";
        at = end + 1;
    }
    std::fputs(all.c_str(), stderr);
    std::fflush(stderr);
}

/// The file that a shell would run as `program`, or "".
std::string fileOf(const std::string& program) {
    if (program.find('/') != std::string::npos)
        return access(program.c_str(), F_OK) == 0 ? program : "";
    const char* path = std::getenv("PATH");
    const std::string folders = path != nullptr ? path : "/bin:/usr/bin";
    for (std::size_t at = 0; at <= folders.size();) {
        const std::size_t end = std::min(folders.find(':', at), folders.size());
        const std::string folder = folders.substr(at, end - at);
        const std::string file = (folder.empty() ? "." : folder) + "/" + program;
        if (access(file.c_str(), X_OK) == 0) return file;
        at = end + 1;
    }
    return "";
}

/// Why a program that is there "does not exist": what it needs to run does not.
std::string missingPart(const std::string& file) {
    constexpr std::size_t kLongestLine = 256;
    std::ifstream in(file, std::ios::binary);
    std::string line(kLongestLine, '\0');
    in.read(line.data(), kLongestLine);
    line.resize(static_cast<std::size_t>(in.gcount()));
    line = line.substr(0, line.find('\n'));
    if (line.substr(0, 2) != "#!") return "the loader that it names is missing";
    const std::size_t begin = line.find_first_not_of(" \t", 2);
    if (begin == std::string::npos) return "its first line names no interpreter";
    const std::size_t end = line.find_first_of(" \t\r", begin);
    return "its interpreter \"" + line.substr(begin, end - begin) + "\" is missing" +
           (line.ends_with('\r') ? " (its lines end with CR LF)" : "");
}

int run(const Arguments& args, const std::string& commandLine) {
    record::RecordOptions options;
    options.command = args.positionals();
    if (options.command.empty()) throw CommandLineError("tapescope record: no program is given");
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
        if (const std::string file = fileOf(program);
            result->startError == ENOENT && !file.empty()) {
            say("\"" + program + "\" cannot be run: " + missingPart(file));
            return 126;
        }
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
                                 0,
                                 SIZE_MAX,
                                 run,
                                 true};
    return command;
}

}  // namespace tapescope::app
