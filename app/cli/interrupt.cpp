// SPDX-License-Identifier: Apache-2.0
#include "app/cli/interrupt.h"

#include <cstdio>
#include <unistd.h>

namespace tapescope::app {

Interrupt::Interrupt() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, &m_saved);
    m_waiter = std::jthread([this, set](std::stop_token stop) {
        while (!stop.stop_requested()) {
            // Wakes five times a second to see its own stop: a signal handler could not call
            // request_stop().
            timespec wait{0, 200'000'000};
            const int got = sigtimedwait(&set, nullptr, &wait);
            if (got <= 0) continue;
            if (m_signal != 0) _exit(128 + got);
            m_signal = got;
            std::fputs("\nstopping; once more to end at once\n", stderr);
            m_source.request_stop();
        }
    });
}

Interrupt::~Interrupt() {
    m_waiter.request_stop();
    m_waiter.join();
    pthread_sigmask(SIG_SETMASK, &m_saved, nullptr);
}

}  // namespace tapescope::app
