// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/arguments.h"

#include <span>
#include <string>

namespace tapescope::app {

/// One subcommand: what `tapescope --help` lists, its options, and what runs.
struct Command {
    std::string_view name;
    std::string_view arguments;  ///< "MODEL"
    std::string_view summary;
    std::span<const OptionDef> options;
    std::size_t minPositionals = 0;
    std::size_t maxPositionals = 0;
    /// Exit status: 0, or 1 with the reason on stderr. Throws CommandLineError /
    /// plugins::UsageError for 2.
    int (*run)(const Arguments& args, const std::string& commandLine);
    /// The positionals are a program and its arguments: options after the first are the program's.
    bool takesProgram = false;
};

const Command& runCommand();
const Command& modelsCommand();
const Command& recordCommand();
const Command& joinCommand();
const Command& reportCommand();
const Command& dapCommand();
const Command& doctorCommand();

}  // namespace tapescope::app
