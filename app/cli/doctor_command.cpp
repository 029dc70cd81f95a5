// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"
#include "app/cli/doctor.h"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace tapescope::app {
namespace {

const std::array kOptions{OptionDef{"--json", "", "for programs"}};

int run(const Arguments& args, const std::string&) {
    const std::vector<Finding> findings = examine();
    bool broken = false;
    for (const Finding& f : findings) broken = broken || (f.required && !f.found);
    if (args.has("--json")) {
        nlohmann::ordered_json all = nlohmann::ordered_json::array();
        for (const Finding& f : findings) {
            all.push_back({{"what", f.what},
                           {"found", f.found},
                           {"required", f.required},
                           {"version", f.version},
                           {"detail", f.detail},
                           {"needed for", f.neededFor},
                           {"remedy", f.remedy}});
        }
        std::printf(
            "%s\n",
            all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
        return broken ? 1 : 0;
    }
    for (const Finding& f : findings) {
        std::string state = f.found ? "ok" : f.required ? "MISSING" : "absent";
        std::printf("%-8s %-14s %s", state.c_str(), f.what.c_str(), f.version.c_str());
        if (!f.detail.empty()) std::printf("%s%s", f.version.empty() ? "" : "  ", f.detail.c_str());
        std::printf("\n");
        if (!f.found) {
            std::printf("         %-14s needed for: %s\n", "", f.neededFor.c_str());
            if (!f.remedy.empty()) std::printf("         %-14s remedy: %s\n", "", f.remedy.c_str());
        }
    }
    std::printf("\n%s\n",
                broken ? "Something required is missing." : "Everything that is required is here.");
    return broken ? 1 : 0;
}

}  // namespace

const Command& doctorCommand() {
    static const Command command{
        "doctor", "", "what of the libraries and drivers was found, and the remedy", kOptions, 0,
        0,        run};
    return command;
}

}  // namespace tapescope::app
