// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/status.h"
#include "storage/tape/database.h"
#include "storage/tape/records.h"

#include <memory>
#include <string>

namespace tapescope::storage {

/// Makes an empty tape with its run's rows under a temporary name and moves it to path in one step,
/// so that nobody ever sees half a tape; then opens it for the writer (WAL, synchronous=NORMAL).
/// overwrite replaces an existing file, unless a live process records to it. On failure nothing is
/// left behind and an existing file is untouched.
Result<std::unique_ptr<Database>> createTapeFile(const std::string& path, const RunInfo& info,
                                                 bool overwrite);

/// Opens an existing tape to read. Where the file or its folder cannot be written, WAL's shared
/// memory may be impossible: a tape whose writer has ended is then read as an immutable file.
Result<std::unique_ptr<Database>> openTapeFile(const std::string& path);

/// What meta says about the writer, and whether it lives.
Result<TapeState> tapeState(Database& db);

}  // namespace tapescope::storage
