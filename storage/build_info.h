// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tapescope::storage {

/// Of the libraries that are loaded, not of the headers.
std::string sqliteVersion();
std::string zstdVersion();

}  // namespace tapescope::storage
