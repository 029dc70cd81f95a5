// SPDX-License-Identifier: Apache-2.0
#include "engine/debug/breakpoint_match.h"
#include "engine/errors.h"
#include "engine/text.h"

#include <algorithm>

namespace tapescope::engine::debug {
namespace {

std::string_view trim(std::string_view text) {
    constexpr std::string_view kBlank = " \t\r\n";
    const std::size_t first = text.find_first_not_of(kBlank);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

bool takePrefix(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text = trim(text.substr(prefix.size()));
    return true;
}

std::vector<std::string> operatorNames() {
    std::vector<std::string> names;
    for (const OpDef* op : OpTable::instance().rows()) names.emplace_back(op->name);
    return names;
}

bool anyMatch(std::string_view pattern, const std::vector<std::string>& names) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return globMatch(pattern, name); });
}

[[noreturn]] void refuse(std::string_view text, const std::string& what,
                         const std::string& hint = ".") {
    throw Error("\"" + std::string(text) + "\" " + what + (hint.empty() ? "." : hint));
}

void requireOperator(std::string_view text, std::string_view op,
                     const std::vector<std::string>& operators) {
    if (!anyMatch(op, operators)) refuse(text, "names no operator", didYouMean(op, operators));
}

void requireModule(std::string_view text, std::string_view module, const nn::Module* root) {
    if (!root) return;
    const std::vector<std::string> paths = modulePaths(*root);
    if (!anyMatch(module, paths)) {
        refuse(text, "names no module of the model", didYouMean(module, paths));
    }
}

}  // namespace

Breakpoint Debugger::parseFunction(const std::string& text, const nn::Module* root) {
    Breakpoint breakpoint;
    breakpoint.text = text;
    std::string_view rest = trim(text);
    const bool backward = takePrefix(rest, "backward:");
    breakpoint.kind = backward ? BreakpointKind::Backward : BreakpointKind::Operator;
    const bool moduleMeant = takePrefix(rest, "module:");
    if (rest.empty()) {
        throw Error(
            "A function breakpoint needs an operator, a module or both: conv2d, conv2, conv2: "
            "conv2d.");
    }
    if (moduleMeant) {
        requireModule(text, rest, root);
        breakpoint.module = rest;
        if (!backward) breakpoint.kind = BreakpointKind::Module;
        return breakpoint;
    }

    const std::vector<std::string> operators = operatorNames();
    if (const std::size_t colon = rest.rfind(':'); colon != std::string_view::npos) {
        const std::string_view module = trim(rest.substr(0, colon));
        const std::string_view op = trim(rest.substr(colon + 1));
        if (module.empty() || op.empty() || module.find(':') != std::string_view::npos) {
            refuse(text, "is not of the form \"module: operator\"");
        }
        requireOperator(text, op, operators);
        requireModule(text, module, root);
        breakpoint.module = module;
        breakpoint.op = op;
        return breakpoint;
    }

    if (anyMatch(rest, operators)) {
        breakpoint.op = rest;
        return breakpoint;
    }
    if (root) {
        const std::vector<std::string> paths = modulePaths(*root);
        if (!anyMatch(rest, paths)) {
            std::vector<std::string> candidates = operators;
            candidates.insert(candidates.end(), paths.begin(), paths.end());
            refuse(text, "is neither an operator nor a module of the model",
                   didYouMean(rest, candidates));
        }
    }
    breakpoint.module = rest;
    if (!backward) breakpoint.kind = BreakpointKind::Module;
    return breakpoint;
}

}  // namespace tapescope::engine::debug
