// SPDX-License-Identifier: Apache-2.0
#include "storage/tape/database.h"

#include <cstring>
#include <limits>
#include <sqlite3.h>
#include <system_error>

namespace tapescope::storage {
namespace {

constexpr int kBusyMs = 5000;
// Largest text or blob a tape may hold; a damaged length then cannot ask for gigabytes.
constexpr int kMaxValueBytes = 256 << 20;

std::string uriOf(const std::string& path) {
    static constexpr std::string_view kHex = "0123456789ABCDEF";
    std::string uri = "file:";
    for (const char ch : path) {
        const auto c = static_cast<unsigned char>(ch);
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || std::strchr("/._-~", c) != nullptr;
        if (plain && c != 0) {
            uri += ch;
        } else {
            uri += '%';
            uri += kHex[c >> 4U];
            uri += kHex[c & 15U];
        }
    }
    return uri + "?immutable=1";
}

std::string explain(const std::string& path, int rc, int systemError, const char* text) {
    const std::string name = "\"" + path + "\"";
    switch (rc & 0xff) {
        case SQLITE_FULL:
            return "no space left on the disk of " + name + ": free some space and record again";
        case SQLITE_NOTADB:
        case SQLITE_CORRUPT:
            return name + " is damaged (" + text + "): `sqlite3 FILE .recover` may save some of it";
        case SQLITE_IOERR:
            return "the disk refused an access to " + name + " (" +
                   (systemError != 0 ? std::generic_category().message(systemError)
                                     : std::string(text)) +
                   "): check its free space, quota and file size limit";
        case SQLITE_READONLY:
        case SQLITE_PERM:
        case SQLITE_CANTOPEN:
        case SQLITE_AUTH:
            return name + " cannot be opened (" +
                   (systemError != 0 ? std::generic_category().message(systemError)
                                     : std::string(text)) +
                   "): check the permissions of the file and its folder";
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return name + " is locked by another program: close it and try again";
        case SQLITE_NOMEM:
            return "not enough memory to read " + name;
        case SQLITE_TOOBIG:
            return name + " holds a value larger than " + std::to_string(kMaxValueBytes >> 20) +
                   " MiB: it is damaged or too large a record was written";
        default:
            return name + " is not as a tape should be (" + text + "): it may be damaged";
    }
}

}  // namespace

Query::~Query() {
    if (m_statement == nullptr) return;
    sqlite3_reset(m_statement);
    sqlite3_clear_bindings(m_statement);
}

void Query::note(int rc) {
    if (rc != SQLITE_OK && m_rc == SQLITE_OK) m_rc = rc;
}

void Query::bindInteger(std::int64_t value) {
    if (m_statement != nullptr) note(sqlite3_bind_int64(m_statement, m_next++, value));
}
void Query::bind(double value) {
    if (m_statement != nullptr) note(sqlite3_bind_double(m_statement, m_next++, value));
}
void Query::bind(std::string_view value) {
    if (m_statement == nullptr) return;
    // A null pointer would bind NULL where the column wants an empty text.
    const char* data = value.data() != nullptr ? value.data() : "";
    note(
        sqlite3_bind_text64(m_statement, m_next++, data, value.size(), SQLITE_STATIC, SQLITE_UTF8));
}
void Query::bind(std::span<const std::byte> value) {
    if (m_statement == nullptr) return;
    if (value.empty()) {
        note(sqlite3_bind_zeroblob(m_statement, m_next++, 0));
    } else {
        note(sqlite3_bind_blob64(m_statement, m_next++, value.data(), value.size(), SQLITE_STATIC));
    }
}

bool Query::step() {
    if (m_statement == nullptr || m_rc != SQLITE_OK) return false;
    const int rc = sqlite3_step(m_statement);
    if (rc == SQLITE_ROW) return true;
    if (rc != SQLITE_DONE) m_rc = rc;
    return false;
}

bool Query::failed() const { return m_statement == nullptr || m_rc != SQLITE_OK; }

std::int64_t Query::integer(int column) const { return sqlite3_column_int64(m_statement, column); }
double Query::real(int column) const {
    return sqlite3_column_type(m_statement, column) == SQLITE_NULL
               ? std::numeric_limits<double>::quiet_NaN()
               : sqlite3_column_double(m_statement, column);
}
std::string Query::text(int column) const {
    const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(m_statement, column));
    if (data == nullptr) return {};
    return {data, static_cast<std::size_t>(sqlite3_column_bytes(m_statement, column))};
}
std::span<const std::byte> Query::blob(int column) const {
    const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(m_statement, column));
    if (data == nullptr) return {};
    return {data, static_cast<std::size_t>(sqlite3_column_bytes(m_statement, column))};
}

Result<std::unique_ptr<Database>> Database::open(const std::string& path, Mode mode) {
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE;
    switch (mode) {
        case Mode::Create:
            flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
            break;
        case Mode::ReadWrite:
            flags |= SQLITE_OPEN_READWRITE;
            break;
        case Mode::ReadOnly:
            flags |= SQLITE_OPEN_READONLY;
            break;
        case Mode::Immutable:
            flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
            break;
    }
    sqlite3* handle = nullptr;
    // ":memory:" and "file:x" would mean something else to SQLite: here they are files' names.
    const std::string plain = path.starts_with('/') ? path : "./" + path;
    const std::string name = mode == Mode::Immutable ? uriOf(plain) : plain;
    const int rc = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
    std::unique_ptr<Database> db(new Database(path, handle));
    if (rc != SQLITE_OK) return db->error();
    sqlite3_busy_timeout(handle, kBusyMs);
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kMaxValueBytes);
    // A tape comes from anywhere: its schema may not run functions or write to SQLite's own tables.
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    return db;
}

Database::~Database() {
    for (const auto& [sql, statement] : m_statements) sqlite3_finalize(statement);
    sqlite3_close(m_handle);
}

Status Database::exec(const char* sql) {
    return sqlite3_exec(m_handle, sql, nullptr, nullptr, nullptr) == SQLITE_OK ? Status() : error();
}

sqlite3_stmt* Database::prepared(const char* sql) {
    const auto found = m_statements.find(sql);
    if (found != m_statements.end()) return found->second;
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v3(m_handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) !=
        SQLITE_OK) {
        return nullptr;
    }
    m_statements.emplace(sql, statement);
    return statement;
}

int Database::errorCode() const {
    return m_handle == nullptr ? SQLITE_NOMEM : sqlite3_errcode(m_handle) & 0xff;
}

Status Database::error() const {
    if (m_handle == nullptr) return Status::error(explain(m_path, SQLITE_NOMEM, 0, ""));
    return Status::error(explain(m_path, sqlite3_extended_errcode(m_handle),
                                 sqlite3_system_errno(m_handle), sqlite3_errmsg(m_handle)));
}

Transaction::Transaction(Database& db, Kind kind) : m_db(db) {
    m_status = db.exec(kind == Kind::Read ? "BEGIN" : "BEGIN IMMEDIATE");
    m_open = m_status.ok();
}
Transaction::~Transaction() {
    // Fails if SQLite rolled back by itself (disk full): then there is nothing left to undo.
    if (m_open) sqlite3_exec(m_db.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}
Status Transaction::commit() {
    if (!m_open) return m_status;
    Status done = m_db.exec("COMMIT");
    if (done.ok()) m_open = false;
    return done;
}

}  // namespace tapescope::storage
