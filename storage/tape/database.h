// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/status.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

struct sqlite3;
struct sqlite3_stmt;

namespace tapescope::storage {

/// One run of a prepared statement. Bound by position; reset when it goes, so that no read
/// transaction stays open.
class Query final {
public:
    explicit Query(sqlite3_stmt* statement) : m_statement(statement) {}
    Query(Query&& other) noexcept
        : m_statement(std::exchange(other.m_statement, nullptr)),
          m_rc(other.m_rc),
          m_next(other.m_next) {}
    Query& operator=(Query&&) = delete;
    Query(const Query&) = delete;
    Query& operator=(const Query&) = delete;
    ~Query();

    template <std::integral T>
    void bind(T value) {
        bindInteger(static_cast<std::int64_t>(value));
    }
    void bind(double value);  ///< NaN becomes NULL
    void bind(std::string_view value);
    void bind(const std::string& value) { bind(std::string_view(value)); }
    void bind(const char* value) { bind(std::string_view(value)); }
    void bind(std::span<const std::byte> value);

    /// True while there is a row. False at the end and after an error: see failed().
    bool step();
    bool failed() const;

    std::int64_t integer(int column) const;
    double real(int column) const;  ///< NULL is NaN
    std::string text(int column) const;
    std::span<const std::byte> blob(int column) const;  ///< valid until the next step()

private:
    void bindInteger(std::int64_t value);
    void note(int rc);

    sqlite3_stmt* m_statement;
    int m_rc = 0;
    int m_next = 1;
};

/// An SQLite connection: one thread at a time. Statements are prepared once and kept.
class Database final {
public:
    enum class Mode : std::uint8_t { Create, ReadWrite, ReadOnly, Immutable };
    static Result<std::unique_ptr<Database>> open(const std::string& path, Mode mode);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    /// Any number of statements, results ignored.
    Status exec(const char* sql);
    /// sql must be a literal: its address is the key of the prepared statement.
    template <class... Args>
    Query query(const char* sql, const Args&... args) {
        Query q(prepared(sql));
        (q.bind(args), ...);
        return q;
    }
    template <class... Args>
    Status run(const char* sql, const Args&... args) {
        Query q = query(sql, args...);
        while (q.step()) {
        }
        return q.failed() ? error() : Status();
    }
    /// What went wrong last, as one sentence with a remedy; the file is named.
    Status error() const;
    /// SQLite's primary result code of what went wrong last.
    int errorCode() const;
    sqlite3* handle() const { return m_handle; }
    const std::string& path() const { return m_path; }

private:
    Database(std::string path, sqlite3* handle) : m_path(std::move(path)), m_handle(handle) {}
    /// Null if the statement does not compile; Query then fails.
    sqlite3_stmt* prepared(const char* sql);

    std::string m_path;
    sqlite3* m_handle;
    std::unordered_map<const char*, sqlite3_stmt*> m_statements;
};

/// BEGIN … COMMIT around reads, so that several statements see one state; writes roll back unless
/// commit() was called.
class Transaction final {
public:
    enum class Kind : std::uint8_t { Read, Write };
    Transaction(Database& db, Kind kind);
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    /// Whether it could begin.
    const Status& status() const { return m_status; }
    Status commit();

private:
    Database& m_db;
    Status m_status;
    bool m_open = false;
};

}  // namespace tapescope::storage
