// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/adapter/framing.h"
#include "app/adapter/session.h"
#include "memory_transport.h"
#include "plugins/api/model.h"

#include <cstdint>
#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

namespace tapescope::app {

using Json = nlohmann::json;

/// Models small enough to debug in milliseconds: "tiny" (conv → relu → linear on 4×4 images, nine
/// operators and more a step), "broken" (a shape error in step 1), "thrower" (a std::runtime_error
/// in step 1).
const plugins::ModelRegistry& testModels();

/// A DAP client in the test's thread against a Session in another.
class TestClient final {
public:
    TestClient();
    ~TestClient();

    /// Sends a request and returns its response; events that come meanwhile are kept.
    Json request(const std::string& command, const Json& arguments = Json::object());
    /// The response's body; a failure fails the test.
    Json ask(const std::string& command, const Json& arguments = Json::object());
    /// The error text; a success fails the test.
    std::string refusal(const std::string& command, const Json& arguments = Json::object());
    void sendRaw(std::string_view bytes) { m_transport.feed(bytes); }
    void sendBody(const std::string& body) { m_transport.feed(frameMessage(body)); }
    /// The next response, whoever asked.
    Json nextResponse();
    /// The next event of that name; earlier ones of other names are kept.
    Json event(const std::string& name);
    /// True if such an event has come already.
    bool hasEvent(const std::string& name) const;
    /// No more input; returns when the session has ended.
    void finish();

    // ---- the usual beginnings
    void initialize();
    /// initialize, function breakpoints, launch, configurationDone. Returns the first stop's event
    /// body.
    Json startTiny(const std::vector<std::string>& functionBreakpoints,
                   Json launch = {{"steps", 2}});
    /// Goes on with a command and returns the next stop's body.
    Json go(const std::string& command, const Json& arguments = Json::object());
    std::vector<Json> frames();
    /// The variables of a scope of the innermost frame, by name.
    Json scope(const std::string& name, std::size_t frame = 0);
    Json variable(const std::string& scopeName, const std::string& name);

private:
    Json nextMessage();

    MemoryTransport m_transport;
    FrameReader m_reader;
    std::deque<Json> m_events;
    std::deque<Json> m_responses;
    std::int64_t m_seq = 0;
    Session m_session;
    std::thread m_thread;
};

std::vector<std::byte> decodeBase64(const std::string& text);
std::string nameAt(const Json& stop);

}  // namespace tapescope::app
