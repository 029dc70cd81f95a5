// SPDX-License-Identifier: Apache-2.0
#include "app/adapter/session_impl.h"

#include <nlohmann/json.hpp>

namespace tapescope::app {

using engine::debug::StepMode;

Json Session::Impl::threads(const Json& /*arguments*/) {
    return {
        {"threads", {{{"id", 1}, {"name", debuggee ? debuggee->run().entry().name : "model"}}}}};
}

void Session::Impl::resumeAfterResponse(StepMode mode) {
    requireStop();
    store.clear();
    scopeReferences.clear();
    ++stopSerial;
    // The response goes first: a stopped event must not overtake the answer to the step that led
    // there.
    afterResponse = [this, mode] { debugger.resume(mode); };
}

Json Session::Impl::goOn(const Json& /*arguments*/) {
    resumeAfterResponse(StepMode::Continue);
    return {{"allThreadsContinued", true}};
}

Json Session::Impl::pause(const Json& /*arguments*/) {
    if (!debuggee || ended) throw RequestError("There is no running model to pause.");
    // Also before the model's first operator; where it stands already, there is nothing to do.
    if (!debugger.stopped()) debugger.pause();
    return Json::object();
}

Json Session::Impl::next(const Json& arguments) {
    const bool instruction = optionalText(arguments, "granularity").value_or("") == "instruction";
    resumeAfterResponse(instruction ? StepMode::Operator : StepMode::Over);
    return Json::object();
}

Json Session::Impl::stepIn(const Json& arguments) {
    const bool instruction = optionalText(arguments, "granularity").value_or("") == "instruction";
    resumeAfterResponse(instruction ? StepMode::Operator : StepMode::Into);
    return Json::object();
}

Json Session::Impl::stepOut(const Json& /*arguments*/) {
    resumeAfterResponse(StepMode::Out);
    return Json::object();
}

Json Session::Impl::stepBackward(const Json& /*arguments*/) {
    resumeAfterResponse(StepMode::Backward);
    return Json::object();
}

Json Session::Impl::nextStep(const Json& /*arguments*/) {
    resumeAfterResponse(StepMode::NextStep);
    return Json::object();
}

}  // namespace tapescope::app
