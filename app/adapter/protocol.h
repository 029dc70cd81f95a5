// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/adapter/transport.h"

#include <cstdint>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tapescope::app {

using Json = nlohmann::json;

/// A request that cannot be served; what() becomes the error response's message.
class RequestError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A message with the parts every request has, or what is wrong with it.
struct Request {
    std::int64_t seq = 0;  ///< 0 where none could be read
    std::string command;
    std::string fault;  ///< one sentence; empty for a request
};
/// Never throws for bad input. arguments becomes an object, empty if there was none.
Request parseRequest(const std::string& body, Json& arguments);

// ---- arguments; all throw RequestError naming the argument and what it must be.
std::string textArgument(const Json& arguments, const char* name);
std::optional<std::string> optionalText(const Json& arguments, const char* name);
std::int64_t integerArgument(const Json& arguments, const char* name);
std::optional<std::int64_t> optionalInteger(const Json& arguments, const char* name);
bool flagArgument(const Json& arguments, const char* name, bool otherwise);
/// An object; an empty one if it is missing.
const Json& objectArgument(const Json& arguments, const char* name);
/// An array; an empty one if it is missing.
const Json& arrayArgument(const Json& arguments, const char* name);

/// The number, or "NaN", "Infinity", "-Infinity", which JSON cannot say.
Json jsonNumber(double value);

/// Sends messages, numbered in the order they go out. Any thread. What the other side no longer
/// takes is dropped.
class MessageWriter final {
public:
    explicit MessageWriter(Transport& transport) : m_transport(transport) {}
    void response(const Request& request, const Json& body);
    void error(const Request& request, const std::string& message);
    void event(std::string_view name, const Json& body);
    /// An `output` event; text gets its line end here. category: "console" or "stderr".
    void output(std::string_view category, std::string_view text);

private:
    void send(Json& message);

    Transport& m_transport;
    std::mutex m_mutex;
    std::int64_t m_nextSeq = 1;
};

}  // namespace tapescope::app
