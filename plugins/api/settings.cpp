// SPDX-License-Identifier: Apache-2.0
#include "engine/text.h"
#include "plugins/api/model.h"

#include <array>
#include <charconv>
#include <cmath>

namespace tapescope::plugins {
namespace {

using engine::Error;

[[noreturn]] void failValue(const Setting& setting, const std::string& text, const char* expected) {
    throw UsageError("setting " + setting.name + ": \"" + text + "\" is not " + expected +
                     "; for example " + setting.name + "=" + settingText(setting.defaultValue) +
                     " (the default)");
}

template <class T>
bool parseAll(const std::string& text, T& value) {
    const char* begin = text.data();
    const char* end = begin + text.size();
    if (begin != end && *begin == '+') ++begin;
    const auto [at, error] = std::from_chars(begin, end, value);
    return error == std::errc() && at == end;
}

SettingValue parse(const Setting& setting, const std::string& text) {
    struct Parser {
        const Setting& setting;
        const std::string& text;
        SettingValue operator()(bool) const {
            for (const char* word : {"true", "on", "yes", "1"}) {
                if (text == word) return true;
            }
            for (const char* word : {"false", "off", "no", "0"}) {
                if (text == word) return false;
            }
            failValue(setting, text, "true or false");
        }
        SettingValue operator()(std::int64_t) const {
            std::int64_t value = 0;
            if (!parseAll(text, value)) failValue(setting, text, "a whole number");
            return value;
        }
        SettingValue operator()(double) const {
            double value = 0;
            if (!parseAll(text, value) || !std::isfinite(value))
                failValue(setting, text, "a number");
            return value;
        }
        SettingValue operator()(const std::string&) const { return text; }
    };
    SettingValue value = std::visit(Parser{setting, text}, setting.defaultValue);
    checkSetting(setting, value);
    return value;
}

}  // namespace

std::string settingText(const SettingValue& value) {
    struct Printer {
        std::string operator()(bool v) const { return v ? "true" : "false"; }
        std::string operator()(std::int64_t v) const { return std::to_string(v); }
        std::string operator()(double v) const {
            std::array<char, 32> buffer{};
            const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), v).ptr;
            return {buffer.data(), end};
        }
        std::string operator()(const std::string& v) const { return v; }
    };
    return std::visit(Printer{}, value);
}

void checkSetting(const Setting& setting, const SettingValue& value) {
    if (!setting.choices.empty()) {
        const std::string& text = std::get<std::string>(value);
        for (const std::string& choice : setting.choices) {
            if (choice == text) return;
        }
        std::string list;
        for (const std::string& choice : setting.choices)
            list += (list.empty() ? "" : ", ") + choice;
        throw UsageError("setting " + setting.name + ": there is no \"" + text + "\"" +
                         engine::didYouMean(text, setting.choices) + " (" + list + ")");
    }
    double number = 0;
    if (const auto* whole = std::get_if<std::int64_t>(&value)) {
        number = static_cast<double>(*whole);
    } else if (const auto* real = std::get_if<double>(&value)) {
        number = *real;
    } else {
        return;
    }
    if (number >= setting.min && number <= setting.max) return;
    const bool open = std::isinf(setting.max);
    throw UsageError(
        "setting " + setting.name + ": " + settingText(value) + " is out of range; it must be " +
        (open ? "at least " + settingText(setting.min)
              : "between " + settingText(setting.min) + " and " + settingText(setting.max)));
}

Settings Settings::resolve(std::span<const Setting> known,
                           std::span<const std::pair<std::string, std::string>> given) {
    Settings settings;
    std::vector<std::string> names;
    for (const Setting& setting : known) {
        settings.m_values.emplace_back(setting.name, setting.defaultValue);
        names.push_back(setting.name);
    }
    for (const auto& [name, text] : given) {
        std::size_t i = 0;
        while (i < names.size() && names[i] != name) ++i;
        if (i == names.size()) {
            std::string list;
            for (const std::string& n : names) list += (list.empty() ? "" : ", ") + n;
            throw UsageError(
                "there is no setting \"" + name + "\"" + engine::didYouMean(name, names) +
                (list.empty() ? "; this model has none" : " (settings: " + list + ")"));
        }
        settings.m_values[i].second = parse(known[i], text);
    }
    return settings;
}

const SettingValue& Settings::at(std::string_view name) const {
    for (const auto& [key, value] : m_values) {
        if (key == name) return value;
    }
    throw Error("the model asks for a setting \"" + std::string(name) + "\" that it does not list");
}

std::int64_t Settings::integer(std::string_view name) const {
    return std::get<std::int64_t>(at(name));
}
double Settings::real(std::string_view name) const { return std::get<double>(at(name)); }
bool Settings::flag(std::string_view name) const { return std::get<bool>(at(name)); }
const std::string& Settings::text(std::string_view name) const {
    return std::get<std::string>(at(name));
}

}  // namespace tapescope::plugins
