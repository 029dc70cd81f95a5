// SPDX-License-Identifier: Apache-2.0
#include "profiler/record/child.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill() and the rest are POSIX
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace tapescope::profiler::record {
namespace {

constexpr std::array kForwarded = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                   SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

// Blocked in every thread: wakes the one that waits for it.
constexpr int kWake = SIGUSR2;

std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> out;
    out.reserve(texts.size() + 1);
    for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));  // NOLINT
    out.push_back(nullptr);
    return out;
}

}  // namespace

Child::Child() {
    sigemptyset(&m_set);
    for (const int signal : kForwarded) sigaddset(&m_set, signal);
    sigaddset(&m_set, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &m_set, &m_saved);
    // Where our parent ignores SIGCHLD we inherit that, and there would be nothing to wait for.
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &standard, &m_savedChildAction);
}

Child::~Child() { give(); }

void Child::give() {
    if (!m_taken) return;
    m_taken = false;
    forget();
    sigaction(SIGCHLD, &m_savedChildAction, nullptr);
    pthread_sigmask(SIG_SETMASK, &m_saved, nullptr);
}

/// What came for a program that has ended is void.
void Child::forget() {
    const timespec now{};
    while (sigtimedwait(&m_set, nullptr, &now) > 0) {
    }
}

int Child::start(const std::vector<std::string>& command,
                 const std::vector<std::string>& environment) {
    const std::vector<char*> argv = pointers(command);
    const std::vector<char*> envp = pointers(environment);
    std::array<int, 2> pipe{};
    if (pipe2(pipe.data(), O_CLOEXEC) != 0) return errno;
    m_pid = fork();
    if (m_pid == 0) {
        // Only what is safe after fork() in a process with threads.
        sigaction(SIGCHLD, &m_savedChildAction, nullptr);
        pthread_sigmask(SIG_SETMASK, &m_saved, nullptr);
        execvpe(argv[0], argv.data(), envp.data());
        const int error = errno;
        (void)!write(pipe[1], &error, sizeof error);
        _exit(127);
    }
    const int forkError = errno;
    close(pipe[1]);
    int error = 0;
    if (m_pid < 0) {
        error = forkError;
    } else {
        // Closed by a successful exec: then nothing comes.
        ssize_t n = 0;
        do n = read(pipe[0], &error, sizeof error);
        while (n < 0 && errno == EINTR);
        if (n != sizeof error) error = 0;
        if (error != 0) waitpid(m_pid, nullptr, 0);
    }
    close(pipe[0]);
    if (error != 0) m_pid = -1;
    return error;
}

Ending Child::wait() {
    for (;;) {
        int status = 0;
        const pid_t ended = waitpid(m_pid, &status, WNOHANG);
        if (ended == m_pid || (ended < 0 && errno == ECHILD)) {
            forget();
            Ending ending;
            if (ended == m_pid && WIFSIGNALED(status)) ending.signal = WTERMSIG(status);
            if (ended == m_pid && WIFEXITED(status)) ending.exitCode = WEXITSTATUS(status);
            return ending;
        }
        siginfo_t info{};
        const int signal = sigwaitinfo(&m_set, &info);
        if (signal <= 0 || signal == SIGCHLD) continue;
        // The kernel's own come from the terminal and have reached the program already.
        if (info.si_code != SI_KERNEL || signal == SIGCONT) kill(m_pid, signal);
        if (signal == SIGTSTP) raise(SIGSTOP);  // so that the shell sees its job stopped
    }
}

AfterSignals::AfterSignals(std::function<void(int signal, int count)> got)
    : m_waiter([got = std::move(got)](const std::stop_token& stop) {
          sigset_t set;
          sigemptyset(&set);
          for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, kWake})
              sigaddset(&set, signal);
          for (int count = 0; !stop.stop_requested();) {
              const int signal = sigwaitinfo(&set, nullptr);
              if (signal == SIGTSTP) raise(SIGSTOP);
              if (signal > 0 && signal != SIGTSTP && signal != kWake) got(signal, ++count);
          }
      }) {}

AfterSignals::~AfterSignals() {
    m_waiter.request_stop();
    pthread_kill(m_waiter.native_handle(), kWake);
}

void endAs(const Ending& ending) {
    (void)std::fflush(nullptr);
    if (ending.signal != 0) {
        const rlimit none{};
        setrlimit(RLIMIT_CORE, &none);
        sigset_t only;
        sigemptyset(&only);
        sigaddset(&only, ending.signal);
        ::signal(ending.signal, SIG_DFL);
        pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
        raise(ending.signal);
        // A signal that ends nobody here (it cannot be, it ended the program).
        _exit(128 + ending.signal);
    }
    _exit(ending.exitCode);
}

}  // namespace tapescope::profiler::record
