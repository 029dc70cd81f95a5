// SPDX-License-Identifier: Apache-2.0
#include "app/cli/arguments.h"

#include "engine/text.h"

#include <algorithm>
#include <charconv>

namespace tapescope::app {
namespace {

const OptionDef& findOption(std::string_view command, std::string_view name,
                            std::span<const OptionDef> options) {
    const auto it = std::find_if(options.begin(), options.end(),
                                 [&](const OptionDef& o) { return o.name == name; });
    if (it != options.end()) return *it;
    std::vector<std::string> names;
    for (const OptionDef& o : options) names.push_back(o.name);
    throw CommandLineError("tapescope " + std::string(command) + ": unknown option " +
                           std::string(name) + engine::didYouMean(name, names));
}

}  // namespace

Arguments Arguments::parse(std::string_view command, std::span<const std::string> words,
                           std::span<const OptionDef> options, std::size_t minPositionals,
                           std::size_t maxPositionals, std::string_view positionalHelp) {
    Arguments args;
    args.m_command = command;
    bool onlyPositionals = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (onlyPositionals || word.size() < 2 || word[0] != '-') {
            args.m_positionals.push_back(word);
            continue;
        }
        if (word == "--") {
            onlyPositionals = true;
            continue;
        }
        const std::size_t equals = word.find('=');
        const std::string name = word.substr(0, equals);
        const OptionDef& option = findOption(command, name, options);
        if (!option.repeatable && args.has(name)) {
            throw CommandLineError("tapescope " + args.m_command + ": " + name + " is given twice");
        }
        if (option.value.empty()) {
            if (equals != std::string::npos) {
                throw CommandLineError("tapescope " + args.m_command + ": " + name +
                                       " takes no value");
            }
            args.m_options.emplace_back(name, "");
        } else if (equals != std::string::npos) {
            args.m_options.emplace_back(name, word.substr(equals + 1));
        } else if (i + 1 < words.size() && !words[i + 1].starts_with("--")) {
            args.m_options.emplace_back(name, words[++i]);
        } else {
            throw CommandLineError("tapescope " + args.m_command + ": " + name +
                                   " needs a value: " + name + " " + option.value);
        }
    }
    if (args.m_positionals.size() < minPositionals) {
        throw CommandLineError("tapescope " + args.m_command + ": " + std::string(positionalHelp) +
                               " is missing");
    }
    if (args.m_positionals.size() > maxPositionals) {
        throw CommandLineError("tapescope " + args.m_command + ": unexpected argument " +
                               args.m_positionals[maxPositionals]);
    }
    return args;
}

bool Arguments::has(std::string_view name) const {
    return std::any_of(m_options.begin(), m_options.end(),
                       [&](const auto& o) { return o.first == name; });
}

std::optional<std::string> Arguments::value(std::string_view name) const {
    for (const auto& [option, text] : m_options) {
        if (option == name) return text;
    }
    return std::nullopt;
}

std::vector<std::string> Arguments::values(std::string_view name) const {
    std::vector<std::string> out;
    for (const auto& [option, text] : m_options) {
        if (option == name) out.push_back(text);
    }
    return out;
}

std::optional<std::int64_t> Arguments::integer(std::string_view name, std::int64_t low,
                                               std::int64_t high) const {
    const std::optional<std::string> text = value(name);
    if (!text) return std::nullopt;
    std::int64_t number = 0;
    const char* end = text->data() + text->size();
    const auto [at, error] = std::from_chars(text->data(), end, number);
    if (error != std::errc() || at != end || number < low || number > high) {
        throw CommandLineError("tapescope " + m_command + ": " + std::string(name) +
                               " takes a whole number from " + std::to_string(low) + " to " +
                               std::to_string(high) + ", not \"" + *text + "\"");
    }
    return number;
}

}  // namespace tapescope::app
