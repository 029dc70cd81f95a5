// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/memory/allocator.h"
#include "engine/observe/site.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tapescope::engine {

class Attrs;
class Tensor;
struct OpDef;

enum class Phase : std::uint8_t { Other, Data, Forward, Backward, Optimizer, Evaluate };
std::string_view phaseName(Phase phase);

/// One level of the module stack: which module was called, and from where. Interned in the Context:
/// equal (parent, path, site) give the same pointer, valid as long as the Context.
struct ModuleFrame {
    const ModuleFrame* parent = nullptr;
    std::string path;      ///< "layer1.0.conv1"; "" for the root
    std::string typeName;  ///< "Conv2d"
    Site site = Site::none();
    int depth = 0;  ///< 0 for the outermost
};

/// A backward node being run: whose gradient, and where its forward call came from.
struct BackwardFrame {
    const BackwardFrame* parent = nullptr;  ///< set while backward runs inside backward
    const OpDef* op =
        nullptr;            ///< the forward operator; null for a custom function or an accumulation
    std::string_view name;  ///< "conv2d", or the custom function's name
    std::uint64_t forwardId = 0;          ///< id of the forward call
    Site site = Site::none();             ///< of the forward call
    const ModuleFrame* module = nullptr;  ///< the forward call's
    std::span<const Tensor> gradOutputs;  ///< some may be undefined
    std::span<const Tensor> saved;        ///< what forward kept for this node
    /// A part of forward is run again for this node (a checkpoint): operators inside keep their own
    /// sites and modules.
    bool recomputes = false;
};

/// Arithmetic and traffic of one call, by the operator's cost rule.
struct Cost {
    double flops = 0;
    std::int64_t bytesRead = 0;
    std::int64_t bytesWritten = 0;
};

/// One operator call as observers see it. Views of the caller's stack: nothing may be kept past the
/// callback (Tensor handles may be copied).
struct OpCall {
    const OpDef* op = nullptr;
    std::uint64_t id = 0;  ///< unique in the Context, ascending
    std::uint64_t parentId =
        0;  ///< backward: the forward call's id; else the enclosing composite call's, or 0
    std::span<const Tensor* const>
        inputs;  ///< after type promotion; some may be undefined (no bias)
    const Attrs* attrs = nullptr;
    std::span<const Tensor> outputs;  ///< empty at onOpBegin; in-place operators return their input
    Site site = Site::none();
    const ModuleFrame* module = nullptr;  ///< innermost; in backward the forward call's
    const BackwardFrame* backward = nullptr;
    Phase phase = Phase::Other;
    std::int64_t step = -1;
    std::int64_t startNs = 0;  ///< nowNs() before the kernel
    std::int64_t endNs = 0;    ///< onOpEnd only
    Cost cost;
    std::uint32_t thread = 0;  ///< small number, 0 = the first thread seen
};

struct MemoryEvent {
    enum class Kind : std::uint8_t { Alloc, Free, Role, OutOfMemory };
    Kind kind = Kind::Alloc;
    MemoryRole role = MemoryRole::Unknown;
    std::int64_t timeNs = 0;
    std::uintptr_t address = 0;
    std::int64_t sizeBytes = 0;       ///< the block's; the request's for OutOfMemory
    std::int64_t allocatedBytes = 0;  ///< after the event
    std::int64_t reservedBytes = 0;
    std::uint64_t opId = 0;  ///< the call during which it happened, or 0
    std::int64_t step = -1;
};

/// Whoever watches a run. Callbacks come on the thread that runs the graph (memory also from loader
/// threads) and may block it: that is how a debugger stops a model. They may throw Interrupted;
/// nothing else. A callback must not run operators on the watched Context; ContextScope with a
/// private Context allows it.
class Observer {
public:
    virtual ~Observer() = default;
    virtual void onOpBegin(const OpCall&) {}
    virtual void onOpEnd(const OpCall&) {}
    /// The call threw; message is the exception's text.
    virtual void onOpError(const OpCall&, std::string_view /*message*/) {}
    virtual void onModuleEnter(const ModuleFrame&) {}
    virtual void onModuleExit(const ModuleFrame&) {}
    /// Before and after the operators that compute one node's gradient.
    virtual void onBackwardBegin(const BackwardFrame&) {}
    virtual void onBackwardEnd(const BackwardFrame&, std::span<const Tensor> /*gradInputs*/) {}
    /// A leaf's gradient was accumulated.
    virtual void onGradReady(const Tensor& /*leaf*/) {}
    virtual void onStepBegin(std::int64_t /*step*/) {}
    virtual void onStepEnd(std::int64_t /*step*/) {}
    virtual void onMemory(const MemoryEvent&) {}
};

/// Monotonic nanoseconds, the clock of every event.
std::int64_t nowNs();

}  // namespace tapescope::engine
