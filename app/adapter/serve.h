// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/api/model.h"

#include <cstdint>
#include <stop_token>

namespace tapescope::app {

struct TcpOptions {
    std::uint16_t port = 0;  ///< 0 = any free one
    int sessions = 0;        ///< return after so many; 0 = serve until stopped
    std::stop_token stop{};  ///< ends the running session (its tape is sealed) and returns
};

/// Speaks the Debug Adapter Protocol (docs/dap.md) on stdin and stdout for one session; whatever
/// else the process prints goes to stderr from then on. Blocks until the client disconnects or
/// closes stdin. Returns the process's exit code.
int serveStdio(const plugins::ModelRegistry& registry);

/// The same on 127.0.0.1, one session after another; prints "listening on 127.0.0.1:PORT" on
/// stdout. Returns 0 when stopped, 1 if the port cannot be had (said on stderr).
int serveTcp(const plugins::ModelRegistry& registry, const TcpOptions& options);

}  // namespace tapescope::app
