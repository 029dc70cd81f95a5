// SPDX-License-Identifier: Apache-2.0
#include "storage/tape/process_identity.h"

#include <array>
#include <cerrno>
#include <fstream>
#include <optional>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill() is POSIX
#include <sstream>
#include <unistd.h>

namespace tapescope::storage {
namespace {

std::string firstLine(const char* file) {
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    return line;
}

struct ProcStat {
    char state = '?';
    std::int64_t startTicks = 0;
};

std::optional<ProcStat> procStat(std::int64_t pid) {
    std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    if (!std::getline(in, line)) return std::nullopt;
    // The name in parentheses may hold anything, also ") ": fields are counted from the last ')'.
    const std::size_t end = line.rfind(')');
    if (end == std::string::npos) return std::nullopt;
    std::istringstream fields(line.substr(end + 1));
    ProcStat stat;
    fields >> stat.state;
    std::string skipped;
    for (int field = 4; field < 22; ++field) fields >> skipped;
    fields >> stat.startTicks;
    if (!fields) return std::nullopt;
    return stat;
}

}  // namespace

ProcessIdentity ProcessIdentity::self() {
    ProcessIdentity me;
    std::array<char, 256> text{};
    if (gethostname(text.data(), text.size() - 1) == 0) me.host = text.data();
    me.bootId = firstLine("/proc/sys/kernel/random/boot_id");
    const ssize_t n = readlink("/proc/self/ns/pid", text.data(), text.size());
    if (n > 0) me.pidNamespace.assign(text.data(), static_cast<std::size_t>(n));
    me.pid = getpid();
    if (const auto stat = procStat(me.pid)) me.startTicks = stat->startTicks;
    return me;
}

Liveness livenessOf(const ProcessIdentity& process) {
    // Machine and container stay the same, also across fork(); pid and start are not used here.
    static const ProcessIdentity me = ProcessIdentity::self();
    if (process.host != me.host) return Liveness::Unknown;
    if (process.bootId != me.bootId) return Liveness::Dead;  // the machine has been restarted since
    if (process.pidNamespace != me.pidNamespace) return Liveness::Unknown;
    if (process.pid <= 0) return Liveness::Dead;
    if (const auto stat = procStat(process.pid)) {
        const bool gone = stat->state == 'Z' || stat->state == 'X';
        return !gone && stat->startTicks == process.startTicks ? Liveness::Alive : Liveness::Dead;
    }
    // /proc may hide other users' processes.
    return kill(static_cast<pid_t>(process.pid), 0) == 0 || errno == EPERM ? Liveness::Alive
                                                                           : Liveness::Dead;
}

}  // namespace tapescope::storage
