// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tapescope::app {

/// The user's command line cannot be meant: what() says what and what would be right. Exit
/// status 2.
class CommandLineError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct OptionDef {
    std::string name;   ///< "--steps"
    std::string value;  ///< "N"; empty for a switch
    std::string help;
    bool repeatable = false;
};

/// One subcommand's arguments, checked against its options.
class Arguments {
public:
    /// Throws CommandLineError: an unknown option (with the nearest), a missing value, too many or
    /// too few positionals.
    static Arguments parse(std::string_view command, std::span<const std::string> words,
                           std::span<const OptionDef> options, std::size_t minPositionals,
                           std::size_t maxPositionals, std::string_view positionalHelp);

    const std::vector<std::string>& positionals() const { return m_positionals; }
    bool has(std::string_view name) const;
    std::optional<std::string> value(std::string_view name) const;
    std::vector<std::string> values(std::string_view name) const;
    /// Throws CommandLineError unless the value is a whole number in [low, high].
    std::optional<std::int64_t> integer(std::string_view name, std::int64_t low,
                                        std::int64_t high) const;

private:
    std::string m_command;
    std::vector<std::string> m_positionals;
    std::vector<std::pair<std::string, std::string>> m_options;
};

}  // namespace tapescope::app
