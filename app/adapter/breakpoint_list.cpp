// SPDX-License-Identifier: Apache-2.0
#include "app/adapter/breakpoint_list.h"

#include "engine/errors.h"

#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>

namespace tapescope::app {
namespace {

using engine::debug::Breakpoint;
using engine::debug::BreakpointKind;
using engine::debug::Debugger;

/// "3" or ">= 3": stop from the third hit on.
int ignoreCountOf(const std::string& hitCondition) {
    std::string_view text = hitCondition;
    const auto skipBlanks = [&] {
        while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    };
    skipBlanks();
    if (text.starts_with(">=")) text.remove_prefix(2);
    skipBlanks();
    while (text.ends_with(' ')) text.remove_suffix(1);
    int count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc() || end != text.data() + text.size() || count < 1) {
        throw RequestError("The hit condition \"" + hitCondition +
                           "\" must be a number from 1 on: the first hit that stops.");
    }
    return count - 1;
}

/// What both kinds of breakpoint may carry. Throws RequestError for what the adapter cannot do.
void readConditions(const Json& given, Breakpoint& breakpoint) {
    if (const auto condition = optionalText(given, "condition"); condition && !condition->empty()) {
        throw RequestError("Conditions are not supported: use a hit condition, a number.");
    }
    if (const auto log = optionalText(given, "logMessage"); log && !log->empty()) {
        throw RequestError("Log points are not supported: leave the log message empty.");
    }
    const auto hits = optionalText(given, "hitCondition");
    if (hits && !hits->empty()) breakpoint.ignoreCount = ignoreCountOf(*hits);
}

const Json& objectItem(const Json& item) {
    if (!item.is_object()) throw RequestError("Each entry of \"breakpoints\" must be an object.");
    return item;
}

}  // namespace

void BreakpointList::verify(Item& item) const {
    item.verified = false;
    try {
        const Breakpoint parsed = Debugger::parseFunction(item.breakpoint.text, m_root);
        const bool needsModel = parsed.op.empty() || !parsed.module.empty();
        item.breakpoint.enabled = true;
        if (needsModel && !m_root) {
            item.message = "Not checked yet: the model is not launched.";
        } else {
            item.message.clear();
            item.verified = true;
        }
    } catch (const engine::Error& e) {
        item.breakpoint.enabled = false;
        item.message = e.what();
    }
}

BreakpointList::Item BreakpointList::functionItem(const Json& given) const {
    Item item;
    const std::string name = textArgument(objectItem(given), "name");
    item.breakpoint.text = name;
    item.breakpoint.enabled = false;
    try {
        // Without the model, so that the kind, and with it the id, stays the same once the model is
        // there.
        item.breakpoint = Debugger::parseFunction(name, nullptr);
        readConditions(given, item.breakpoint);
    } catch (const std::runtime_error& e) {
        item.breakpoint.enabled = false;
        item.valid = false;
        item.message = e.what();
        return item;
    }
    verify(item);
    return item;
}

Json BreakpointList::describe(const Item& item) {
    Json out{{"id", item.breakpoint.id}, {"verified", item.verified}};
    if (!item.message.empty()) out["message"] = item.message;
    if (item.breakpoint.kind == BreakpointKind::Line) {
        out["line"] = item.shownLine;
        out["source"] = {{"path", item.breakpoint.file}};
    }
    return out;
}

void BreakpointList::publish() {
    std::vector<Item*> items;
    for (Item& item : m_functions) items.push_back(&item);
    for (auto& [file, lines] : m_lines) {
        for (Item& item : lines) items.push_back(&item);
    }
    std::vector<Breakpoint> all;
    for (const Item* item : items) all.push_back(item->breakpoint);
    all = m_debugger.setBreakpoints(std::move(all));
    for (std::size_t i = 0; i < items.size(); ++i) {
        items[i]->breakpoint.id = all[i].id;
        items[i]->breakpoint.hits = all[i].hits;
    }
}

