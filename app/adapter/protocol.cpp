// SPDX-License-Identifier: Apache-2.0
#include "app/adapter/protocol.h"

#include "app/adapter/framing.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace tapescope::app {
namespace {

// Nothing in DAP nests deeper than a dozen levels; a parser's memory for brackets must not be the
// sender's choice.
constexpr int kMaxDepth = 64;

class TooDeep : public std::runtime_error {
public:
    TooDeep() : std::runtime_error("its JSON nests too deeply") {}
};

Json parseJson(const std::string& body) {
    return Json::parse(body, [](int depth, Json::parse_event_t /*event*/, Json& /*parsed*/) {
        if (depth > kMaxDepth) throw TooDeep();
        return true;
    });
}

/// The member, or null if there is none or it is JSON's null.
const Json* member(const Json& object, const char* name) {
    const auto at = object.find(name);
    return at == object.end() || at->is_null() ? nullptr : &*at;
}

[[noreturn]] void refuse(const char* name, const char* what) {
    throw RequestError("The argument \"" + std::string(name) + "\" must be " + what + ".");
}

std::int64_t toInteger(const Json& value, const char* name) {
    if (value.is_number_unsigned()) {
        const auto number = value.get<std::uint64_t>();
        if (number > static_cast<std::uint64_t>(INT64_MAX)) refuse(name, "an integer below 2^63");
        return static_cast<std::int64_t>(number);
    }
    if (value.is_number_integer()) return value.get<std::int64_t>();
    // Some clients have only one kind of number and write 3.0.
    if (value.is_number_float()) {
        const auto number = value.get<double>();
        if (std::nearbyint(number) == number && std::abs(number) < 9e15)
            return static_cast<std::int64_t>(number);
    }
    refuse(name, "an integer");
}

}  // namespace

Request parseRequest(const std::string& body, Json& arguments) {
    Request request;
    arguments = Json::object();
    Json message;
    try {
        message = parseJson(body);
    } catch (const TooDeep& e) {
        request.fault = std::string("The message was not read: ") + e.what() + ".";
        return request;
    } catch (const Json::exception& e) {
        request.fault = std::string("The message is not valid JSON: ") + e.what();
        return request;
    }
    if (!message.is_object()) {
        request.fault = "The message is not a JSON object.";
        return request;
    }
    if (const Json* seq = member(message, "seq"); seq && seq->is_number_integer()) {
        request.seq = seq->get<std::int64_t>();
    }
    if (const Json* command = member(message, "command"); command && command->is_string()) {
        request.command = command->get<std::string>();
    }
    const Json* type = member(message, "type");
    if (!type || !type->is_string()) {
        request.fault = "The message has no \"type\": a request has \"type\": \"request\".";
    } else if (*type != "request") {
        request.fault = "The adapter takes requests only, not a message of type \"" +
                        type->get<std::string>() + "\".";
    } else if (request.command.empty()) {
        request.fault = "The request has no \"command\".";
    } else if (const Json* given = member(message, "arguments")) {
        if (given->is_object()) {
            arguments = *given;
        } else {
            request.fault = "The request's \"arguments\" is not an object.";
        }
    }
    return request;
}

std::string textArgument(const Json& arguments, const char* name) {
    std::optional<std::string> text = optionalText(arguments, name);
    if (!text)
        throw RequestError("The argument \"" + std::string(name) +
                           "\" is missing: it must be a string.");
    return *std::move(text);
}

std::optional<std::string> optionalText(const Json& arguments, const char* name) {
    const Json* value = member(arguments, name);
    if (!value) return std::nullopt;
    if (!value->is_string()) refuse(name, "a string");
    return value->get<std::string>();
}

std::int64_t integerArgument(const Json& arguments, const char* name) {
    const std::optional<std::int64_t> number = optionalInteger(arguments, name);
    if (!number)
        throw RequestError("The argument \"" + std::string(name) +
                           "\" is missing: it must be an integer.");
    return *number;
}

std::optional<std::int64_t> optionalInteger(const Json& arguments, const char* name) {
    const Json* value = member(arguments, name);
    if (!value) return std::nullopt;
    return toInteger(*value, name);
}

bool flagArgument(const Json& arguments, const char* name, bool otherwise) {
    const Json* value = member(arguments, name);
    if (!value) return otherwise;
    if (!value->is_boolean()) refuse(name, "true or false");
    return value->get<bool>();
}

const Json& objectArgument(const Json& arguments, const char* name) {
    static const Json empty = Json::object();
    const Json* value = member(arguments, name);
    if (!value) return empty;
    if (!value->is_object()) refuse(name, "an object");
    return *value;
}

const Json& arrayArgument(const Json& arguments, const char* name) {
    static const Json empty = Json::array();
    const Json* value = member(arguments, name);
    if (!value) return empty;
    if (!value->is_array()) refuse(name, "an array");
    return *value;
}

Json jsonNumber(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
    return value;
}

void MessageWriter::response(const Request& request, const Json& body) {
    Json message{{"type", "response"},
                 {"request_seq", request.seq},
                 {"success", true},
                 {"command", request.command}};
    if (!body.empty()) message["body"] = body;
    send(message);
}

void MessageWriter::error(const Request& request, const std::string& message) {
    // `format` is a template: the text goes in as a variable, braces and all.
    Json response{{"type", "response"},
                  {"request_seq", request.seq},
                  {"success", false},
                  {"command", request.command},
                  {"message", message},
                  {"body",
                   {{"error",
                     {{"id", 1},
                      {"format", "{text}"},
                      {"variables", {{"text", message}}},
                      {"showUser", true}}}}}};
    send(response);
}

void MessageWriter::event(std::string_view name, const Json& body) {
    Json message{{"type", "event"}, {"event", name}};
    if (!body.empty()) message["body"] = body;
    send(message);
}

void MessageWriter::output(std::string_view category, std::string_view text) {
    std::string line(text);
    if (!line.ends_with('\n')) line += '\n';
    event("output", {{"category", category}, {"output", std::move(line)}});
}

void MessageWriter::send(Json& message) {
    const std::lock_guard lock(m_mutex);
    message["seq"] = m_nextSeq++;
    // Text from files and exceptions may hold bytes that are no UTF-8: replaced, not refused.
    const std::string body = message.dump(-1, ' ', false, Json::error_handler_t::replace);
    m_transport.write(frameMessage(body));
}

}  // namespace tapescope::app
