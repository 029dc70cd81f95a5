// SPDX-License-Identifier: Apache-2.0
#include "engine/debug/stepping.h"

namespace tapescope::engine::debug {

int backwardDepth(const BackwardFrame* node) {
    int depth = 0;
    for (; node; node = node->parent) ++depth;
    return depth;
}

int moduleDepth(const ModuleFrame* module) { return module ? module->depth : -1; }

void Stepping::arm(StepMode mode, From from, const Depth& at, std::uint64_t opId,
                   const ModuleFrame* module) {
    *this = {};
    m_mode = mode;
    m_from = from;
    m_start = at;
    if (mode != StepMode::Out) return;
    if (from == From::BeforeOp) {
        m_awaitedOp = opId;
    } else if (from == From::ModuleEntry || (from == From::AfterOp && at.backward == 0)) {
        m_awaitedModule = module;
        if (!module)
            m_mode =
                StepMode::Into;  // behind an operator of the program itself: whatever comes next
    }
}

bool Stepping::notDeeper(const Depth& at) const {
    if (at.backward != m_start.backward) return at.backward < m_start.backward;
    if (at.op > m_start.op || (m_start.ofUser && !at.ofUser)) return false;
    // Modules in backward are those of the forward calls: their depth says nothing about nesting
    // here.
    return m_start.backward > 0 || at.module <= m_start.module;
}

bool Stepping::endsAtOp(const Depth& at) {
    switch (m_mode) {
        case StepMode::Continue:
        case StepMode::Backward:
            return false;
        case StepMode::Operator:
        case StepMode::Into:
            return true;
        case StepMode::Over:
            return m_from == From::NodeEntry ? at.backward < m_start.backward : notDeeper(at);
        case StepMode::Out:
            if (m_awaitedOp != 0 || m_awaitedModule) return false;
            return at.backward < m_start.backward;
        case StepMode::NextStep:
            return m_stepBegan;
    }
    return false;
}

bool Stepping::endsAtModule(const Depth& at) {
    switch (m_mode) {
        case StepMode::Into:
            return true;
        case StepMode::Over:
            return m_from == From::NodeEntry ? at.backward < m_start.backward : notDeeper(at);
        case StepMode::Out:
            return m_awaitedOp == 0 && !m_awaitedModule && at.backward < m_start.backward;
        default:
            return false;
    }
}

bool Stepping::endsAtNode(const Depth& at) {
    if (m_mode == StepMode::Backward) return true;
    if (m_mode == StepMode::Over)
        return m_from == From::NodeEntry && at.backward <= m_start.backward;
    // Out of an operator that has run in backward: the node it belongs to ends where the next one
    // begins.
    return m_mode == StepMode::Out && m_from == From::AfterOp && m_start.backward > 0 &&
           at.backward <= m_start.backward;
}

void Stepping::moduleExited(const ModuleFrame* module) {
    if (m_mode != StepMode::Out || module != m_awaitedModule || !module) return;
    m_awaitedModule = nullptr;
    m_mode = StepMode::Into;
}

}  // namespace tapescope::engine::debug
