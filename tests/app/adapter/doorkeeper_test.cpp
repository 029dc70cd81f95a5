// SPDX-License-Identifier: Apache-2.0
#include "app/adapter/doorkeeper.h"

#include "app/adapter/framing.h"

#include <arpa/inet.h>
#include <array>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

namespace tapescope::app {
namespace {

struct Listener {
    Listener() {
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof address;
        EXPECT_EQ(bind(fd, generic(), length), 0);
        EXPECT_EQ(listen(fd, 4), 0);
        EXPECT_EQ(getsockname(fd, generic(), &length), 0);
    }
    ~Listener() { ::close(fd); }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    int connected() {
        const int client = socket(AF_INET, SOCK_STREAM, 0);
        EXPECT_EQ(connect(client, generic(), sizeof address), 0);
        return client;
    }
    sockaddr* generic() { return reinterpret_cast<sockaddr*>(&address); }

    int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
};

TEST(Doorkeeper, TellsASecondClientThatAnotherIsBeingServed) {
    Listener listener;
    Doorkeeper doorkeeper(listener.fd);
    const int client = listener.connected();
    const std::string request =
        frameMessage(R"({"seq":7,"type":"request","command":"initialize","arguments":{}})");
    ASSERT_EQ(send(client, request.data(), request.size(), 0),
              static_cast<ssize_t>(request.size()));
    FrameReader frames;
    std::array<char, 4096> buffer{};
    std::string answer;
    while (const ssize_t n = recv(client, buffer.data(), buffer.size(), 0)) {
        ASSERT_GT(n, 0);
        frames.feed(std::string_view(buffer.data(), static_cast<std::size_t>(n)));
        if (const auto item = frames.next()) answer = item->text;
    }
    const auto response = nlohmann::json::parse(answer);
    EXPECT_EQ(response["type"], "response");
    EXPECT_EQ(response["request_seq"], 7);
    EXPECT_EQ(response["success"], false);
    const auto message = response["message"].get<std::string>();
    EXPECT_NE(message.find("one at a time"), std::string::npos) << message;
    EXPECT_NE(message.find("--port"), std::string::npos) << message;
    EXPECT_EQ(doorkeeper.finish(), -1);
    ::close(client);
}

TEST(Doorkeeper, KeepsAClientThatComesAsTheSessionEnds) {
    Listener listener;
    Doorkeeper doorkeeper(listener.fd);
    const int client = listener.connected();
    int next = doorkeeper.finish();
    // Not seen yet: then it is still in the listener's queue.
    if (next < 0) next = accept(listener.fd, nullptr, nullptr);
    ASSERT_GE(next, 0);
    ASSERT_EQ(send(client, "x", 1, 0), 1);
    char got = 0;
    EXPECT_EQ(recv(next, &got, 1, 0), 1);
    EXPECT_EQ(got, 'x');
    ::close(next);
    ::close(client);
}

}  // namespace
}  // namespace tapescope::app
