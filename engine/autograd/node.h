// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/memory/small_pool.h"
#include "engine/ops/op_def.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tapescope::engine {

/// Where a gradient goes: into input `slot` of `node`.
struct Edge {
    Ref<Node> node;
    int slot = 0;
};

/// A step of the backward graph. Created by the dispatcher (OpNode), for leaves (AccumulateGrad),
/// or by custom functions.
class Node : public RefCounted {
public:
    virtual ~Node() = default;
    static void destroy(Node* node) noexcept;
    static void* operator new(std::size_t sizeBytes) { return smallAllocate(sizeBytes); }
    static void operator delete(void* p, std::size_t sizeBytes) { smallFree(p, sizeBytes); }

    /// Gradients of the outputs in, of the inputs out (undefined where not needed; one for every
    /// edge, undefined before). Called once unless retain_graph.
    virtual void apply(std::span<const Tensor> gradOutputs, std::span<Tensor> gradInputs) = 0;
    /// Frees what forward saved; apply() after it throws AutogradError.
    virtual void releaseSaved() {}
    /// "conv2d", as on screen ("conv2d backward").
    virtual std::string_view name() const = 0;
    virtual const OpDef* op() const { return nullptr; }
    /// What forward kept, for inspection; released ones are missing.
    virtual std::vector<Tensor> savedForInspection() const { return {}; }

    /// One per input; node null where no gradient is needed.
    std::span<const Edge> edges() const { return m_edges; }
    int outputCount() const { return m_outputCount; }
    std::uint64_t sequence() const {
        return m_sequence;
    }  ///< order of creation; backward runs the highest first
    std::uint64_t forwardId() const { return m_forwardId; }
    const Site& site() const { return m_site; }
    const ModuleFrame* module() const { return m_module; }

    using PreHook = std::function<std::vector<Tensor>(std::span<const Tensor> gradOutputs)>;
    using PostHook = std::function<std::vector<Tensor>(std::span<const Tensor> gradInputs,
                                                       std::span<const Tensor> gradOutputs)>;
    /// fn runs before the node and may return as many replacements (or none at all). The id is for
    /// removeHook.
    int register_prehook(PreHook fn);
    /// The same after the node, for the gradients of its inputs.
    int register_hook(PostHook fn);

    /// Hooks on a non-leaf tensor live at the node that makes it. The id is for removeHook.
    int addHook(int slot, std::function<Tensor(const Tensor&)> fn);
    void removeHook(int id);
    /// tensor's gradient is stored in its grad() when this node runs; forgotten when the tensor
    /// dies.
    void retainGradFor(TensorImpl* tensor);
    void forgetRetained(const TensorImpl* tensor);

protected:
    Node() = default;
    /// Ends the node and frees its memory.
    virtual void dispose() noexcept { delete this; }
    /// Lets the hooks on the tensors this node makes see and replace their gradients.
    virtual void runTensorHooks(std::span<Tensor> gradients);

    std::span<Edge> m_edges;  // of the subclass
    int m_outputCount = 1;
    std::uint64_t m_sequence = 0;
    std::uint64_t m_forwardId = 0;
    Site m_site = Site::none();
    const ModuleFrame* m_module = nullptr;

private:
    struct Hook {
        int id;
        int slot;
        std::function<Tensor(const Tensor&)> fn;
    };
    struct Extras {
        std::vector<Hook> hooks;
        std::vector<std::pair<int, PreHook>> before;
        std::vector<std::pair<int, PostHook>> after;
        std::vector<TensorImpl*> retained;  // not owned
        int nextHookId = 0;
    };
    Extras& ensureExtras();

    std::unique_ptr<Extras> m_extras;  // few nodes have any
    Node* m_nextDead = nullptr;        // while it waits in destroy()
    // Where the backward run that visits the node keeps what it knows of it.
    std::uint64_t m_run = 0;
    std::size_t m_runIndex = 0;
    friend class BackwardRun;
};

/// Ascending within a thread.
std::uint64_t nextNodeSequence();

/// Where the gradient of t flows: its grad_fn, or the accumulator of a leaf; a null node if none is
/// needed.
Edge gradientEdge(const Tensor& t);

/// After a call on inputs of which some need gradients: builds the node and hangs it on the
/// outputs. overwritten: input 0 as it was before an in-place operator, where its VJP reads it.
void recordNode(const OpDef& op, const OpArgs& args, Outputs& outputs, const Tensor& overwritten,
                std::uint64_t forwardId, Site site);
/// True if grad mode is on and an input needs a gradient.
bool needsGrad(const OpDef& op, std::span<const Tensor* const> inputs);

}  // namespace tapescope::engine
