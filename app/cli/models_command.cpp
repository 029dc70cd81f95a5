// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"
#include "app/cli/packs_option.h"
#include "app/runner/training_run.h"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace tapescope::app {
namespace {

using nlohmann::ordered_json;

const std::array kOptions{OptionDef{"--json", "", "for programs"}, kPackOption};

ordered_json valueJson(const plugins::SettingValue& value) {
    return std::visit([](const auto& v) { return ordered_json(v); }, value);
}

ordered_json modelJson(const plugins::ModelEntry& entry) {
    ordered_json settings = ordered_json::array();
    for (const plugins::Setting& s : entry.settings) {
        settings.push_back(
            {{"name", s.name}, {"default", valueJson(s.defaultValue)}, {"help", s.help}});
    }
    ordered_json sources = ordered_json::array();
    for (const plugins::EmbeddedFile& file : entry.sources) sources.push_back(file.path);
    return {{"name", entry.name},
            {"summary", entry.summary},
            {"defaultSteps", entry.defaultSteps},
            {"needsData", entry.needsDataDir},
            {"dataHelp", entry.dataHelp},
            {"settings", settings},
            {"sources", sources}};
}

int run(const Arguments& args, const std::string&) {
    loadPacks(args);
    const auto& entries = builtinModels().entries();
    if (args.has("--json")) {
        ordered_json all = ordered_json::array();
        for (const plugins::ModelEntry& entry : entries) all.push_back(modelJson(entry));
        std::printf("%s\n", all.dump(2).c_str());
        return 0;
    }
    for (const plugins::ModelEntry& entry : entries) {
        std::printf("%-14s %s (%lld steps)\n", entry.name.c_str(), entry.summary.c_str(),
                    static_cast<long long>(entry.defaultSteps));
        if (entry.needsDataDir) std::printf("    --data DIR      %s\n", entry.dataHelp.c_str());
        for (const plugins::Setting& s : entry.settings) {
            std::printf("    --set %s=%s  %s\n", s.name.c_str(),
                        valueJson(s.defaultValue).dump().c_str(), s.help.c_str());
        }
    }
    return 0;
}

}  // namespace

const Command& modelsCommand() {
    static const Command command{
        "models", "", "list the models that can be run, with their settings", kOptions, 0, 0, run};
    return command;
}

}  // namespace tapescope::app
