// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/status.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace tapescope::storage {

class Database;

/// docs/tape.md describes every table.
inline constexpr std::int32_t kTapeApplicationId = 0x54505343;  // "TPSC", in the file's header
// PRAGMA user_version. 2 adds what GPUs do; a tape of version 1 is read as it is and has no such
// part.
inline constexpr int kSchemaVersion = 2;
inline constexpr int kOldestReadableSchema = 1;

/// Points a row of scalar_summary stands for.
inline constexpr std::int64_t kScalarsPerSummary = 1024;

/// One step of the schema's history: brings a tape of version `from` to `from` + 1.
struct Migration {
    int from = 0;
    const char* sql = "";
};

/// Tables and views of the current version, in an empty database.
Status createSchema(Database& db);

/// The version of a tape that this program can read; nothing of it is changed, unless it is older
/// than kOldestReadableSchema: such a one is brought up to date, in one transaction, which needs a
/// writable file. Errors: not a tape, newer, too old, or a table that is missing or is not a plain
/// table.
Result<int> checkSchema(Database& db);

/// Brings db from version `from` to `to` by the listed steps, all or nothing.
Status migrate(Database& db, int from, int to, std::span<const Migration> steps);

}  // namespace tapescope::storage
