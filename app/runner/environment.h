// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tapescope::app {

/// Where a run takes place, as (key, text): tapescope, host, os, cpu, cores, threads, memory,
/// onednn, sqlite, zlib, zstd, compiler, build. A fact that cannot be found out is left out.
std::vector<std::pair<std::string, std::string>> describeEnvironment();

/// "0.1.0"
std::string programVersion();

}  // namespace tapescope::app
