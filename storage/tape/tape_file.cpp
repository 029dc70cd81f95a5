// SPDX-License-Identifier: Apache-2.0
#include "storage/tape/tape_file.h"

#include "storage/tape/move_in_place.h"
#include "storage/tape/process_identity.h"
#include "storage/tape/schema.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace tapescope::storage {
namespace {

namespace fs = std::filesystem;

// A live writer leaves a heartbeat every second or two; past this age one on another machine counts
// as dead.
constexpr double kHeartbeatLimitSeconds = 15;

double wallNow() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

/// The text of errno; std::strerror is not thread-safe.
std::string systemError() { return std::generic_category().message(errno); }

std::string quoted(const std::string& path) { return "\"" + path + "\""; }

void removeTape(const std::string& path) {
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) unlink((path + suffix).c_str());
}

/// Removes the file unless keep() was called.
class TemporaryTape {
public:
    explicit TemporaryTape(std::string path) : m_path(std::move(path)) { removeTape(m_path); }
    ~TemporaryTape() {
        if (!m_path.empty()) removeTape(m_path);
    }
    TemporaryTape(const TemporaryTape&) = delete;
    TemporaryTape& operator=(const TemporaryTape&) = delete;
    const std::string& path() const { return m_path; }
    void keep() { m_path.clear(); }

private:
    std::string m_path;
};

/// Makes those who create tapes in a folder take turns: each checks and then replaces. Without
/// effect where the file system knows no such locks.
class FolderLock {
public:
    explicit FolderLock(const fs::path& folder)
        : m_fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
        if (m_fd >= 0) flock(m_fd, LOCK_EX);
    }
    ~FolderLock() {
        if (m_fd >= 0) close(m_fd);
    }
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;

private:
    int m_fd;
};

fs::path folderOf(const std::string& path) {
    const fs::path folder = fs::path(path).parent_path();
    return folder.empty() ? fs::path(".") : folder;
}

Status checkFolder(const std::string& path) {
    const fs::path folder = folderOf(path);
    // Beside the tape lie files with longer names: the write-ahead log, and the new tape while it
    // is made.
    const std::size_t name = fs::path(path).filename().string().size();
    if (constexpr std::size_t kLongest = NAME_MAX - 24; name > kLongest) {
        return Status::error("cannot create " + quoted(path) + ": its name has " +
                             std::to_string(name) + " bytes, a tape's may have " +
                             std::to_string(kLongest) + ": choose a shorter one");
    }
    std::error_code ec;
    if (!fs::exists(folder, ec)) {
        return Status::error("cannot create " + quoted(path) + ": folder " +
                             quoted(folder.string()) + " does not exist: make it first");
    }
    if (!fs::is_directory(folder, ec)) {
        return Status::error("cannot create " + quoted(path) + ": " + quoted(folder.string()) +
                             " is not a folder: choose another place");
    }
    if (access(folder.c_str(), W_OK | X_OK) != 0) {
        return Status::error("cannot create " + quoted(path) + ": folder " +
                             quoted(folder.string()) + " cannot be written (" + systemError() +
                             "): choose another place");
    }
    return {};
}

/// An existing file may be replaced if it is a regular file to which nobody records.
Status checkReplaceable(const std::string& path, bool overwrite) {
    struct stat info {};
    if (stat(path.c_str(), &info) != 0) return {};
    if (!S_ISREG(info.st_mode)) {
        return Status::error("cannot create " + quoted(path) +
                             ": something that is not a file has this name: choose another one");
    }
    if (!overwrite) {
        return Status::error("cannot create " + quoted(path) +
                             ": it exists already: choose another name, or overwrite it (--force)");
    }
    const auto old = openTapeFile(path);
    if (!old.ok()) return {};  // no tape, or too damaged to be one that somebody records to
    const auto state = tapeState(**old);
    if (state.ok() && *state == TapeState::Live) {
        return Status::error(
            "cannot replace " + quoted(path) +
            ": a running process records to it: stop that one or choose another name");
    }
    return {};
}

Status fill(Database& db, const RunInfo& info) {
    if (Status s = createSchema(db); !s.ok()) return s;
    Transaction all(db, Transaction::Kind::Write);
    if (!all.status().ok()) return all.status();
    const ProcessIdentity me = ProcessIdentity::self();
    static constexpr const char* kMeta = "INSERT INTO meta VALUES(?,?)";
    const std::array<std::pair<const char*, std::string>, 9> texts = {
        {{"run_id", info.runId},
         {"name", info.name},
         {"command", info.command},
         {"state", "recording"},
         {"outcome", "unknown"},
         {"outcome_message", ""},
         {"writer_host", me.host},
         {"writer_boot", me.bootId},
         {"writer_pid_namespace", me.pidNamespace}}};
    for (const auto& [key, value] : texts) {
        if (Status s = db.run(kMeta, key, value); !s.ok()) return s;
    }
    for (const auto& [key, value] :
         {std::pair{"writer_pid", me.pid}, {"writer_start", me.startTicks}}) {
        if (Status s = db.run(kMeta, key, value); !s.ok()) return s;
    }
    for (const auto& [key, value] :
         {std::pair{"start_wall", info.startWall}, {"heartbeat", wallNow()}}) {
        if (Status s = db.run(kMeta, key, value); !s.ok()) return s;
    }
    for (const auto& [key, value] : info.config) {
        if (Status s = db.run("INSERT INTO config(key, value) VALUES(?,?)", key, value); !s.ok())
            return s;
    }
    for (const auto& [key, value] : info.environment) {
        Status s = db.run("INSERT OR REPLACE INTO environment(key, value) VALUES(?,?)", key, value);
        if (!s.ok()) return s;
    }
    return all.commit();
}

