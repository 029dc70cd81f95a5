// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/status.h"

#include <string>

namespace tapescope::storage {

/// Gives a finished tape its name in one step; both lie in one folder. What is left beside the name
/// from an older tape (its write-ahead log) goes away. Without overwrite an existing file is an
/// error, also one that has come since it was looked for, where the file system can tell.
Status moveInPlace(const std::string& from, const std::string& to, bool overwrite);

}  // namespace tapescope::storage
