// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/runner/training_run.h"
#include "engine/debug/debugger.h"

#include <functional>
#include <stop_token>
#include <thread>

namespace tapescope::app {

/// One training run on a thread of its own, watched by a Debugger. The events are called on that
/// thread.
class Debuggee final {
public:
    struct Events {
        std::function<void(const RunProgress&)>
            onProgress;  ///< at most ten times a second, and for the last step
        std::function<void(std::string_view)> onText;
        std::function<void(const RunResult&)> onEnd;  ///< the tape is sealed; the last call
    };

    /// Builds the model and opens the tape; throws as TrainingRun does. The debugger must outlive
    /// this.
    Debuggee(const plugins::ModelRegistry& registry, RunOptions options,
             engine::debug::Debugger& debugger, Events events);
    /// Ends the run.
    ~Debuggee();
    Debuggee(const Debuggee&) = delete;
    Debuggee& operator=(const Debuggee&) = delete;

    void start();
    bool started() const { return m_thread.joinable() || m_joined; }
    /// Asks the run to end; onEnd follows. Does not wait.
    void requestEnd(const std::string& reason);
    /// Waits until the run has ended.
    void join();

    TrainingRun& run() { return m_run; }
    const TrainingRun& run() const { return m_run; }

private:
    TrainingRun m_run;
    engine::debug::Debugger& m_debugger;
    Events m_events;
    std::stop_source m_stop;
    std::thread m_thread;
    bool m_joined = false;
};

}  // namespace tapescope::app
