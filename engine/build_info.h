// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tapescope::engine {

/// Of the library that is loaded, not of the headers: "2.6.3".
std::string onednnVersion();
std::string zlibVersion();
/// Threads that operators use.
int computeThreads();

}  // namespace tapescope::engine
