// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <functional>
#include <string>
#include <sys/types.h>
#include <thread>
#include <vector>

namespace tapescope::profiler::record {

/// How a program ended.
struct Ending {
    int exitCode = 0;
    int signal = 0;  ///< that killed it, 0 = it exited
    /// What a shell would give as its status.
    int status() const { return signal != 0 ? 128 + signal : exitCode; }
};

/// Runs a program in our place: it has our stdin, stdout, stderr and process group, and what is
/// sent to us reaches it too. Construct before any thread, so that all of them leave the signals to
/// wait().
///
/// A signal that the terminal sends (Ctrl-C, Ctrl-\, hanging up) goes to the whole group by itself;
/// one that somebody sends to us alone is passed on. Ctrl-Z stops both, and `fg` continues both.
class Child final {
public:
    Child();
    ~Child();  ///< gives the signals back; does not end the program
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    /// 0, or the errno of what could not be done: ENOENT (no such command), EACCES, ENOEXEC, …
    int start(const std::vector<std::string>& command, const std::vector<std::string>& environment);
    pid_t pid() const { return m_pid; }
    /// Blocks until the program has ended. What came for it until then is void; the signals stay
    /// blocked until this object is gone: Ctrl-C just after the program's end must not lose its
    /// record (AfterSignals).
    Ending wait();

private:
    void give();
    void forget();

    sigset_t m_set{};
    sigset_t m_saved{};
    struct sigaction m_savedChildAction {};
    bool m_taken = true;
    pid_t m_pid = -1;
};

/// Takes the signals of a user who wants an end (INT, TERM, HUP, QUIT) after the program has ended
/// and while its Child still blocks them. Calls `got` on a thread of its own with the signal and
/// how many there were. Ctrl-Z stops us as usual.
class AfterSignals final {
public:
    explicit AfterSignals(std::function<void(int signal, int count)> got);
    ~AfterSignals();
    AfterSignals(const AfterSignals&) = delete;
    AfterSignals& operator=(const AfterSignals&) = delete;

private:
    std::jthread m_waiter;
};

/// Ends this process as `ending` says: with its exit code, or by the same signal (without a core
/// file of ours).
[[noreturn]] void endAs(const Ending& ending);

}  // namespace tapescope::profiler::record
