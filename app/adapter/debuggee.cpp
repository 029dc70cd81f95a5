// SPDX-License-Identifier: Apache-2.0
#include "app/adapter/debuggee.h"

#include <chrono>
#include <optional>

namespace tapescope::app {
namespace {

constexpr std::chrono::milliseconds kProgressInterval{100};

}  // namespace

Debuggee::Debuggee(const plugins::ModelRegistry& registry, RunOptions options,
                   engine::debug::Debugger& debugger, Events events)
    : m_run(registry, std::move(options)), m_debugger(debugger), m_events(std::move(events)) {
    m_debugger.setModel(&m_run.model(), m_run.entry().name);
}

Debuggee::~Debuggee() {
    requestEnd("the debugging session ended");
    join();
    m_debugger.setModel(nullptr);
}

void Debuggee::start() {
    m_thread = std::thread([this] {
        RunHooks hooks;
        hooks.observers = {&m_debugger};
        hooks.onText = m_events.onText;
        std::optional<std::chrono::steady_clock::time_point> last;
        hooks.onProgress = [&](const RunProgress& progress) {
            const auto now = std::chrono::steady_clock::now();
            if (last && now - *last < kProgressInterval && progress.step != progress.steps) return;
            last = now;
            m_events.onProgress(progress);
        };
        m_events.onEnd(m_run.run(hooks, m_stop.get_token()));
    });
}

void Debuggee::requestEnd(const std::string& reason) {
    m_stop.request_stop();
    m_debugger.terminate(reason);
}

void Debuggee::join() {
    if (!m_thread.joinable()) return;
    m_thread.join();
    m_joined = true;
}

}  // namespace tapescope::app
