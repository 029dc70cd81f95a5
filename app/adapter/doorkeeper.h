// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thread>

namespace tapescope::app {

/// While one client is served, tells others so instead of leaving them waiting in silence: their
/// first request is answered with an error, and the connection is closed. One that comes as the
/// session ends is kept and becomes the next client.
class Doorkeeper final {
public:
    /// listener: a listening socket, which nobody else accepts from meanwhile.
    explicit Doorkeeper(int listener);
    ~Doorkeeper();
    Doorkeeper(const Doorkeeper&) = delete;
    Doorkeeper& operator=(const Doorkeeper&) = delete;

    /// The session is over: stops, and gives the client that waits (the caller closes it), or -1.
    int finish();

private:
    void watch();

    int m_listener;
    int m_overFd;        // an eventfd, readable once the session is over
    int m_waiting = -1;  // of the thread; read after it has ended
    std::thread m_thread;
};

}  // namespace tapescope::app
