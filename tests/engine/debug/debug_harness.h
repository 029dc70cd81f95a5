// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/debug/debugger.h"
#include "engine/nn/nn.h"
#include "engine/observe/context.h"

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace tapescope::engine::debug {

/// linear → relu → linear, 4 → 3 → 2. Every call on a line of its own.
struct SmallNet : nn::Module {
    SmallNet();
    Tensor forward(const Tensor& x) override;
    nn::ModuleRef<nn::Linear> fc1, fc2;

    static const char* file();
    static const std::uint32_t fc1Line, reluLine, fc2Line;
};

/// What an operator call looked like, kept past the callback.
struct SeenOp {
    std::string name;
    std::string module;
    bool backward = false;
    std::int64_t step = -1;
    std::int64_t seq = -1;
};
/// Writes down every operator a Context runs, as a recorder counts them.
class OpLog final : public Observer {
public:
    void onOpBegin(const OpCall& call) override;
    void onStepBegin(std::int64_t step) override;
    void onStepEnd(std::int64_t step) override;
    const std::vector<SeenOp>& ops() const { return m_ops; }
    /// The calls of one step.
    std::vector<SeenOp> step(std::int64_t step) const;

private:
    std::vector<SeenOp> m_ops;
    std::int64_t m_seq = 0;
    bool m_inStep = false;
};

/// Trains a SmallNet for some steps with a Debugger, on a thread of its own, and hands its stops to
/// the test's thread.
class DebugRun final {
public:
    using Body = std::function<void(SmallNet& net, std::int64_t step, std::vector<double>& losses)>;
    /// body: what a step does; null: forward, mse_loss, backward, SGD.
    explicit DebugRun(std::int64_t steps = 2, Body body = {});
    ~DebugRun();

    Debugger debugger;
    SmallNet& net() { return *m_net; }
    Breakpoint add(const std::string& text, int ignoreCount = 0);
    Breakpoint addLine(const std::string& file, std::uint32_t line);

    /// Runs to the first stop; null if the run ends without one.
    std::shared_ptr<const StopState> start();
    /// Goes on to the next stop; null at the end.
    std::shared_ptr<const StopState> resume(StepMode mode = StepMode::Continue);
    /// The next stop of a run that is going already.
    std::shared_ptr<const StopState> nextStop();
    void runToEnd();

    /// After the end.
    const std::vector<double>& losses() const { return m_losses; }
    const std::string& error() const { return m_error; }
    bool interrupted() const { return m_interrupted; }
    const OpLog& log() const { return m_log; }

    static void trainStep(SmallNet& net, std::vector<double>& losses);

private:
    void main();

    std::int64_t m_steps;
    Body m_body;
    Context m_context;
    std::unique_ptr<SmallNet> m_net;
    OpLog m_log;
    std::vector<Breakpoint> m_breakpoints;
    std::vector<double> m_losses;
    std::string m_error;
    bool m_interrupted = false;

    std::mutex m_mutex;
    std::condition_variable m_changed;
    int m_stops = 0;  // not yet taken by nextStop()
    bool m_ended = false;
    std::thread m_thread;
};

/// Names of a stop's frames.
std::vector<std::string> frameNames(const StopState& state);
std::vector<std::string> names(const std::vector<NamedTensor>& tensors);
/// "operator" at [0], with " behind" once it has run.
std::string topOf(const std::shared_ptr<const StopState>& state);

}  // namespace tapescope::engine::debug
