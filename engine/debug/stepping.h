// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/debug/debugger.h"

#include <cstdint>

namespace tapescope::engine::debug {

/// How deep a place lies, in everything that nests.
struct Depth {
    int backward = 0;  ///< backward passes around it; 0 = forward
    int module = -1;   ///< of the module in whose forward it stands; -1 = the program
    int op = 0;        ///< operator calls around it (composites)
    bool ofUser =
        true;  ///< it has a site; the engine's own calls (backward's first gradient) have none
};

int backwardDepth(const BackwardFrame* node);
int moduleDepth(const ModuleFrame* module);

/// A step in progress: armed where the model stood, asked at every event whether the step ends
/// there. Model's thread only.
class Stepping final {
public:
    /// What the model stood at when it was told to step.
    enum class From : std::uint8_t { BeforeOp, AfterOp, ModuleEntry, NodeEntry };

    void arm(StepMode mode, From from, const Depth& at, std::uint64_t opId,
             const ModuleFrame* module);
    void cancel() { m_mode = StepMode::Continue; }
    bool active() const { return m_mode != StepMode::Continue; }

    bool endsAtOp(const Depth& at);
    bool endsBehindOp(std::uint64_t opId) const { return m_awaitedOp != 0 && opId == m_awaitedOp; }
    bool endsAtModule(const Depth& at);
    bool endsAtNode(const Depth& at);
    void moduleExited(const ModuleFrame* module);
    void stepBegan() { m_stepBegan = true; }

private:
    bool notDeeper(const Depth& at) const;

    StepMode m_mode = StepMode::Continue;
    From m_from = From::BeforeOp;
    Depth m_start;
    std::uint64_t m_awaitedOp = 0;                 // Out of an operator
    const ModuleFrame* m_awaitedModule = nullptr;  // Out of a module
    bool m_stepBegan = false;                      // NextStep
};

}  // namespace tapescope::engine::debug
