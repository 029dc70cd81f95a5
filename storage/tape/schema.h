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
inline constexpr int kSchemaVersion = 1;                        // PRAGMA user_version

/// Points a row of scalar_summary stands for.
inline constexpr std::int64_t kScalarsPerSummary = 1024;

/// One step of the schema's history: brings a tape of version `from` to `from` + 1.
struct Migration {
    int from = 0;
    const char* sql = "";
};

/// Tables and views of the current version, in an empty database.
Status createSchema(Database& db);

/// Whether db is a tape this program can read. An older one is brought up to date, in one
/// transaction, which needs a writable file. Errors: not a tape, newer, too old, or a table that is
/// missing or is not a plain table.
Status checkSchema(Database& db);

/// Brings db from version `from` to `to` by the listed steps, all or nothing.
Status migrate(Database& db, int from, int to, std::span<const Migration> steps);

}  // namespace tapescope::storage
