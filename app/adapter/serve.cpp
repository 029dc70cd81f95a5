// SPDX-License-Identifier: Apache-2.0
#include "app/adapter/serve.h"

#include "app/adapter/doorkeeper.h"
#include "app/adapter/session.h"
#include "app/adapter/transport.h"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tapescope::app {
namespace {

class FileDescriptor {
public:
    explicit FileDescriptor(int fd) : m_fd(fd) {}
    ~FileDescriptor() {
        if (m_fd >= 0) ::close(m_fd);
    }
    FileDescriptor(const FileDescriptor&) = delete;
    FileDescriptor& operator=(const FileDescriptor&) = delete;
    int get() const { return m_fd; }

private:
    int m_fd;
};

int failed(const std::string& what) {
    std::fprintf(stderr, "tapescope: %s: %s\n", what.c_str(), std::strerror(errno));
    return 1;
}

/// Blocks until a client comes; -1 once stopFd is readable.
int acceptClient(int listener, int stopFd) {
    while (true) {
        std::array<pollfd, 2> fds{{{listener, POLLIN, 0}, {stopFd, POLLIN, 0}}};
        if (poll(fds.data(), fds.size(), -1) < 0) {
            if (errno == EINTR) continue;
            return -1;
        }
        if (fds[1].revents != 0) return -1;
        const int client = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        // A client that went away between poll and accept is no reason to end.
        if (client >= 0) return client;
        if (errno != EINTR && errno != ECONNABORTED && errno != EAGAIN) return -1;
    }
}

void serveClient(const plugins::ModelRegistry& registry, int client, const std::stop_token& stop) {
    const int on = 1;
    // Messages are small and answered one by one: waiting to fill packets would cost 40 ms each.
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    FdTransport transport(client, client);
    const std::stop_callback close(stop, [&transport] { transport.close(); });
    Session session(registry, transport);
    session.serve();
}

}  // namespace

int serveStdio(const plugins::ModelRegistry& registry) {
    std::fflush(stdout);
    const FileDescriptor output(dup(STDOUT_FILENO));
    // From here on whatever prints to stdout lands on stderr: the protocol has its own copy.
    if (output.get() < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        return failed("standard output cannot be used for the debug adapter");
    }
    std::signal(SIGPIPE, SIG_IGN);
    FdTransport transport(STDIN_FILENO, output.get());
    Session session(registry, transport);
    session.serve();
    return 0;
}

int serveTcp(const plugins::ModelRegistry& registry, const TcpOptions& options) {
    const std::string place = "127.0.0.1:" + std::to_string(options.port);
    const FileDescriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (listener.get() < 0) return failed("no socket for " + place);
    const int on = 1;
    setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(options.port);
    socklen_t length = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (bind(listener.get(), generic, length) < 0 || listen(listener.get(), 8) < 0 ||
        getsockname(listener.get(), generic, &length) < 0) {
        return failed("cannot listen on " + place + " (choose another --port, or 0 for any)");
    }
    const FileDescriptor stopFd(eventfd(0, EFD_CLOEXEC));
    if (stopFd.get() < 0) return failed("no event descriptor");
    const std::stop_callback wake(options.stop, [&stopFd] { eventfd_write(stopFd.get(), 1); });

    std::printf("listening on 127.0.0.1:%d\n", ntohs(address.sin_port));
    std::fflush(stdout);
    int next = -1;
    for (int served = 0; options.sessions == 0 || served < options.sessions; ++served) {
        const FileDescriptor client(next >= 0 ? next : acceptClient(listener.get(), stopFd.get()));
        next = -1;
        if (client.get() < 0) break;
        Doorkeeper doorkeeper(listener.get());
        serveClient(registry, client.get(), options.stop);
        next = doorkeeper.finish();
    }
    if (next >= 0) ::close(next);
    return 0;
}

}  // namespace tapescope::app
