// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/adapter/transport.h"
#include "plugins/api/model.h"

#include <memory>

namespace tapescope::app {

/// One client's debugging session: answers its requests on the calling thread, runs the model on
/// another. Whatever bytes come in, the session lives until `disconnect` or the end of the input.
class Session final {
public:
    Session(const plugins::ModelRegistry& registry, Transport& transport);
    /// Ends the model's run, if there is one, and seals its tape.
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Returns when the client has disconnected or is gone; the model has ended then.
    void serve();

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace tapescope::app
