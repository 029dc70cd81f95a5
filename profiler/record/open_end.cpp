// SPDX-License-Identifier: Apache-2.0
#include "profiler/record/open_end.h"

#include <array>
#include <cstdio>

namespace tapescope::profiler::record {
namespace {

constexpr std::size_t kLongestCommand = 80;

std::string sentence(bool live, std::int64_t lastNs) {
    return live ? "The process still recorded when this was joined: it holds what was written "
                  "until " +
                      secondsText(lastNs) + ", its loss counters too."
                : "The process ended without closing its record (killed, _exit, exec, disk "
                  "full): it holds what was written until " +
                      secondsText(lastNs) +
                      "; up to half a second before that may be missing, and its loss counters "
                      "are those of the last commit.";
}

}  // namespace

storage::GpuStatus openEnded(storage::GpuStatus own, bool live, std::int64_t lastNs) {
    if (own.code == "ok" || own.code == kCut || own.code == kStillRecords) {
        own.code = live ? kStillRecords : kCut;
        own.message = sentence(live, lastNs);
    } else {
        // The reason that it gave itself says more; a later join may move a time.
        own.message += live ? " The process still recorded when this was joined."
                            : " The process ended without closing its record.";
    }
    own.timeNs = lastNs;
    return own;
}

storage::GpuStatus retold(storage::GpuStatus row) {
    if (row.code == kCut || row.code == kStillRecords)
        row.message = sentence(row.code == kStillRecords, row.timeNs);
    return row;
}

std::string secondsText(std::int64_t ns) {
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "%.3f s", static_cast<double>(ns) / 1e9);
    return text.data();
}

std::string processText(const storage::GpuProcess& process) {
    std::string command = process.command;
    if (command.size() > kLongestCommand) {
        std::size_t at = kLongestCommand;
        while (at > 0 && (static_cast<unsigned char>(command[at]) & 0xC0U) == 0x80U) --at;
        command.resize(at);
        command += "…";
    }
    return "process " + std::to_string(process.pid) + (command.empty() ? "" : " (" + command + ")");
}

}  // namespace tapescope::profiler::record
