// SPDX-License-Identifier: Apache-2.0
#include "engine/autograd/op_node.h"

#include "engine/autograd/autograd_meta.h"
#include "engine/autograd/stack_buffer.h"
#include "engine/autograd/view_info.h"
#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/pointwise.h"

#include <algorithm>
#include <memory>

namespace tapescope::engine {
namespace {

/// Constructs n default T at `at` and moves `at` behind them.
template <class T>
std::span<T> placeBehind(char*& at, std::size_t n) {
    static_assert(alignof(T) <= 8 && sizeof(T) % 8 == 0);
    T* first = reinterpret_cast<T*>(at);
    for (std::size_t i = 0; i < n; ++i) new (first + i) T;
    at += n * sizeof(T);
    return {first, n};
}

}  // namespace

Ref<OpNode> OpNode::create(const OpDef& op, const OpArgs& args, const Outputs& outputs,
                           const Tensor& overwritten, std::uint64_t forwardId, Site site) {
    const std::size_t inputs = args.inputs.size();
    const std::size_t savedInputs = op.saveInputs != 0 ? inputs : 0;
    const std::size_t savedOutputs =
        op.saveOutputs != 0 ? static_cast<std::size_t>(outputs.count) : 0;
    const std::span<const AttrValue> attrs = args.attrs.values();
    static_assert(sizeof(OpNode) % 8 == 0);
    const std::size_t bytes = sizeof(OpNode) + inputs * (sizeof(Edge) + sizeof(TensorMeta)) +
                              (savedInputs + savedOutputs) * sizeof(SavedTensor) +
                              attrs.size_bytes();
    char* at = static_cast<char*>(smallAllocate(bytes));
    // Owned at once: what it saves may be given to hooks, which may throw.
    Ref<OpNode> node = Ref<OpNode>::adopt(::new (at) OpNode(op, bytes));
    at += sizeof(OpNode);
    node->m_edges = placeBehind<Edge>(at, inputs);
    node->m_savedInputs = placeBehind<SavedTensor>(at, savedInputs);
    node->m_savedOutputs = placeBehind<SavedTensor>(at, savedOutputs);
    node->m_inputMetas = placeBehind<TensorMeta>(at, inputs);
    node->m_attrs = placeBehind<AttrValue>(at, attrs.size());
    std::copy(attrs.begin(), attrs.end(), node->m_attrs.begin());
    node->m_outputCount = outputs.count;
    node->m_sequence = nextNodeSequence();
    node->m_forwardId = forwardId;
    node->m_site = site;
    const ThreadState& state = threadState();
    node->m_module = inGradient(state) ? state.backward->module : state.module;
    for (std::size_t i = 0; i < inputs; ++i) {
        const Tensor& t = *args.inputs[i];
        if (!t.defined()) continue;
        node->m_edges[i] = gradientEdge(t);
        node->m_inputMetas[i].sizes = t.sizes();
        node->m_inputMetas[i].dtype = t.dtype();
        if (savedInputs == 0) continue;
        // A list argument (cat) shares the bit of its first element.
        const std::size_t bit = std::min(i, op.args.empty() ? i : op.args.size() - 1);
        if ((op.saveInputs >> bit & 1U) == 0) continue;
        const Tensor& kept = i == 0 && overwritten.defined() ? overwritten : t;
        const bool alias =
            kept.impl()->view || (op.inplace && kept.storage() == args.inputs[0]->storage());
        node->m_savedInputs[i] =
            SavedTensor(kept, alias ? SavedTensor::As::InputAlias : SavedTensor::As::Input, *node,
                        static_cast<int>(i));
    }
    return node;
}

OpNode::~OpNode() {
    std::destroy(m_edges.begin(), m_edges.end());
    std::destroy(m_savedInputs.begin(), m_savedInputs.end());
    std::destroy(m_savedOutputs.begin(), m_savedOutputs.end());
}

void OpNode::dispose() noexcept {
    const std::size_t bytes = m_blockBytes;
    this->~OpNode();
    smallFree(this, bytes);
}

void recordNode(const OpDef& op, const OpArgs& args, Outputs& outputs, const Tensor& overwritten,
                std::uint64_t forwardId, Site site) {
    const Ref<OpNode> node = OpNode::create(op, args, outputs, overwritten, forwardId, site);
    const Ref<Node> fn = Ref<Node>::share(node.get());
    if (op.inplace && args[0].impl()->view) {
        rebaseHistory(args[0], fn);
    } else {
        for (int i = 0; i < outputs.count; ++i) {
            Tensor& out = outputs[i];
            if (!isDifferentiable(out.dtype())) continue;
            out.impl()->ensureAutograd().replaceHistory(*out.impl(), fn, i);
            out.impl()->requiresGrad = true;
        }
    }
    if (op.saveOutputs != 0) node->saveOutputs(outputs);
}

void OpNode::saveOutputs(const Outputs& outputs) {
    for (int i = 0; i < outputs.count; ++i) {
        if (m_op.saveOutputs >> i & 1U) {
            m_savedOutputs[static_cast<unsigned>(i)] = SavedTensor(
                outputs.tensors[static_cast<unsigned>(i)], SavedTensor::As::Output, *this, i);
        }
    }
}

void OpNode::apply(std::span<const Tensor> gradOutputs, std::span<Tensor> gradInputs) {
    if (m_released) {
        throw AutogradError(
            std::string(m_op.name) +
            " backward: what this graph saved was freed by an earlier backward; pass "
            "retain_graph=true to the earlier call to go through it twice");
    }
    constexpr std::size_t kFew = 4;
    const std::size_t inputs = m_edges.size();
    StackBuffer<Tensor, kFew> savedInputs(inputs);
    StackBuffer<Tensor, kFew> savedOutputs(static_cast<std::size_t>(m_outputCount));
    StackBuffer<bool, 16> needs(inputs);
    for (std::size_t i = 0; i < inputs; ++i) needs[i] = static_cast<bool>(m_edges[i].node);
    for (std::size_t i = 0; i < m_savedInputs.size(); ++i) {
        if (m_savedInputs[i].defined())
            savedInputs[i] = m_savedInputs[i].unpack(*this, static_cast<int>(i));
    }
    for (std::size_t i = 0; i < m_savedOutputs.size(); ++i) {
        if (m_savedOutputs[i].defined())
            savedOutputs[i] = m_savedOutputs[i].unpack(*this, static_cast<int>(i));
    }
    const Attrs attrs{std::span<const AttrValue>(m_attrs)};
    m_op.vjp(VjpArgs{m_op, savedInputs.span(), savedOutputs.span(), m_inputMetas, gradOutputs,
                     needs.span(), attrs},
             gradInputs);
    for (std::size_t i = 0; i < inputs; ++i) {
        Tensor& g = gradInputs[i];
        if (!needs[i]) {
            g = Tensor();
        } else if (g.defined() && g.sizes() != m_inputMetas[i].sizes) {
            throw AutogradError(std::string(m_op.name) + " backward: the gradient of input " +
                                std::to_string(i) + " has shape " + toString(g.sizes()) +
                                " where " + toString(m_inputMetas[i].sizes) + " is due");
        } else if (g.defined() && g.dtype() != m_inputMetas[i].dtype) {
            g = to(g, m_inputMetas[i].dtype);
        }
    }
}

void OpNode::releaseSaved() {
    for (SavedTensor& saved : m_savedInputs) saved = {};
    for (SavedTensor& saved : m_savedOutputs) saved = {};
    // What saved nothing may be gone through again, as in PyTorch.
    m_released = (m_op.saveInputs | m_op.saveOutputs) != 0;
}

std::vector<Tensor> OpNode::savedForInspection() const {
    std::vector<Tensor> out;
    for (const SavedTensor& s : m_savedInputs) {
        if (s.peek().defined()) out.push_back(s.peek());
    }
    for (const SavedTensor& s : m_savedOutputs) {
        if (s.peek().defined()) out.push_back(s.peek());
    }
    return out;
}

bool needsGrad(const OpDef& op, std::span<const Tensor* const> inputs) {
    if (!op.vjp || !grad_enabled()) return false;
    for (const Tensor* t : inputs) {
        if (t->requires_grad()) return true;
    }
    return false;
}

}  // namespace tapescope::engine
