// SPDX-License-Identifier: Apache-2.0
#include "profiler/record/allocator_history.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <limits>
#include <sys/stat.h>
#include <system_error>

namespace tapescope::profiler::record {
namespace {

using storage::AllocatorAction;
using storage::AllocatorEvent;
using storage::Result;
using storage::Status;

constexpr std::string_view kMagic = "tapescope-allocator-history\t1";
// The hook cuts texts at 1000 bytes; a command line may be longer.
constexpr std::size_t kLongestLine = 16'384;
constexpr std::size_t kMostSites = 1'000'000;
constexpr std::size_t kMostLosses = 1000;
// Unix microseconds that still fit as nanoseconds, in 2084.
constexpr std::int64_t kLatestUs = 3'629'059'200'000'000;

std::vector<std::string_view> fieldsOf(std::string_view line) {
    std::vector<std::string_view> out;
    for (;;) {
        const std::size_t tab = line.find('\t');
        out.push_back(line.substr(0, tab));
        if (tab == std::string_view::npos) return out;
        line.remove_prefix(tab + 1);
    }
}

template <class T>
bool number(std::string_view text, T low, T high, T& out) {
    T value{};
    const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || at != text.data() + text.size() || value < low || value > high)
        return false;
    out = value;
    return true;
}

bool actionOf(std::string_view text, AllocatorAction& out) {
    for (int i = 0; i <= static_cast<int>(AllocatorAction::OutOfMemory); ++i) {
        const auto action = static_cast<AllocatorAction>(i);
        if (storage::allocatorActionName(action) != text) continue;
        out = action;
        return true;
    }
    return false;
}

}  // namespace

AllocatorHistory::AllocatorHistory(std::string path)
    : m_path(std::move(path)), m_in(m_path, std::ios::binary) {}

Result<std::unique_ptr<AllocatorHistory>> AllocatorHistory::open(const std::string& path) {
    struct stat info {};
    // A pipe or device would keep us waiting.
    if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
        return Status::error("cannot read \"" + path + "\": it is not a file");
    std::unique_ptr<AllocatorHistory> history(new AllocatorHistory(path));
    if (!history->m_in) {
        return Status::error("cannot read \"" + path + "\" (" +
                             std::generic_category().message(errno) + "): check its name");
    }
    if (Status s = history->readHeader(); !s.ok()) return s;
    return history;
}

AllocatorHistory::Line AllocatorHistory::readLine() {
    m_line.clear();
    ++m_lineNumber;
    for (;;) {
        const int c = m_in.get();
        if (c == std::char_traits<char>::eof()) return m_line.empty() ? Line::End : Line::Cut;
        if (c == '\n') return Line::Whole;
        if (m_line.size() == kLongestLine) return Line::TooLong;
        m_line.push_back(static_cast<char>(c));
    }
}

Status AllocatorHistory::readHeader() {
    const auto bad = [this](const char* what) {
        return Status::error("\"" + m_path + "\" is no allocator history of Tapescope: " + what);
    };
    if (readLine() != Line::Whole || m_line != kMagic) return bad("its first line is another one");
    if (readLine() != Line::Whole) return bad("it ends before it says of which process it is");
    const auto p = fieldsOf(m_line);
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    constexpr std::int32_t kMostRanks = std::numeric_limits<std::int32_t>::max();
    if (p.size() != 9 || p[0] != "P" || !number<std::int64_t>(p[1], 1, kMost, m_process.pid) ||
        !number<std::int64_t>(p[2], 0, kMost, m_process.parentPid) ||
        !number(p[3], -1, kMostRanks, m_process.rank) ||
        !number(p[4], -1, kMostRanks, m_process.localRank) ||
        !number(p[5], -1, kMostRanks, m_process.worldSize)) {
        return bad("its line 2 describes no process");
    }
    m_process.host = p[6];
    m_process.bootId = p[7];
    m_process.command = p[8];
    if (readLine() != Line::Whole) return bad("it ends before its first clock reading");
    const auto c = fieldsOf(m_line);
    if (c.size() != 3 || c[0] != "C" ||
        !number<std::int64_t>(c[1], 0, kLatestUs * 1000, m_process.monotonicZeroNs) ||
        !number<std::int64_t>(c[2], 0, kLatestUs * 1000, m_process.realtimeZeroNs)) {
        return bad("its line 3 is no clock reading");
    }
    m_clockDifference = m_process.realtimeZeroNs - m_process.monotonicZeroNs;
    // Times are Unix microseconds, brought to CLOCK_MONOTONIC by a reading at most a flush away.
    m_process.clockErrorNs = 1'000'000;
    return {};
}

