// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/module.h"
#include "engine/observe/context.h"
#include "engine/ops/op_def.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tapescope::engine::debug {

enum class BreakpointKind : std::uint8_t {
    Operator,  ///< "conv2d", "conv*", "conv2: conv2d" (module path glob: operator glob)
    Module,    ///< "conv2", "layer1.*", "module:relu": when the module is entered
    Line,      ///< file:line; file matches by path suffix. Once a pass over the line, however many
               ///< calls it holds
    Backward   ///< "backward:conv2d", "backward:conv2: conv2d": before the gradient of a matching
               ///< forward call
};

struct Breakpoint {
    int id = 0;
    BreakpointKind kind = BreakpointKind::Operator;
    std::string text;    ///< as the user wrote it
    std::string op;      ///< glob; empty = any
    std::string module;  ///< glob of the path; empty = any
    std::string file;
    std::uint32_t line = 0;
    int ignoreCount = 0;  ///< stop at hit ignoreCount + 1 and later
    int hits = 0;
    bool enabled = true;
};

enum class StepMode : std::uint8_t {
    Continue,
    Operator,  ///< next operator, wherever (also a backward one)
    Into,      ///< next operator or module entry
    Over,      ///< next operator or module entry in the same module or an outer one; on a backward
               ///< node: the next node
    Out,  ///< after the current operator (outputs are there), else behind the current module or
          ///< backward node
    Backward,  ///< the next backward node ("step into backward")
    NextStep   ///< the first operator of the next training step
};

enum class StopReason : std::uint8_t { Entry, Breakpoint, Step, Pause, Exception };

/// A named tensor at a stop.
struct NamedTensor {
    std::string name;
    Tensor tensor;
};

/// One frame of the stack; [0] is the innermost. Names as DAP shows them: "conv2: conv2d", "conv2
/// (Conv2d)", "conv2: conv2d (backward)".
struct Frame {
    enum class Kind : std::uint8_t { Operator, BackwardNode, Module, Program };
    Kind kind = Kind::Operator;
    std::string name;
    std::string modulePath;
    std::string op;
    Site site = Site::none();
    std::vector<NamedTensor> inputs;
    std::vector<NamedTensor> outputs;
    std::vector<NamedTensor> parameters;  ///< and buffers, of the frame's module
    std::vector<NamedTensor> gradients;
    std::vector<NamedTensor> saved;
    std::string attrs;
};

/// Everything the front end may look at while the model stands. Tensors are handles: valid as long
/// as the snapshot.
struct StopState {
    StopReason reason = StopReason::Entry;
    std::string description;  ///< "break on conv2: conv2d (hit 3)"
    std::vector<int> breakpointIds;
    std::vector<Frame> frames;
    Phase phase = Phase::Other;
    std::int64_t step = -1;
    std::int64_t seq = -1;  ///< index of the operator in the step's graph (as GraphNode::seq); -1
                            ///< at a module entry
    std::int64_t forwardSeq =
        -1;                  ///< in backward: seq of the forward call whose gradient is computed
    std::uint64_t opId = 0;  ///< at a backward node's entry: the forward call's
    bool afterOp = false;    ///< stopped behind the operator: outputs are filled
};

/// Stops the thread that runs a watched Context. Two sides: the observer's callbacks, on the
/// model's thread, block in a stop; the control functions may be called from any other thread.
/// onStop is called on the model's thread, without a lock held, just before it blocks.
class Debugger final : public Observer {
public:
    using StopHandler = std::function<void(const StopState&)>;
    explicit Debugger(StopHandler onStop);
    ~Debugger() override;

    // ---- control side, any thread
    /// Replaces all breakpoints; ids and hit counts of unchanged ones (same kind and text) are
    /// kept. Returns them.
    std::vector<Breakpoint> setBreakpoints(std::vector<Breakpoint> breakpoints);
    std::vector<Breakpoint> breakpoints() const;
    /// Parses "conv2d", "conv2: conv2d", "backward:conv2d", "layer1.*" … root tells modules from
    /// operators (may be null). An operator's name goes before a module's; "module:relu" means the
    /// module. Throws Error with the nearest names if it can match nothing.
    static Breakpoint parseFunction(const std::string& text, const nn::Module* root);
    /// Before a run: the model whose parameters frames show, and what the outermost frame is
    /// called. Not owned; null for none. Forgets what was learned about an earlier run.
    void setModel(const nn::Module* root, const std::string& programName = {});
    void stopOnEntry(bool on);
    /// Whether an operator that throws is a stop (StopReason::Exception). On by default.
    void stopOnErrors(bool on);
    /// Stops before the next operator.
    void pause();
    /// Ends the run: the model's thread throws Interrupted from its next callback (also out of a
    /// stop).
    void terminate(const std::string& reason);
    /// Leaves a stop. False if the model is not standing.
    bool resume(StepMode mode);
    bool stopped() const;
    /// Empty unless stopped.
    std::shared_ptr<const StopState> state() const;

    // ---- Observer
    void onOpBegin(const OpCall& call) override;
    void onOpEnd(const OpCall& call) override;
    void onOpError(const OpCall& call, std::string_view message) override;
    void onModuleEnter(const ModuleFrame& frame) override;
    void onModuleExit(const ModuleFrame& frame) override;
    void onBackwardBegin(const BackwardFrame& frame) override;
    void onStepBegin(std::int64_t step) override;
    void onStepEnd(std::int64_t step) override;

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace tapescope::engine::debug
