// SPDX-License-Identifier: Apache-2.0
#include "app/cli/packs_option.h"

#include "app/runner/packs.h"

#include <cstdio>

namespace tapescope::app {

void loadPacks(const Arguments& args) {
    for (const std::string& problem : packProblems())
        std::fprintf(stderr, "tapescope: model pack left out: %s\n", problem.c_str());
    for (const std::string& path : args.values("--pack")) loadPack(path);
}

}  // namespace tapescope::app
