// SPDX-License-Identifier: Apache-2.0
#include "engine/autograd/op_node.h"

#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/pointwise.h"
#include "engine/tensor/tensor_impl.h"

#include <memory>

namespace tapescope::engine {
namespace {

std::uint64_t nextSequence() {
    thread_local std::uint64_t next = 1;
    return next++;
}

std::string atSite(const Site& site) {
    return site.known() ? " at " + std::string(site.file) + ":" + std::to_string(site.line)
                        : std::string();
}

}  // namespace

SavedTensor::SavedTensor(const Tensor& tensor, bool isOutput)
    : m_tensor(isOutput ? tensor.detach() : tensor),
      m_version(tensor.version()),
      m_isOutput(isOutput),
      m_requiresGrad(tensor.requires_grad()) {
    const MemoryRole role = tensor.storage()->role();
    if (role == MemoryRole::Activation || role == MemoryRole::Temporary)
        tensor.set_role(MemoryRole::Saved);
}

Tensor SavedTensor::unpack(Node& node, int index) const {
    if (m_tensor.defined() && m_tensor.version() != m_version) {
        const Storage& storage = *m_tensor.storage();
        std::string culprit = "an in-place write";
        if (storage.lastWriter())
            culprit = std::string(storage.lastWriter()->name) + atSite(storage.lastWriteSite());
        throw InPlaceError(
            std::string(node.name()) + " backward: the " + (m_isOutput ? "output " : "input ") +
            m_tensor.meta().toString() + " that " + std::string(node.name()) + atSite(node.site()) +
            " saved as version " + std::to_string(m_version) + " is now at version " +
            std::to_string(m_tensor.version()) + ": " + culprit +
            " overwrote it; use the out-of-place form there, or write to a clone()");
    }
    if (!m_isOutput || !m_requiresGrad) return m_tensor;
    Tensor restored = m_tensor.detach();
    AutogradMeta& meta = restored.impl()->ensureAutograd();
    meta.gradFn = Ref<Node>::share(&node);
    meta.outputNr = index;
    meta.requiresGrad = true;
    return restored;
}

OpNode::OpNode(const OpDef& op, const OpArgs& args, const Outputs& outputs,
               const Tensor& overwritten, std::uint64_t forwardId, Site site)
    : m_op(op), m_attrs(args.attrs) {
    const std::size_t inputs = args.inputs.size();
    m_edges.resize(inputs);
    m_inputMetas.resize(inputs);
    m_savedInputs.resize(inputs);
    for (std::size_t i = 0; i < inputs; ++i) {
        const Tensor& t = *args.inputs[i];
        if (!t.defined()) continue;
        m_edges[i] = gradientEdge(t);
        m_inputMetas[i] = t.meta();
        // A list argument (cat) shares the bit of its first element.
        const std::size_t bit = std::min(i, op.args.empty() ? i : op.args.size() - 1);
        if (op.saveInputs >> bit & 1U) {
            m_savedInputs[i] =
                SavedTensor(i == 0 && overwritten.defined() ? overwritten : t, false);
        }
    }
    m_outputCount = outputs.count;
    m_savedOutputs.resize(static_cast<std::size_t>(outputs.count));
    for (int i = 0; i < outputs.count; ++i)
        m_outputMetas.push_back(outputs.tensors[static_cast<unsigned>(i)].meta());
    m_sequence = nextSequence();
    m_forwardId = forwardId;
    m_site = site;
    const ThreadState& state = threadState();
    m_module = state.backward ? state.backward->module : state.module;
}

void recordNode(const OpDef& op, const OpArgs& args, Outputs& outputs, const Tensor& overwritten,
                std::uint64_t forwardId, Site site) {
    auto node = Ref<OpNode>::adopt(new OpNode(op, args, outputs, overwritten, forwardId, site));
    const Ref<Node> shared = Ref<Node>::share(node.get());
    for (int i = 0; i < outputs.count; ++i) {
        Tensor& out = outputs[i];
        if (!isFloating(out.dtype())) continue;
        AutogradMeta& meta = out.impl()->ensureAutograd();
        meta.gradFn = shared;
        meta.outputNr = i;
        meta.requiresGrad = true;
    }
    node->saveOutputs(outputs);
}

void OpNode::saveOutputs(const Outputs& outputs) {
    for (int i = 0; i < outputs.count; ++i) {
        if (m_op.saveOutputs >> i & 1U) {
            m_savedOutputs[static_cast<unsigned>(i)] =
                SavedTensor(outputs.tensors[static_cast<unsigned>(i)], true);
        }
    }
}

std::vector<Tensor> OpNode::apply(std::span<const Tensor> gradOutputs) {
    if (m_released) {
        throw AutogradError(
            std::string(m_op.name) +
            " backward: what this graph saved was freed by an earlier backward; pass "
            "retain_graph=true to the earlier call to go through it twice");
    }
    const std::size_t inputs = m_edges.size();
    std::vector<Tensor> savedInputs(inputs);
    std::vector<Tensor> savedOutputs(m_savedOutputs.size());
    const auto needs = std::make_unique<bool[]>(inputs);
    for (std::size_t i = 0; i < inputs; ++i) {
        needs[i] = static_cast<bool>(m_edges[i].node);
        if (m_savedInputs[i].defined())
            savedInputs[i] = m_savedInputs[i].unpack(*this, static_cast<int>(i));
    }
    for (std::size_t i = 0; i < savedOutputs.size(); ++i) {
        if (m_savedOutputs[i].defined())
            savedOutputs[i] = m_savedOutputs[i].unpack(*this, static_cast<int>(i));
    }
    std::vector<Tensor> gradInputs(inputs);
    m_op.vjp(VjpArgs{m_op,
                     savedInputs,
                     savedOutputs,
                     m_inputMetas,
                     gradOutputs,
                     {needs.get(), inputs},
                     m_attrs},
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
    return gradInputs;
}

void OpNode::releaseSaved() {
    m_savedInputs.assign(m_savedInputs.size(), {});
    m_savedOutputs.assign(m_savedOutputs.size(), {});
    // What saved nothing may be gone through again, as in PyTorch.
    m_released = (m_op.saveInputs | m_op.saveOutputs) != 0;
}

std::vector<Tensor> OpNode::savedForInspection() const {
    std::vector<Tensor> out;
    for (const SavedTensor& s : m_savedInputs) {
        if (s.defined()) out.push_back(s.peek());
    }
    for (const SavedTensor& s : m_savedOutputs) {
        if (s.defined()) out.push_back(s.peek());
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