Json BreakpointList::setFunctions(const Json& arguments) {
    std::vector<Item> items;
    const std::lock_guard lock(m_mutex);
    for (const Json& given : arrayArgument(arguments, "breakpoints"))
        items.push_back(functionItem(given));
    m_functions = std::move(items);
    publish();
    Json list = Json::array();
    for (const Item& item : m_functions) list.push_back(describe(item));
    return {{"breakpoints", std::move(list)}};
}

Json BreakpointList::setLines(const Json& arguments, std::int64_t firstLine) {
    const Json& source = objectArgument(arguments, "source");
    const std::optional<std::string> path = optionalText(source, "path");
    const std::string file =
        path && !path->empty() ? *path : optionalText(source, "name").value_or("");
    if (file.empty())
        throw RequestError("The argument \"source\" needs a \"path\": the file the lines are of.");
    std::vector<Item> items;
    for (const Json& given : arrayArgument(arguments, "breakpoints")) {
        Item item;
        item.shownLine = integerArgument(objectItem(given), "line");
        const std::int64_t line = item.shownLine + 1 - firstLine;
        if (line < 1 || line > std::numeric_limits<std::int32_t>::max()) {
            throw RequestError("The line " + std::to_string(item.shownLine) +
                               " is no line of a file.");
        }
        item.breakpoint.kind = BreakpointKind::Line;
        item.breakpoint.file = file;
        item.breakpoint.line = static_cast<std::uint32_t>(line);
        item.breakpoint.text = file + ":" + std::to_string(line);
        try {
            readConditions(given, item.breakpoint);
        } catch (const RequestError& e) {
            item.valid = false;
            item.breakpoint.enabled = false;
            item.message = e.what();
        }
        items.push_back(std::move(item));
    }
    const std::lock_guard lock(m_mutex);
    std::vector<Item>& lines = m_lines[file] = std::move(items);
    publish();
    Json list = Json::array();
    for (Item& item : lines) {
        item.verified = item.breakpoint.hits > 0;
        if (!item.verified && item.valid)
            item.message = "No operator or module call was seen on this line yet.";
        list.push_back(describe(item));
    }
    if (lines.empty()) m_lines.erase(file);
    return {{"breakpoints", std::move(list)}};
}

void BreakpointList::setModel(const engine::nn::Module* root) {
    const std::lock_guard lock(m_mutex);
    m_root = root;
    if (!root) return;
    for (Item& item : m_functions) {
        if (!item.valid) continue;
        const bool was = item.verified;
        const std::string saidBefore = item.message;
        verify(item);
        if (was != item.verified || saidBefore != item.message) m_changes.push_back(describe(item));
    }
    publish();
}

std::vector<Json> BreakpointList::changes() {
    const std::vector<Breakpoint> now = m_debugger.breakpoints();
    const std::lock_guard lock(m_mutex);
    std::vector<Json> changes = std::exchange(m_changes, {});
    for (auto& [file, lines] : m_lines) {
        for (Item& item : lines) {
            if (item.verified) continue;
            for (const Breakpoint& each : now) {
                if (each.id != item.breakpoint.id || each.hits == 0) continue;
                item.verified = true;
                item.message.clear();
                changes.push_back(describe(item));
            }
        }
    }
    return changes;
}

bool BreakpointList::isLine(int id) const {
    const std::lock_guard lock(m_mutex);
    for (const auto& [file, lines] : m_lines) {
        for (const Item& item : lines) {
            if (item.breakpoint.id == id) return true;
        }
    }
    return false;
}

std::vector<int> BreakpointList::hits(const std::vector<int>& ids) const {
    const std::vector<Breakpoint> now = m_debugger.breakpoints();
    std::vector<int> counts;
    for (const int id : ids) {
        for (const Breakpoint& each : now) {
            if (each.id == id) counts.push_back(each.hits);
        }
    }
    return counts;
}

}  // namespace tapescope::app
