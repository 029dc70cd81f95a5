// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <csignal>
#include <stop_token>
#include <thread>

namespace tapescope::app {

/// Turns Ctrl-C (SIGINT) and SIGTERM into a stop request, so that a run ends at its next step with
/// a complete tape. A second signal ends the process at once. Construct it before other threads:
/// they inherit the blocked signals.
class Interrupt final {
public:
    Interrupt();
    ~Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;

    std::stop_token token() const { return m_source.get_token(); }
    bool received() const { return m_signal != 0; }
    int signal() const { return m_signal; }

private:
    sigset_t m_saved{};
    std::stop_source m_source;
    std::atomic<int> m_signal{0};
    std::jthread m_waiter;
};

}  // namespace tapescope::app
