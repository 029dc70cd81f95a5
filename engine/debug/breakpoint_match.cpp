// SPDX-License-Identifier: Apache-2.0
#include "engine/debug/breakpoint_match.h"

#include <utility>

namespace tapescope::engine::debug {

bool globMatch(std::string_view pattern, std::string_view text) noexcept {
    // Greedy with one point to return to: the last '*' seen, and how much of text it has taken.
    std::size_t p = 0;
    std::size_t t = 0;
    std::size_t star = std::string_view::npos;
    std::size_t taken = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            taken = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++taken;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

bool samePath(std::string_view a, std::string_view b) noexcept {
    if (a.size() < b.size()) std::swap(a, b);
    if (b.empty()) return false;
    const auto slash = [](char c) { return c == '\\' ? '/' : c; };
    const std::size_t offset = a.size() - b.size();
    for (std::size_t i = 0; i < b.size(); ++i) {
        if (slash(a[offset + i]) != slash(b[i])) return false;
    }
    return offset == 0 || slash(b[0]) == '/' || slash(a[offset - 1]) == '/';
}

namespace {

void collectPaths(const nn::Module& module, std::vector<std::string>& out) {
    for (const auto& child : module.children()) {
        out.push_back(child->path());
        collectPaths(*child, out);
    }
}

}  // namespace

std::vector<std::string> modulePaths(const nn::Module& root) {
    std::vector<std::string> paths;
    collectPaths(root, paths);
    return paths;
}

namespace {

bool matchesOpInModule(const Breakpoint& breakpoint, std::string_view op,
                       const ModuleFrame* module) {
    if (!breakpoint.op.empty() && !globMatch(breakpoint.op, op)) return false;
    if (breakpoint.module.empty()) return true;
    return globMatch(breakpoint.module,
                     module ? std::string_view(module->path) : std::string_view());
}

}  // namespace

bool matchesOperator(const Breakpoint& breakpoint, std::string_view op, const ModuleFrame* module) {
    return breakpoint.kind == BreakpointKind::Operator && matchesOpInModule(breakpoint, op, module);
}

bool matchesModule(const Breakpoint& breakpoint, const ModuleFrame& module) {
    return breakpoint.kind == BreakpointKind::Module && globMatch(breakpoint.module, module.path);
}

bool matchesBackward(const Breakpoint& breakpoint, std::string_view op, const ModuleFrame* module) {
    return breakpoint.kind == BreakpointKind::Backward && matchesOpInModule(breakpoint, op, module);
}

bool matchesLine(const Breakpoint& breakpoint, const Site& site) {
    return breakpoint.kind == BreakpointKind::Line && site.known() &&
           site.line == breakpoint.line && samePath(breakpoint.file, site.file);
}

}  // namespace tapescope::engine::debug