void AllocatorHistory::stop(const std::string& why) {
    m_stopped = true;
    m_damage = "line " + std::to_string(m_lineNumber) + " of \"" + m_path + "\" " + why;
}

bool AllocatorHistory::readEvent(const std::vector<std::string_view>& f, AllocatorEvent& e) {
    std::int64_t us = 0;
    std::uint32_t site = 0;
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    constexpr auto kMostWord = std::numeric_limits<std::uint64_t>::max();
    if (f.size() != 9 || !number<std::int64_t>(f[1], 0, kLatestUs, us) ||
        !actionOf(f[2], e.action) || !number<std::uint32_t>(f[3], 0, 65535, e.device) ||
        !number<std::uint64_t>(f[4], 0, kMostWord, e.address) ||
        !number<std::int64_t>(f[5], 0, kMost, e.sizeBytes) ||
        !number<std::uint64_t>(f[6], 0, kMostWord, e.stream) ||
        !number<std::int64_t>(f[7], 0, kMost, e.deviceFreeBytes) ||
        !number<std::uint32_t>(f[8], 0, static_cast<std::uint32_t>(m_sites.size() - 1), site)) {
        return false;
    }
    e.site = site;
    e.timeNs = us * 1000 - m_clockDifference - m_process.monotonicZeroNs;
    // A wall clock that was set back must not put events before earlier ones.
    m_lastNs = std::max(m_lastNs, e.timeNs);
    e.timeNs = m_lastNs;
    return true;
}

bool AllocatorHistory::readOther(const std::vector<std::string_view>& f) {
    if (f[0] == "C") {
        std::int64_t monotonic = 0;
        std::int64_t realtime = 0;
        if (f.size() != 3 || !number<std::int64_t>(f[1], 0, kLatestUs * 1000, monotonic) ||
            !number<std::int64_t>(f[2], 0, kLatestUs * 1000, realtime))
            return false;
        m_clockDifference = realtime - monotonic;
        return true;
    }
    if (f[0] == "S") {
        std::size_t id = 0;
        if (f.size() != 3 || !number<std::size_t>(f[1], 1, kMostSites, id) || id != m_sites.size())
            return false;
        m_sites.emplace_back(f[2]);
        return true;
    }
    if (f[0] == "V" && f.size() == 2) {
        m_torch = f[1];
        return true;
    }
    if (f[0] == "L") {
        Loss loss;
        if (f.size() != 3 || m_losses.size() >= kMostLosses ||
            !number<std::int64_t>(f[1], 1, INT64_MAX, loss.count))
            return false;
        loss.reason = f[2];
        m_losses.push_back(std::move(loss));
        return true;
    }
    if (f[0] == "X" && f.size() == 1) {
        m_closed = true;
        return true;
    }
    return false;
}

std::vector<AllocatorEvent> AllocatorHistory::next(std::size_t maxEvents) {
    std::vector<AllocatorEvent> out;
    while (!m_stopped && out.size() < maxEvents) {
        switch (readLine()) {
            case Line::End:
                m_stopped = true;
                return out;
            case Line::Cut:
                stop("is cut: its process was killed while it wrote");
                return out;
            case Line::TooLong:
                stop("is longer than " + std::to_string(kLongestLine) + " bytes");
                return out;
            case Line::Whole:
                break;
        }
        const auto fields = fieldsOf(m_line);
        AllocatorEvent e;
        if (fields[0] == "E" ? readEvent(fields, e) : readOther(fields)) {
            if (fields[0] == "E") out.push_back(e);
        } else {
            stop("is none that the hook writes; what follows is left out");
        }
    }
    return out;
}

}  // namespace tapescope::profiler::record
