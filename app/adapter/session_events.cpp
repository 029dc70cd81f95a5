// SPDX-License-Identifier: Apache-2.0
// What the session tells its client unasked. On the model's thread, but for
// sendBreakpointChanges().
#include "app/adapter/session_impl.h"

#include <nlohmann/json.hpp>

namespace tapescope::app {
namespace {

using engine::debug::Frame;
using engine::debug::StopReason;
using engine::debug::StopState;

const char* reasonText(StopReason reason, bool byLine) {
    switch (reason) {
        case StopReason::Entry:
            return "entry";
        case StopReason::Breakpoint:
            return byLine ? "breakpoint" : "function breakpoint";
        case StopReason::Step:
            return "step";
        case StopReason::Pause:
            return "pause";
        case StopReason::Exception:
            return "exception";
    }
    return "step";
}

}  // namespace

void Session::Impl::sendBreakpointChanges() {
    for (Json& breakpoint : breakpoints.changes()) {
        writer.event("breakpoint", {{"reason", "changed"}, {"breakpoint", std::move(breakpoint)}});
    }
}

void Session::Impl::onStop(const StopState& state) {
    // A client that reads the tape sees all that has happened before it hears of the stop.
    if (const storage::Status flushed = debuggee->run().flush(); !flushed.ok()) {
        writer.output("stderr", flushed.message());
    }
    sendBreakpointChanges();
    const Frame& top = state.frames.front();
    const bool byLine =
        !state.breakpointIds.empty() && breakpoints.isLine(state.breakpointIds.front());
    Json body{{"reason", reasonText(state.reason, byLine)},
              {"description", state.description},
              {"threadId", 1},
              {"allThreadsStopped", true},
              {"tapescope",
               {{"step", state.step},
                {"phase", engine::phaseName(state.phase)},
                {"seq", state.seq},
                {"forwardSeq", state.forwardSeq},
                {"opId", state.opId},
                {"module", top.modulePath},
                {"operator", top.op},
                {"afterOp", state.afterOp},
                {"file", top.site.file},
                {"line", top.site.line},
                {"hits", breakpoints.hits(state.breakpointIds)}}}};
    if (!state.breakpointIds.empty()) body["hitBreakpointIds"] = state.breakpointIds;
    if (state.reason == StopReason::Exception) body["text"] = state.description;
    writer.event("stopped", body);
}

void Session::Impl::onProgress(const RunProgress& progress) {
    sendBreakpointChanges();
    writer.event("tapescopeProgress", {{"step", progress.step},
                                       {"steps", progress.steps},
                                       {"msPerStep", jsonNumber(progress.msPerStep)},
                                       {"loss", jsonNumber(progress.loss)},
                                       {"allocatedBytes", progress.allocatedBytes}});
}

void Session::Impl::onEnd(const RunResult& result) {
    const bool failed = result.outcome == storage::RunOutcome::Failed;
    if (!result.message.empty()) writer.output(failed ? "stderr" : "console", result.message);
    ended = true;
    writer.event("exited", {{"exitCode", failed ? 1 : 0}});
    writer.event("terminated", Json::object());
}

}  // namespace tapescope::app
