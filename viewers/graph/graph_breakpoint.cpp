// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/graph/graph_breakpoint.h"

#include <string_view>

namespace tapescope::viewers {

namespace {

constexpr std::string_view kBackward = "backward:";

/// * stands for any text, ? for one character.
bool matches(std::string_view pattern, std::string_view text) {
    std::size_t p = 0;
    std::size_t t = 0;
    std::size_t star = std::string_view::npos;
    std::size_t resume = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

}  // namespace

std::string breakpointName(const GraphPlace& place) {
    std::string name(place.backward ? kBackward : "");
    name += place.module;
    if (!place.module.empty() && !place.op.empty()) name += ": ";
    return name + place.op;
}

PlaceMatch matchBreakpoint(const std::string& name, const GraphPlace& place) {
    std::string_view rest = trimmed(name);
    const bool backward = rest.starts_with(kBackward);
    if (backward) rest = trimmed(rest.substr(kBackward.size()));
    if (rest.empty() || backward != place.backward) return PlaceMatch::None;
    const std::size_t colon = rest.find(':');
    if (colon != std::string_view::npos) {
        const std::string_view module = trimmed(rest.substr(0, colon));
        const std::string_view op = trimmed(rest.substr(colon + 1));
        if (place.op.empty() || !matches(module, place.module) || !matches(op, place.op)) {
            return PlaceMatch::None;
        }
        return module == place.module && op == place.op ? PlaceMatch::Exact : PlaceMatch::Pattern;
    }
    if (place.op.empty()) {
        return !place.module.empty() && rest == place.module ? PlaceMatch::Exact : PlaceMatch::None;
    }
    if (!matches(rest, place.op)) return PlaceMatch::None;
    return place.module.empty() && rest == place.op ? PlaceMatch::Exact : PlaceMatch::Pattern;
}

}  // namespace tapescope::viewers
