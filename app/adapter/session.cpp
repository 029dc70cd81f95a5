// SPDX-License-Identifier: Apache-2.0
#include "app/adapter/session.h"

#include "app/adapter/framing.h"
#include "app/adapter/session_impl.h"
#include "engine/text.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace tapescope::app {

Session::Session(const plugins::ModelRegistry& registry, Transport& transport)
    : m_impl(std::make_unique<Impl>(registry, transport)) {}
Session::~Session() = default;

void Session::serve() {
    FrameReader reader;
    std::vector<char> buffer(64 * 1024);
    while (!m_impl->disconnected) {
        const std::size_t got = m_impl->transport.read(buffer);
        if (got == 0) break;
        reader.feed({buffer.data(), got});
        while (std::optional<FrameReader::Item> item = reader.next()) {
            if (item->isFault) {
                m_impl->writer.error({}, item->text);
            } else {
                m_impl->handle(item->text);
            }
            if (m_impl->disconnected) break;
        }
    }
    m_impl->endDebuggee();
}

Session::Impl::Impl(const plugins::ModelRegistry& models, Transport& stream)
    : registry(models),
      transport(stream),
      writer(stream),
      debugger([this](const engine::debug::StopState& state) { onStop(state); }),
      breakpoints(debugger) {}

Session::Impl::~Impl() { endDebuggee(); }

void Session::Impl::endDebuggee() {
    store.clear();
    scopeReferences.clear();
    if (!debuggee) return;
    debuggee->requestEnd("the debugging session ended");
    debuggee->join();
    debuggee.reset();
}

const std::map<std::string, Session::Impl::Handler, std::less<>>& Session::Impl::handlers() {
    static const std::map<std::string, Handler, std::less<>> table{
        {"initialize", &Impl::initialize},
        {"launch", &Impl::launch},
        {"configurationDone", &Impl::configurationDone},
        {"disconnect", &Impl::disconnect},
        {"terminate", &Impl::terminate},
        {"setFunctionBreakpoints", &Impl::setFunctionBreakpoints},
        {"setBreakpoints", &Impl::setBreakpoints},
        {"setExceptionBreakpoints", &Impl::setExceptionBreakpoints},
        {"threads", &Impl::threads},
        {"continue", &Impl::goOn},
        {"pause", &Impl::pause},
        {"next", &Impl::next},
        {"stepIn", &Impl::stepIn},
        {"stepOut", &Impl::stepOut},
        {"stepBackward", &Impl::stepBackward},
        {"nextStep", &Impl::nextStep},
        {"stackTrace", &Impl::stackTrace},
        {"scopes", &Impl::scopes},
        {"variables", &Impl::variables},
        {"evaluate", &Impl::evaluate},
        {"readMemory", &Impl::readMemory},
        {"source", &Impl::source},
        {"tensorStats", &Impl::tensorStats},
        {"tensorSlice", &Impl::tensorSlice},
    };
    return table;
}

void Session::Impl::handle(const std::string& body) {
    Json arguments;
    const Request request = parseRequest(body, arguments);
    if (!request.fault.empty()) {
        writer.error(request, request.fault);
        return;
    }
    afterResponse = nullptr;
    Json answer;
    try {
        answer = dispatch(request, arguments);
    } catch (const std::exception& e) {
        // Whatever a handler refuses, the session goes on: the text is the answer.
        writer.error(request, e.what());
        return;
    }
    writer.response(request, answer);
    if (afterResponse) std::exchange(afterResponse, nullptr)();
}

Json Session::Impl::dispatch(const Request& request, const Json& arguments) {
    const auto handler = handlers().find(request.command);
    if (handler == handlers().end()) {
        std::vector<std::string> names;
        for (const auto& [name, function] : handlers()) names.push_back(name);
        const std::string hint = engine::didYouMean(request.command, names);
        throw RequestError("The adapter knows no request \"" + request.command + "\"" +
                           (hint.empty() ? "." : hint));
    }
    if (!initialized && request.command != "initialize" && request.command != "disconnect") {
        throw RequestError("The session starts with an initialize request, not with " +
                           request.command + ".");
    }
    return (this->*handler->second)(arguments);
}

Json Session::Impl::initialize(const Json& arguments) {
    if (initialized) throw RequestError("The session is initialized already.");
    firstLine = flagArgument(arguments, "linesStartAt1", true) ? 1 : 0;
    initialized = true;
    afterResponse = [this] { writer.event("initialized", Json::object()); };
    return {{"supportsConfigurationDoneRequest", true},
            {"supportsFunctionBreakpoints", true},
            {"supportsHitConditionalBreakpoints", true},
            {"supportsEvaluateForHovers", true},
            {"supportsReadMemoryRequest", true},
            {"supportsTerminateRequest", true},
            {"supportsSteppingGranularity", true},
            {"exceptionBreakpointFilters",
             {{{"filter", "error"}, {"label", "Operator errors"}, {"default", true}}}}};
}

Json Session::Impl::disconnect(const Json& /*arguments*/) {
    // The answer means that the tape is complete: first the run ends.
    endDebuggee();
    disconnected = true;
    return Json::object();
}

Json Session::Impl::terminate(const Json& /*arguments*/) {
    afterResponse = [this] {
        store.clear();
        scopeReferences.clear();
        if (debuggee && debuggee->started()) {
            debuggee->requestEnd("stopped by the user");
            return;
        }
        endDebuggee();
        if (!ended.exchange(true)) writer.event("terminated", Json::object());
    };
    return Json::object();
}

}  // namespace tapescope::app
