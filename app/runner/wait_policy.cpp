// SPDX-License-Identifier: Apache-2.0
#include "app/runner/wait_policy.h"

#include <cstdlib>
#include <unistd.h>

namespace tapescope::app {

void waitPassively(char** argv) {
    if (std::getenv("OMP_WAIT_POLICY") || std::getenv("GOMP_SPINCOUNT")) return;
    if (setenv("OMP_WAIT_POLICY", "passive", 1) == 0) execv("/proc/self/exe", argv);
}

}  // namespace tapescope::app
