// SPDX-License-Identifier: Apache-2.0
#include "app/adapter/transport.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

namespace tapescope::app {

FdTransport::FdTransport(int readFd, int writeFd)
    : m_readFd(readFd), m_writeFd(writeFd), m_closedFd(eventfd(0, EFD_CLOEXEC)) {
    if (m_closedFd < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

FdTransport::~FdTransport() { ::close(m_closedFd); }

bool FdTransport::waitFor(int fd, short events) const {
    std::array<pollfd, 2> fds{{{fd, events, 0}, {m_closedFd, POLLIN, 0}}};
    while (poll(fds.data(), fds.size(), -1) < 0) {
        if (errno != EINTR) return false;
    }
    return fds[1].revents == 0;
}

std::size_t FdTransport::read(std::span<char> buffer) {
    while (waitFor(m_readFd, POLLIN)) {
        const ssize_t got = ::read(m_readFd, buffer.data(), buffer.size());
        if (got >= 0) return static_cast<std::size_t>(got);
        if (errno != EINTR && errno != EAGAIN) return 0;
    }
    return 0;
}

bool FdTransport::write(std::string_view bytes) {
    while (!bytes.empty()) {
        if (!waitFor(m_writeFd, POLLOUT)) return false;
        ssize_t sent = send(m_writeFd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno == ENOTSOCK) {
            // A pipe that polls writable takes PIPE_BUF bytes without blocking.
            sent = ::write(m_writeFd, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
        }
        if (sent < 0) {
            if (errno == EINTR || errno == EAGAIN) continue;
            return false;
        }
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

void FdTransport::close() {
    const std::uint64_t one = 1;
    // Cannot fail: the counter is far from its limit.
    [[maybe_unused]] const ssize_t written = ::write(m_closedFd, &one, sizeof one);
}

}  // namespace tapescope::app
