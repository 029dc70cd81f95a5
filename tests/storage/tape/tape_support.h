// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/tape/reader.h"
#include "storage/tape/writer.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace tapescope::storage {

/// A folder that goes away with the test.
class TempDir {
public:
    TempDir() {
        std::string name =
            (std::filesystem::temp_directory_path() / "tapescope-test-XXXXXX").string();
        m_path = mkdtemp(name.data());
    }
    ~TempDir() {
        std::error_code ec;
        std::filesystem::remove_all(m_path, ec);
    }
    TempDir(const TempDir&) = delete;
    TempDir& operator=(const TempDir&) = delete;
    std::string file(const std::string& name) const { return m_path + "/" + name; }
    const std::string& path() const { return m_path; }
    std::vector<std::string> names() const {
        std::vector<std::string> out;
        for (const auto& entry : std::filesystem::directory_iterator(m_path)) {
            out.push_back(entry.path().filename().string());
        }
        std::sort(out.begin(), out.end());
        return out;
    }

private:
    std::string m_path;
};

template <class T>
std::string messageOf(const Result<T>& result) {
    return result.status().message();
}
#define EXPECT_OK(expression) EXPECT_EQ((expression).message(), "")
#define ASSERT_OK(expression) ASSERT_EQ((expression).message(), "")

/// The value, or a failed test and a default one.
template <class T>
T get(Result<T> result) {
    EXPECT_TRUE(result.ok()) << messageOf(result);
    return result.ok() ? std::move(result).value() : T{};
}

inline std::unique_ptr<TapeWriter> newTape(const std::string& path, const RunInfo& info = {},
                                           const WriterOptions& options = {}) {
    return get(TapeWriter::create(path, info, options));
}

/// Rows as the sqlite3 shell prints them, "a|b|c"; through SQLite's own API, none of ours.
inline std::vector<std::string> sql(const std::string& path, const std::string& statement) {
    sqlite3* db = nullptr;
    std::vector<std::string> rows;
    EXPECT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
    char* message = nullptr;
    const auto add = [](void* to, int n, char** values, char**) {
        std::string row;
        for (int i = 0; i < n; ++i)
            row += (i > 0 ? "|" : "") + std::string(values[i] != nullptr ? values[i] : "NULL");
        static_cast<std::vector<std::string>*>(to)->push_back(row);
        return 0;
    };
    EXPECT_EQ(sqlite3_exec(db, statement.c_str(), add, &rows, &message), SQLITE_OK)
        << message << " in " << statement;
    sqlite3_free(message);
    sqlite3_close(db);
    return rows;
}
using Rows = std::vector<std::string>;

inline OpEvent opEvent(std::int64_t i) {
    OpEvent e;
    e.startNs = 1000 * i;
    e.durationNs = 300 + i % 97;
    e.opId = static_cast<std::uint64_t>(i + 1);
    e.parentId = i % 3 == 2 ? static_cast<std::uint64_t>(i / 2) : 0;
    e.step = i / 50;
    e.flops = 1.5 * static_cast<double>(i % 11);
    e.bytes = 4096 * (i % 7);
    e.name = static_cast<NameId>(1 + i % 5);
    e.module = static_cast<ModuleId>(i % 4);
    e.site = static_cast<SiteId>(i % 9);
    e.lane = static_cast<std::uint32_t>(1 + i % 2);
    e.seq = static_cast<std::uint32_t>(i % 50);
    e.kind = static_cast<OpEvent::Kind>(i % 5);
    e.phase = static_cast<Phase>(i % 6);
    e.depth = static_cast<std::uint8_t>(i % 4);
    return e;
}
inline std::vector<OpEvent> opEvents(std::int64_t from, std::int64_t count) {
    std::vector<OpEvent> out;
    for (std::int64_t i = from; i < from + count; ++i) out.push_back(opEvent(i));
    return out;
}
inline MemoryEvent memoryEvent(std::int64_t i) {
    MemoryEvent e;
    e.timeNs = 500 * i;
    e.address = 0x7f0000000000U + static_cast<std::uint64_t>(i % 13) * 64;
    e.sizeBytes = 64 * (1 + i % 100);
    e.allocatedBytes = 1'000'000 + i;
    e.reservedBytes = 2'097'152;
    e.opId = static_cast<std::uint64_t>(i);
    e.step = i / 50;
    e.kind = static_cast<MemoryKind>(i % 4);
    e.role = static_cast<MemoryRole>(i % 9);
    return e;
}
inline std::vector<MemoryEvent> memoryEvents(std::int64_t from, std::int64_t count) {
    std::vector<MemoryEvent> out;
    for (std::int64_t i = from; i < from + count; ++i) out.push_back(memoryEvent(i));
    return out;
}

/// Every kind, flag and column with varying values; untimed ones have no times.
inline GpuEvent gpuEvent(std::int64_t i) {
    GpuEvent e;
    const auto n = static_cast<std::uint32_t>(i);
    e.kind = static_cast<GpuEventKind>(i % 21);
    e.flags = static_cast<std::uint16_t>(i % 256);
    if ((e.flags & kGpuNoTime) == 0) {
        e.startNs = 1'000'000 + 700 * i;
        e.durationNs = 300 + i % 97;
    }
    e.u = {static_cast<std::uint64_t>(i) << 20U, ~static_cast<std::uint64_t>(i),
           static_cast<std::uint64_t>(i % 3)};
    e.correlation = 1000 + n / 2;
    e.name = 1 + n % 5;
    e.device = n % 8;
    e.context = 1 + n % 2;
    e.stream = n % 5 == 0 ? kNoGpuId : 7 + n % 3;
    e.thread = 4000 + n % 4;
    e.graph = n % 7 == 0 ? 3 : 0;
    e.x = {n, n + 1, n + 2, 256, UINT32_MAX, 0};
    e.process = 1 + n % 3;
    return e;
}
inline std::vector<GpuEvent> gpuEvents(std::int64_t from, std::int64_t count) {
    std::vector<GpuEvent> out;
    for (std::int64_t i = from; i < from + count; ++i) out.push_back(gpuEvent(i));
    return out;
}

inline auto fields(const OpEvent& e) {
    return std::tuple(e.startNs, e.durationNs, e.opId, e.parentId, e.step, e.flops, e.bytes, e.name,
                      e.module, e.site, e.lane, e.seq, e.kind, e.phase, e.depth);
}
inline auto fields(const MemoryEvent& e) {
    return std::tuple(e.timeNs, e.address, e.sizeBytes, e.allocatedBytes, e.reservedBytes, e.opId,
                      e.step, e.kind, e.role);
}
/// Index of the first difference, or -1 if both are equal.
template <class Event>
std::int64_t firstDifference(const std::vector<Event>& a, const std::vector<Event>& b) {
    const std::size_t n = std::min(a.size(), b.size());
    for (std::size_t i = 0; i < n; ++i) {
        if (fields(a[i]) != fields(b[i])) return static_cast<std::int64_t>(i);
    }
    return a.size() == b.size() ? -1 : static_cast<std::int64_t>(n);
}

}  // namespace tapescope::storage
