// SPDX-License-Identifier: Apache-2.0
#include "app/adapter/serve.h"
#include "app/cli/commands.h"
#include "app/cli/interrupt.h"
#include "app/cli/packs_option.h"
#include "app/runner/training_run.h"

#include <array>

namespace tapescope::app {
namespace {

const std::array kOptions{
    OptionDef{"--port", "N",
              "listen on 127.0.0.1:N instead of stdin and stdout; 0 = any free port"},
    OptionDef{"--sessions", "N", "with --port: end after N sessions"}, kPackOption};

int run(const Arguments& args, const std::string&) {
    const auto port = args.integer("--port", 0, 65535);
    const auto sessions = args.integer("--sessions", 1, 1'000'000);
    loadPacks(args);
    if (!port) {
        if (sessions) throw CommandLineError("tapescope dap: --sessions goes with --port");
        return serveStdio(builtinModels());
    }
    Interrupt interrupt;  // Ctrl-C ends the running session with a sealed tape
    TcpOptions options;
    options.stop = interrupt.token();
    options.port = static_cast<std::uint16_t>(*port);
    options.sessions = static_cast<int>(sessions.value_or(0));
    return serveTcp(builtinModels(), options);
}

}  // namespace

const Command& dapCommand() {
    static const Command command{
        "dap", "", "debug a model over the Debug Adapter Protocol", kOptions, 0, 0, run};
    return command;
}

}  // namespace tapescope::app
