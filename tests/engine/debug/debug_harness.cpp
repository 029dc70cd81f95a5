// SPDX-License-Identifier: Apache-2.0
#include "debug_harness.h"

#include "engine/errors.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/optim/sgd.h"

#include <utility>

namespace tapescope::engine::debug {

SmallNet::SmallNet() : Module("SmallNet") {
    fc1 = register_module<nn::Linear>("fc1", 4, 3);
    fc2 = register_module<nn::Linear>("fc2", 3, 2);
}

const std::uint32_t SmallNet::fc1Line = __LINE__ + 5;
const std::uint32_t SmallNet::reluLine = __LINE__ + 5;
const std::uint32_t SmallNet::fc2Line = __LINE__ + 5;

Tensor SmallNet::forward(const Tensor& x) {
    Tensor h = fc1(x);
    h = relu(h);
    h = fc2(h);
    return h;
}

const char* SmallNet::file() { return Site().file; }

void OpLog::onStepBegin(std::int64_t /*step*/) {
    m_seq = 0;
    m_inStep = true;
}
void OpLog::onStepEnd(std::int64_t /*step*/) { m_inStep = false; }
void OpLog::onOpBegin(const OpCall& call) {
    m_ops.push_back({std::string(call.op->name), call.module ? call.module->path : "",
                     call.backward != nullptr, call.step, m_inStep ? m_seq++ : -1});
}
std::vector<SeenOp> OpLog::step(std::int64_t step) const {
    std::vector<SeenOp> found;
    for (const SeenOp& op : m_ops) {
        if (op.step == step) found.push_back(op);
    }
    return found;
}

DebugRun::DebugRun(std::int64_t steps, Body body)
    : debugger([this](const StopState&) {
          const std::lock_guard lock(m_mutex);
          ++m_stops;
          m_changed.notify_all();
      }),
      m_steps(steps),
      m_body(std::move(body)) {
    const ContextScope scope(m_context);
    m_context.generator().manual_seed(7);
    m_net = std::make_unique<SmallNet>();
    debugger.setModel(m_net.get(), "small");
}

DebugRun::~DebugRun() {
    debugger.terminate("the test is over");
    if (m_thread.joinable()) m_thread.join();
}

Breakpoint DebugRun::add(const std::string& text, int ignoreCount) {
    m_breakpoints.push_back(Debugger::parseFunction(text, m_net.get()));
    m_breakpoints.back().ignoreCount = ignoreCount;
    m_breakpoints = debugger.setBreakpoints(m_breakpoints);
    return m_breakpoints.back();
}

Breakpoint DebugRun::addLine(const std::string& file, std::uint32_t line) {
    Breakpoint breakpoint;
    breakpoint.kind = BreakpointKind::Line;
    breakpoint.text = file + ":" + std::to_string(line);
    breakpoint.file = file;
    breakpoint.line = line;
    m_breakpoints.push_back(breakpoint);
    m_breakpoints = debugger.setBreakpoints(m_breakpoints);
    return m_breakpoints.back();
}

void DebugRun::trainStep(SmallNet& net, std::vector<double>& losses) {
    const Tensor x = Tensor::from<float>({1, 2, 3, 4, -1, 0.5F, 2, -3}, {2, 4});
    const Tensor target = Tensor::from<float>({1, 0, 0, 1}, {2, 2});
    net.zero_grad();
    const Tensor loss = mse_loss(net(x), target);
    loss.backward();
    losses.push_back(loss.item());
    optim::SGD(net.parameters(), {.lr = 0.1}).step();
}

void DebugRun::main() {
    const ContextScope scope(m_context);
    try {
        for (std::int64_t step = 0; step < m_steps; ++step) {
            m_context.beginStep(step);
            if (m_body) {
                m_body(*m_net, step, m_losses);
            } else {
                trainStep(*m_net, m_losses);
            }
            m_context.endStep();
        }
    } catch (const Interrupted& e) {
        m_interrupted = true;
        m_error = e.what();
    } catch (const std::exception& e) {
        m_error = e.what();
    }
    m_context.removeObserver(debugger);
    m_context.removeObserver(m_log);
    const std::lock_guard lock(m_mutex);
    m_ended = true;
    m_changed.notify_all();
}

std::shared_ptr<const StopState> DebugRun::start() {
    m_context.addObserver(m_log);
    m_context.addObserver(debugger);
    m_thread = std::thread([this] { main(); });
    return nextStop();
}

std::shared_ptr<const StopState> DebugRun::nextStop() {
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [this] { return m_stops > 0 || m_ended; });
    if (m_stops == 0) return nullptr;
    --m_stops;
    return debugger.state();
}

std::shared_ptr<const StopState> DebugRun::resume(StepMode mode) {
    if (!debugger.resume(mode)) return nullptr;
    return nextStop();
}

void DebugRun::runToEnd() {
    debugger.setBreakpoints({});
    if (!m_thread.joinable()) {
        start();
    } else if (debugger.stopped()) {
        resume();
    }
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [this] { return m_ended; });
}

std::vector<std::string> frameNames(const StopState& state) {
    std::vector<std::string> out;
    for (const Frame& frame : state.frames) out.push_back(frame.name);
    return out;
}

std::vector<std::string> names(const std::vector<NamedTensor>& tensors) {
    std::vector<std::string> out;
    for (const NamedTensor& each : tensors) out.push_back(each.name);
    return out;
}

std::string topOf(const std::shared_ptr<const StopState>& state) {
    if (!state) return "the end";
    return state->frames.front().name + (state->afterOp ? " behind" : "");
}

}  // namespace tapescope::engine::debug
