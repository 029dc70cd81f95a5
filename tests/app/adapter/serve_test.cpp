// SPDX-License-Identifier: Apache-2.0
#include "app/adapter/serve.h"

#include "app/adapter/transport.h"
#include "test_client.h"

#include <arpa/inet.h>
#include <array>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <stop_token>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace tapescope::app {
namespace {

/// A connected pair of descriptors.
struct SocketPair {
    SocketPair() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds.data()), 0); }
    ~SocketPair() {
        for (const int fd : fds) ::close(fd);
    }
    SocketPair(const SocketPair&) = delete;
    SocketPair& operator=(const SocketPair&) = delete;
    std::array<int, 2> fds{};
};

TEST(FdTransport, CloseWakesAReaderAndABlockedWriter) {
    const SocketPair pair;
    FdTransport transport(pair.fds[0], pair.fds[0]);
    std::thread reader([&] {
        std::array<char, 8> buffer{};
        EXPECT_EQ(transport.read(buffer), 0U);
    });
    // Nobody reads the other end: this write fills the socket and stays.
    std::thread writer([&] { EXPECT_FALSE(transport.write(std::string(64U << 20U, 'x'))); });
    transport.close();
    reader.join();
    writer.join();
}

TEST(FdTransport, CarriesBytesOverPipesAndSeesTheirEnd) {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    FdTransport transport(ends[0], ends[1]);
    const std::string sent(100'000, 'y');
    std::thread writer([&] {
        EXPECT_TRUE(transport.write(sent));
        ::close(ends[1]);
    });
    std::string got;
    std::array<char, 4096> buffer{};
    while (const std::size_t n = transport.read(buffer)) got.append(buffer.data(), n);
    writer.join();
    EXPECT_EQ(got, sent);
    ::close(ends[0]);
}

TEST(ServeTcp, ReturnsWhenItIsStopped) {
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(serveTcp(testModels(), {.port = 0, .sessions = 0, .stop = stop.get_token()}), 0);
}

TEST(ServeTcp, SaysThatAPortIsTaken) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    socklen_t length = sizeof address;
    ASSERT_EQ(bind(fd, generic, length), 0);
    ASSERT_EQ(listen(fd, 1), 0);
    ASSERT_EQ(getsockname(fd, generic, &length), 0);
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(serveTcp(testModels(), {.port = ntohs(address.sin_port)}), 1);
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("cannot listen on 127.0.0.1:"), std::string::npos) << said;
    EXPECT_NE(said.find("--port"), std::string::npos) << said;
    ::close(fd);
}

}  // namespace
}  // namespace tapescope::app
