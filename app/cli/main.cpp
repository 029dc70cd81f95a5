// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"
#include "app/cli/terminal_text.h"
#include "app/runner/wait_policy.h"
#include "engine/errors.h"
#include "engine/text.h"
#include "plugins/api/model.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

namespace tapescope::app {
namespace {

using Table = std::array<const Command*, 7>;

const Table& commands() {
    static const Table table{&runCommand(),    &modelsCommand(), &recordCommand(), &joinCommand(),
                             &reportCommand(), &dapCommand(),    &doctorCommand()};
    return table;
}

void printOptions(const Command& command, std::FILE* out) {
    for (const OptionDef& option : command.options) {
        const std::string left =
            option.value.empty() ? option.name : option.name + " " + option.value;
        std::fprintf(out, "      %-20s %s\n", left.c_str(), option.help.c_str());
    }
}

void printHelp(std::FILE* out) {
    std::fputs(
        "tapescope shows what a deep-learning model does while it does it.\n\n"
        "usage: tapescope COMMAND [ARGUMENTS]\n\n",
        out);
    for (const Command* command : commands()) {
        const std::string head = std::string(command->name) + " " + std::string(command->arguments);
        std::fprintf(out, "  %-24s %s\n", head.c_str(), std::string(command->summary).c_str());
        printOptions(*command, out);
    }
    std::fputs(
        "\n  tapescope --version      print the version\n"
        "  tapescope --help         print this text\n\n"
        "The window is the program tapescope-workbench.\n"
        "Exit status: 0 done; 1 it failed, the reason is on stderr; 2 the command line is wrong;\n"
        "130 stopped by Ctrl-C (the tape is complete up to there). `record` ends as its program "
        "does;\n127 there is no such program, 126 it cannot be run.\n",
        out);
}

/// Puts "--" before the first positional, so that what follows is the program's.
void separateProgram(std::vector<std::string>& words, std::span<const OptionDef> options) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == "--") return;
        if (words[i].size() < 2 || words[i][0] != '-') {
            words.insert(words.begin() + static_cast<std::ptrdiff_t>(i), "--");
            return;
        }
        for (const OptionDef& option : options) {
            if (option.name != words[i] || option.value.empty()) continue;
            ++i;                                                          // its value
            if (i >= words.size() || words[i].starts_with("--")) return;  // which is missing
            break;
        }
    }
}

int dispatch(const std::vector<std::string>& words, const std::string& commandLine) {
    if (words.empty()) {
        printHelp(stderr);
        return 2;
    }
    const std::string& name = words[0];
    if (name == "--help" || name == "-h" || name == "help") {
        printHelp(stdout);
        return 0;
    }
    if (name == "--version" || name == "-V") {
        std::puts("tapescope " TAPESCOPE_VERSION);
        return 0;
    }
    std::vector<std::string> names;
    for (const Command* command : commands()) {
        names.emplace_back(command->name);
        if (command->name != name) continue;
        std::vector<std::string> rest(words.begin() + 1, words.end());
        if (command->takesProgram) separateProgram(rest, command->options);
        for (const std::string& word : rest) {
            if (word == "--") break;
            if (word != "--help" && word != "-h") continue;
            std::printf("usage: tapescope %s %s\n\n%s\n", name.c_str(),
                        std::string(command->arguments).c_str(),
                        std::string(command->summary).c_str());
            printOptions(*command, stdout);
            return 0;
        }
        return command->run(
            Arguments::parse(command->name, rest, command->options, command->minPositionals,
                             command->maxPositionals, command->arguments),
            commandLine);
    }
    throw CommandLineError("tapescope: unknown command " + name + engine::didYouMean(name, names));
}

int main(int argc, char** argv) {
    std::string commandLine = "tapescope";
    std::vector<std::string> words(argv + 1, argv + argc);
    for (const std::string& word : words) commandLine += " " + word;
    try {
        return dispatch(words, commandLine);
    } catch (const CommandLineError& e) {
        const bool known = !words.empty() && std::any_of(commands().begin(), commands().end(),
                                                         [&](const Command* command) {
                                                             return command->name == words[0];
                                                         });
        std::fprintf(stderr, "%s\nTry tapescope %s--help.\n", printable(e.what()).c_str(),
                     known ? (words[0] + " ").c_str() : "");
        return 2;
    } catch (const plugins::UsageError& e) {
        std::fprintf(stderr, "tapescope: %s\n", e.what());
        return 2;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "tapescope: %s\n", e.what());
        return 1;
    }
}

}  // namespace
}  // namespace tapescope::app

int main(int argc, char** argv) {
    // A recorded program must find its environment as it was.
    if (argc < 2 || std::strcmp(argv[1], "record") != 0) tapescope::app::waitPassively(argv);
    const int status = tapescope::app::main(argc, argv);
    // What was printed may have gone to a full disk: the buffer tells only when it is emptied.
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    std::fprintf(stderr, "tapescope: the output could not be written (%s)\n", std::strerror(errno));
    return status != 0 ? status : 1;
}
