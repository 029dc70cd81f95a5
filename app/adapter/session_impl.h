// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/adapter/breakpoint_list.h"
#include "app/adapter/debuggee.h"
#include "app/adapter/protocol.h"
#include "app/adapter/session.h"
#include "app/adapter/variables.h"
#include "engine/debug/debugger.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace tapescope::app {

/// Members are the session thread's, but for writer, debugger, breakpoints and ended, which the
/// model's thread shares.
struct Session::Impl {
    using Handler = Json (Impl::*)(const Json& arguments);

    Impl(const plugins::ModelRegistry& models, Transport& transport);
    ~Impl();

    void handle(const std::string& body);
    Json dispatch(const Request& request, const Json& arguments);
    static const std::map<std::string, Handler, std::less<>>& handlers();

    // ---- session.cpp: the session itself
    Json initialize(const Json& arguments);
    Json disconnect(const Json& arguments);
    Json terminate(const Json& arguments);

    // ---- session_launch.cpp
    Json launch(const Json& arguments);
    Json configurationDone(const Json& arguments);
    Json setFunctionBreakpoints(const Json& arguments);
    Json setBreakpoints(const Json& arguments);
    Json setExceptionBreakpoints(const Json& arguments);
    void startWhenReady();
    /// Ends the run and waits for it. The pointer stays valid for the model's thread until that is
    /// gone.
    void endDebuggee();

    // ---- session_events.cpp, on the model's thread
    void onStop(const engine::debug::StopState& state);
    void onProgress(const RunProgress& progress);
    void onEnd(const RunResult& result);
    void sendBreakpointChanges();

    // ---- session_control.cpp
    Json threads(const Json& arguments);
    Json goOn(const Json& arguments);
    Json pause(const Json& arguments);
    Json next(const Json& arguments);
    Json stepIn(const Json& arguments);
    Json stepOut(const Json& arguments);
    Json stepBackward(const Json& arguments);
    Json nextStep(const Json& arguments);
    /// Drops every handle on the model's tensors now, and lets the model go once the response is
    /// out.
    void resumeAfterResponse(engine::debug::StepMode mode);

    // ---- session_inspect.cpp
    Json stackTrace(const Json& arguments);
    Json scopes(const Json& arguments);
    Json variables(const Json& arguments);
    Json evaluate(const Json& arguments);
    Json readMemory(const Json& arguments);
    Json tensorStats(const Json& arguments);
    Json tensorSlice(const Json& arguments);
    Json source(const Json& arguments);
    /// Throws RequestError while the model runs, or there is none.
    std::shared_ptr<const engine::debug::StopState> requireStop() const;
    const engine::debug::Frame& frameOf(const engine::debug::StopState& state,
                                        std::int64_t frameId) const;
    std::int64_t frameId(std::size_t index) const;
    Json sourceOf(const engine::Site& site) const;
    const engine::nn::Module* model() const {
        return debuggee ? &debuggee->run().model() : nullptr;
    }

    const plugins::ModelRegistry& registry;
    Transport& transport;
    MessageWriter writer;
    engine::debug::Debugger debugger;
    BreakpointList breakpoints;
    VariableStore store;
    std::map<std::pair<std::size_t, std::string>, int>
        scopeReferences;          // of this stop, by frame and name
    std::int64_t stopSerial = 0;  // counts stops left: frame ids of one are refused in the next
    std::function<void()> afterResponse;
    std::int64_t firstLine = 1;  // the client's number for a file's first line
    bool initialized = false;
    bool configured = false;
    bool disconnected = false;
    std::atomic<bool> ended{false};      // `terminated` was sent
    std::unique_ptr<Debuggee> debuggee;  // last: its thread uses the others
};

}  // namespace tapescope::app
