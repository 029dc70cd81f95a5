// SPDX-License-Identifier: Apache-2.0
// What happens before the model runs: launch and breakpoints.
#include "app/adapter/session_impl.h"

#include <nlohmann/json.hpp>
#include <string_view>

namespace tapescope::app {
namespace {

/// A value of launch.set as the command line's --set would have it.
std::string settingText(const std::string& name, const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_boolean() || value.is_number()) return value.dump();
    throw RequestError("The setting \"" + name + "\" must be a number, a string, true or false.");
}

RunOptions runOptions(const Json& arguments) {
    RunOptions options;
    options.model = textArgument(arguments, "model");
    if (const auto steps = optionalInteger(arguments, "steps")) {
        if (*steps < 1) throw RequestError("The argument \"steps\" must be 1 or more.");
        options.steps = *steps;
    }
    if (const auto seed = optionalInteger(arguments, "seed")) {
        if (*seed < 0) throw RequestError("The argument \"seed\" must be 0 or more.");
        options.seed = static_cast<std::uint64_t>(*seed);
    }
    options.tape = optionalText(arguments, "tape");
    options.overwrite = flagArgument(arguments, "overwrite", false);
    options.dataDir = optionalText(arguments, "data");
    for (const auto& [name, value] : objectArgument(arguments, "set").items()) {
        options.settings.emplace_back(name, settingText(name, value));
    }
    options.command = "tapescope dap: launch " + options.model;
    return options;
}

}  // namespace

Json Session::Impl::launch(const Json& arguments) {
    if (debuggee || ended)
        throw RequestError("This session has launched a model already: start another session.");
    const bool stopOnEntry = flagArgument(arguments, "stopOnEntry", false);
    Debuggee::Events events{
        .onProgress = [this](const RunProgress& progress) { onProgress(progress); },
        .onText = [this](std::string_view line) { writer.output("console", line); },
        .onEnd = [this](const RunResult& result) { onEnd(result); },
    };
    debuggee =
        std::make_unique<Debuggee>(registry, runOptions(arguments), debugger, std::move(events));
    debugger.stopOnEntry(stopOnEntry);
    breakpoints.setModel(model());
    afterResponse = [this] {
        sendBreakpointChanges();
        startWhenReady();
    };
    return Json::object();
}

Json Session::Impl::configurationDone(const Json& /*arguments*/) {
    configured = true;
    afterResponse = [this] { startWhenReady(); };
    return Json::object();
}

void Session::Impl::startWhenReady() {
    if (!configured || !debuggee || debuggee->started()) return;
    debuggee->start();
}

Json Session::Impl::setFunctionBreakpoints(const Json& arguments) {
    return breakpoints.setFunctions(arguments);
}

Json Session::Impl::setBreakpoints(const Json& arguments) {
    return breakpoints.setLines(arguments, firstLine);
}

Json Session::Impl::setExceptionBreakpoints(const Json& arguments) {
    bool onErrors = false;
    Json answers = Json::array();
    for (const Json& filter : arrayArgument(arguments, "filters")) {
        const bool known = filter == "error";
        onErrors = onErrors || known;
        Json answer{{"verified", known}};
        if (!known) answer["message"] = "The only exception filter is \"error\".";
        answers.push_back(std::move(answer));
    }
    debugger.stopOnErrors(onErrors);
    return {{"breakpoints", std::move(answers)}};
}

}  // namespace tapescope::app
