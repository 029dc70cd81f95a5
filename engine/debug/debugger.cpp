// SPDX-License-Identifier: Apache-2.0
#include "engine/debug/debugger.h"

#include "engine/debug/debugger_impl.h"

#include <algorithm>
#include <utility>

namespace tapescope::engine::debug {

Debugger::Debugger(StopHandler onStop) : m_impl(std::make_unique<Impl>(std::move(onStop))) {}
Debugger::~Debugger() = default;

std::vector<Breakpoint> Debugger::setBreakpoints(std::vector<Breakpoint> breakpoints) {
    auto table = std::make_shared<BreakpointTable>();
    const std::lock_guard lock(m_impl->mutex);
    std::vector<bool> taken(m_impl->table->entries.size(), false);
    for (Breakpoint& breakpoint : breakpoints) {
        std::shared_ptr<std::atomic<int>> hits;
        for (std::size_t i = 0; i < taken.size() && !hits; ++i) {
            const BreakpointEntry& old = m_impl->table->entries[i];
            if (taken[i] || old.definition.kind != breakpoint.kind ||
                old.definition.text != breakpoint.text) {
                continue;
            }
            taken[i] = true;
            hits = old.hits;
            breakpoint.id = old.definition.id;
        }
        if (!hits) {
            hits = std::make_shared<std::atomic<int>>(0);
            breakpoint.id = m_impl->nextId++;
        }
        breakpoint.hits = hits->load(std::memory_order_relaxed);
        table->anyEnabled = table->anyEnabled || breakpoint.enabled;
        table->lines =
            table->lines || (breakpoint.enabled && breakpoint.kind == BreakpointKind::Line);
        table->entries.push_back({breakpoint, std::move(hits)});
    }
    const bool any = table->anyEnabled;
    m_impl->table = std::move(table);
    m_impl->generation.fetch_add(1, std::memory_order_release);
    m_impl->setFlag(Impl::kBreakpoints, any);
    return breakpoints;
}

std::vector<Breakpoint> Debugger::breakpoints() const {
    const std::lock_guard lock(m_impl->mutex);
    std::vector<Breakpoint> all;
    for (const BreakpointEntry& entry : m_impl->table->entries) {
        all.push_back(entry.definition);
        all.back().hits = entry.hits->load(std::memory_order_relaxed);
    }
    return all;
}

void Debugger::setModel(const nn::Module* root, const std::string& programName) {
    const std::lock_guard lock(m_impl->mutex);
    m_impl->root = root;
    m_impl->programName = programName;
    m_impl->generation.fetch_add(1, std::memory_order_release);
}

void Debugger::stopOnEntry(bool on) { m_impl->setFlag(Impl::kEntry, on); }

void Debugger::stopOnErrors(bool on) { m_impl->stopOnErrors.store(on, std::memory_order_relaxed); }

void Debugger::pause() { m_impl->setFlag(Impl::kPause, true); }

void Debugger::terminate(const std::string& reason) {
    {
        const std::lock_guard lock(m_impl->mutex);
        m_impl->terminateReason = reason;
        m_impl->setFlag(Impl::kTerminate, true);
    }
    m_impl->wake.notify_all();
}

bool Debugger::resume(StepMode mode) {
    std::shared_ptr<const StopState> released;
    {
        const std::lock_guard lock(m_impl->mutex);
        if (!m_impl->state) return false;
        released = std::exchange(m_impl->state, nullptr);
    }
    // Before the model moves: the last reference must be its own thread's, so that it frees what it
    // freed unwatched.
    released.reset();
    {
        const std::lock_guard lock(m_impl->mutex);
        m_impl->resumeMode = mode;
    }
    m_impl->wake.notify_all();
    return true;
}

bool Debugger::stopped() const {
    const std::lock_guard lock(m_impl->mutex);
    return m_impl->state != nullptr;
}

std::shared_ptr<const StopState> Debugger::state() const {
    const std::lock_guard lock(m_impl->mutex);
    return m_impl->state;
}

void Debugger::onOpBegin(const OpCall& call) { m_impl->opBegin(call); }
void Debugger::onOpEnd(const OpCall& call) { m_impl->opEnd(call); }
void Debugger::onOpError(const OpCall& call, std::string_view message) {
    m_impl->opError(call, message);
}
void Debugger::onModuleEnter(const ModuleFrame& frame) { m_impl->moduleEnter(frame); }
void Debugger::onModuleExit(const ModuleFrame& frame) { m_impl->moduleExit(frame); }
void Debugger::onBackwardBegin(const BackwardFrame& frame) { m_impl->backwardBegin(frame); }

void Debugger::onStepBegin(std::int64_t step) {
    m_impl->step = step;
    m_impl->inStep = true;
    m_impl->stepOps.clear();
    m_impl->openOps.clear();
    m_impl->linePass.reset();
    m_impl->stepping.stepBegan();
    m_impl->throwIfTerminated();
}

void Debugger::onStepEnd(std::int64_t /*step*/) {
    m_impl->inStep = false;
    m_impl->stepOps.clear();
}

}  // namespace tapescope::engine::debug
