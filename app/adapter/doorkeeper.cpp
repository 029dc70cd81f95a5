// SPDX-License-Identifier: Apache-2.0
#include "app/adapter/doorkeeper.h"

#include "app/adapter/framing.h"
#include "app/adapter/protocol.h"
#include "app/adapter/transport.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <string_view>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace tapescope::app {
namespace {

// A session that is ending seals its tape meanwhile: whoever reconnects at once is no intruder.
constexpr std::chrono::milliseconds kPatience{1000};
constexpr const char* kRefusal =
    "Another client is being served, and a debug adapter serves one at a time: end its session "
    "first, or start another `tapescope dap --port` with another port.";

enum class Ready { Input, Over, Timeout };

/// Waits for input on fd or the end of the session. limit below 0: for ever.
Ready waitFor(int fd, int overFd, std::chrono::milliseconds limit) {
    while (true) {
        std::array<pollfd, 2> fds{{{fd, POLLIN, 0}, {overFd, POLLIN, 0}}};
        const int n = poll(fds.data(), fds.size(), static_cast<int>(limit.count()));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 || fds[1].revents != 0) return Ready::Over;
        return n == 0 ? Ready::Timeout : Ready::Input;
    }
}

/// Answers the first request with the refusal. A client that sends none is only cut off.
void refuse(int client, int overFd) {
    FdTransport transport(client, client);
    MessageWriter writer(transport);
    FrameReader frames;
    std::array<char, 4096> buffer{};
    for (int reads = 0; reads < 16; ++reads) {
        if (waitFor(client, overFd, kPatience) != Ready::Input) return;
        const std::size_t n = transport.read(buffer);
        if (n == 0) return;
        frames.feed(std::string_view(buffer.data(), n));
        if (const auto item = frames.next(); item && !item->isFault) {
            Json arguments;
            writer.error(parseRequest(item->text, arguments), kRefusal);
            shutdown(client, SHUT_WR);
            return;
        }
    }
}

}  // namespace

Doorkeeper::Doorkeeper(int listener)
    : m_listener(listener), m_overFd(eventfd(0, EFD_CLOEXEC)), m_thread([this] { watch(); }) {}

Doorkeeper::~Doorkeeper() {
    if (const int client = finish(); client >= 0) ::close(client);
    if (m_overFd >= 0) ::close(m_overFd);
}

int Doorkeeper::finish() {
    if (m_thread.joinable()) {
        eventfd_write(m_overFd, 1);
        m_thread.join();
    }
    return std::exchange(m_waiting, -1);
}

void Doorkeeper::watch() {
    if (m_overFd < 0) return;  // no descriptors left: others wait, as without a doorkeeper
    while (waitFor(m_listener, m_overFd, std::chrono::milliseconds{-1}) == Ready::Input) {
        const int client = accept4(m_listener, nullptr, nullptr, SOCK_CLOEXEC);
        if (client < 0) {
            if (errno == EINTR || errno == ECONNABORTED || errno == EAGAIN) continue;
            return;
        }
        // Nothing will be readable here but the end of the session.
        if (waitFor(m_overFd, m_overFd, kPatience) == Ready::Over) {
            m_waiting = client;
            return;
        }
        refuse(client, m_overFd);
        ::close(client);
    }
}

}  // namespace tapescope::app