/// A first read: WAL shows only here whether its shared memory can be had.
bool readable(Database& db) { return db.exec("SELECT count(*) FROM sqlite_schema").ok(); }

bool hasContent(const std::string& path) {
    std::error_code ec;
    const auto size = fs::file_size(path, ec);
    return !ec && size > 0;
}

}  // namespace

Result<std::unique_ptr<Database>> createTapeFile(const std::string& path, const RunInfo& info,
                                                 bool overwrite) {
    if (Status s = checkFolder(path); !s.ok()) return s;
    const FolderLock lock(folderOf(path));
    if (Status s = checkReplaceable(path, overwrite); !s.ok()) return s;
    TemporaryTape temporary(path + ".new-" + std::to_string(getpid()));
    {
        auto fresh = Database::open(temporary.path(), Database::Mode::Create);
        if (!fresh.ok()) return fresh.status().withContext("cannot create " + quoted(path));
        if (Status s = fill(**fresh, info); !s.ok())
            return s.withContext("cannot create " + quoted(path));
    }
    if (Status s = moveInPlace(temporary.path(), path, overwrite); !s.ok()) return s;
    temporary.keep();
    auto opened = Database::open(path, Database::Mode::ReadWrite);
    if (!opened.ok()) return opened;
    Database& db = **opened;
    {
        Query mode = db.query("PRAGMA journal_mode=WAL");
        if (!mode.step() || mode.text(0) != "wal") {
            unlink(path.c_str());
            return Status::error(
                "cannot record to " + quoted(path) +
                ": its file system shares no memory, as network drives do: record to a local disk");
        }
    }
    if (Status s = db.exec("PRAGMA synchronous=NORMAL"); !s.ok()) return s;
    return opened;
}

Result<std::unique_ptr<Database>> openTapeFile(const std::string& path) {
    struct stat info {};
    if (stat(path.c_str(), &info) != 0) {
        return Status::error(
            "cannot open tape " + quoted(path) + " (" + systemError() +
            "): check the name; `tapescope record` and `tapescope run MODEL --tape FILE` "
            "write one");
    }
    if (!S_ISREG(info.st_mode)) {
        return Status::error("cannot open tape " + quoted(path) +
                             ": it is not a file: name the .tape file itself");
    }
    if (info.st_size == 0) {
        return Status::error(
            quoted(path) +
            " is empty, not a Tapescope tape: open a file that `tapescope record` or `tapescope "
            "run MODEL --tape FILE` has written");
    }
    // SQLite takes anything shorter than its header for a new database.
    if (info.st_size < 100) {
        return Status::error(
            quoted(path) + " is not a Tapescope tape (" + std::to_string(info.st_size) +
            " bytes, too few for one): open a file that `tapescope record` or `tapescope run "
            "MODEL --tape FILE` has written");
    }
    if (access(path.c_str(), R_OK) != 0) {
        return Status::error("cannot read " + quoted(path) + " (" + systemError() +
                             "): check the permissions of the file");
    }
    // Writable where possible: the last reader of a tape whose writer was killed then folds the
    // write-ahead log into the one file. (Never a plain open() of a tape: closing that would drop
    // the locks SQLite holds for us.)
    auto opened = Database::open(path, Database::Mode::ReadWrite);
    if (!opened.ok()) opened = Database::open(path, Database::Mode::ReadOnly);
    if (!opened.ok()) return opened;
    // Until it is known to be ours, nothing of it is changed.
    sqlite3_db_config((*opened)->handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    if (!readable(**opened)) {
        const int code = (*opened)->errorCode();
        if (code == SQLITE_CANTOPEN || code == SQLITE_READONLY || code == SQLITE_PERM) {
            if (hasContent(path + "-wal")) {
                return Status::error("cannot read " + quoted(path) + ": part of it is still in " +
                                     quoted(path + "-wal") +
                                     ", and the folder cannot be written: copy both to another "
                                     "folder and open it there");
            }
            opened = Database::open(path, Database::Mode::Immutable);
            if (!opened.ok()) return opened;
        }
    }
    if (const auto version = checkSchema(**opened); !version.ok()) return version.status();
    sqlite3_db_config((*opened)->handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
    if (Status s = (*opened)->exec("PRAGMA query_only=1"); !s.ok()) return s;
    return opened;
}

Result<TapeState> tapeState(Database& db) {
    std::string state;
    ProcessIdentity writer;
    double heartbeat = 0;
    {
        Query q = db.query("SELECT key, value FROM meta");
        while (q.step()) {
            const std::string key = q.text(0);
            if (key == "state") state = q.text(1);
            if (key == "writer_host") writer.host = q.text(1);
            if (key == "writer_boot") writer.bootId = q.text(1);
            if (key == "writer_pid_namespace") writer.pidNamespace = q.text(1);
            if (key == "writer_pid") writer.pid = q.integer(1);
            if (key == "writer_start") writer.startTicks = q.integer(1);
            if (key == "heartbeat") heartbeat = q.real(1);
        }
        if (q.failed()) return db.error();
    }
    if (state == "sealed") return TapeState::Sealed;
    if (state != "recording") return TapeState::Cut;
    switch (livenessOf(writer)) {
        case Liveness::Alive:
            return TapeState::Live;
        case Liveness::Dead:
            return TapeState::Cut;
        case Liveness::Unknown:
            break;
    }
    return std::abs(wallNow() - heartbeat) < kHeartbeatLimitSeconds ? TapeState::Live
                                                                    : TapeState::Cut;
}

}  // namespace tapescope::storage
