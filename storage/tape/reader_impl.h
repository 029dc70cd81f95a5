// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/tape/database.h"
#include "storage/tape/reader.h"

#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace tapescope::storage {

struct TapeReader::Impl {
    std::unique_ptr<Database> db;
    std::int64_t dataVersion = -1;
    bool hasGpuTables = false;  ///< not on tapes of schema version 1

    /// One row a call of fn(query); its result, or the database's error.
    template <class Row, class Fn, class... Args>
    Result<std::vector<Row>> rows(Fn&& fn, const char* sql, const Args&... args) {
        std::vector<Row> out;
        Query q = db->query(sql, args...);
        while (q.step()) out.push_back(fn(q));
        if (q.failed()) return db->error();
        return out;
    }
    /// rows() of a table that version 1 does not have.
    template <class Row, class Fn>
    Result<std::vector<Row>> gpuRows(Fn&& fn, const char* sql) {
        if (!hasGpuTables) return std::vector<Row>{};
        return rows<Row>(std::forward<Fn>(fn), sql);
    }
    Status damaged(const std::string& what) const {
        return Status::error("\"" + db->path() + "\" is damaged: " + what +
                             ": `sqlite3 FILE .recover` may save some of it");
    }
};

/// Values outside the enum become its first one: an unknown phase is "other".
template <class E>
E enumOf(std::int64_t value, E last) {
    return value < 0 || value > static_cast<std::int64_t>(last) ? E{} : static_cast<E>(value);
}

/// Ids outside 32 bits become 0.
inline std::uint32_t id32(std::int64_t value) {
    return value < 0 || value > std::numeric_limits<std::uint32_t>::max()
               ? 0
               : static_cast<std::uint32_t>(value);
}

}  // namespace tapescope::storage
