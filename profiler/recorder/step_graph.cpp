// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/step_graph.h"

#include "engine/tensor/tensor.h"
#include "engine/tensor/tensor_impl.h"
#include "profiler/recorder/structure_hash.h"

#include <algorithm>

namespace tapescope::profiler {
namespace {

using engine::Tensor;

// Texts of attributes that hold floats change from step to step: the table starts afresh above
// this.
constexpr std::size_t kMaxTexts = 16384;

std::uintptr_t addressOf(const Tensor& t) {
    return reinterpret_cast<std::uintptr_t>(t.storage()->data());
}

/// What a tensor that no operator of this step made and no module owns is called.
std::string_view leafKind(const Tensor& t) {
    switch (t.storage()->role()) {
        case engine::MemoryRole::Parameter:
            return "parameter";
        case engine::MemoryRole::Buffer:
            return "buffer";
        case engine::MemoryRole::Gradient:
            return "gradient";
        case engine::MemoryRole::OptimizerState:
            return "optimizer state";
        default:
            break;
    }
    // Numbers of the program become 0-d tensors.
    const bool number = t.impl()->wrappedNumber || (t.dim() == 0 && !t.requires_grad());
    return number ? "constant" : "input";
}

}  // namespace

void StepGraph::describe(const engine::nn::Module& root) {
    const auto add = [this](const std::vector<engine::nn::Module::NamedTensor>& tensors) {
        for (const auto& [name, tensor] : tensors) {
            if (!tensor.defined()) continue;
            const auto text = static_cast<TextId>(m_texts.size());
            m_texts.push_back(name);
            m_parameters[tensor.id()] = text;
            if (addressOf(tensor) != 0) m_parametersByAddress[addressOf(tensor)] = text;
        }
    };
    m_textIds.clear();
    m_texts.resize(m_fixedTexts);
    add(root.named_parameters());
    add(root.named_buffers());
    m_fixedTexts = m_texts.size();
    beginStep();
}

void StepGraph::beginStep() {
    m_nodes.clear();
    m_inputs.clear();
    m_outputs.clear();
    m_producers.clear();
    m_producersByAddress.clear();
    m_unnamedLeaves.clear();
    m_leafCounts.clear();
    if (m_texts.size() > m_fixedTexts + kMaxTexts) {
        m_textIds.clear();
        m_texts.resize(m_fixedTexts);
    }
}

std::int32_t StepGraph::seqOf(std::uint64_t opId) const {
    if (opId == 0) return -1;
    // Ids ascend in a Context; calls are nodes in the order they begin.
    const auto at = std::ranges::lower_bound(m_nodes, opId, {}, &Node::opId);
    return at != m_nodes.end() && at->opId == opId ? static_cast<std::int32_t>(at - m_nodes.begin())
                                                   : -1;
}

void StepGraph::opBegin(const engine::OpCall& call) {
    Node node;
    node.op = &m_identities.of(*call.op);
    node.opId = call.id;
    const ModuleIdentity& module = m_identities.of(call.module);
    const Identity site = m_identities.of(call.site);
    node.module = module.id;
    node.site = site.id;
    node.phase = static_cast<storage::Phase>(call.phase);
    if (call.backward != nullptr) node.forwardSeq = seqOf(call.backward->forwardId);
    std::uint64_t hash = mixed(node.op->hash, module.hash);
    hash = mixed(hash, site.hash);
    hash = mixed(hash, static_cast<std::uint64_t>(node.phase));
    hash = mixed(hash, static_cast<std::uint64_t>(node.forwardSeq));
    if (call.attrs != nullptr && call.attrs->size() > 0) {
        const AttrsHash attrs = hashOf(*call.attrs);
        node.attrs = attrsOf(*node.op, *call.attrs, attrs.all);
        hash = mixed(hash, attrs.structure);
    }
    node.firstInput = static_cast<std::uint32_t>(m_inputs.size());
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
        const Tensor* tensor = call.inputs[i];
        if (tensor == nullptr || !tensor->defined()) continue;
        const Input input = inputOf(*tensor, i);
        hash = mixed(hash, (static_cast<std::uint64_t>(input.from.seq) << 16U) |
                               (static_cast<std::uint64_t>(input.from.output) << 8U) | input.to);
        hash = mixed(hash, hashOf(tensor->sizes(), tensor->dtype()));
        if (input.leaf != 0) hash = mixed(hash, hashOf(m_texts[input.leaf]));
        m_inputs.push_back(input);
    }
    node.inputCount = static_cast<std::uint32_t>(m_inputs.size()) - node.firstInput;
    node.hash = hash;
    m_nodes.push_back(node);
}

void StepGraph::opEnd(const engine::OpCall& call) {
    const std::int32_t seq = seqOf(call.id);
    if (seq < 0) return;
    Node& node = m_nodes[static_cast<std::size_t>(seq)];
    node.flops = call.cost.flops;
    node.bytes = call.cost.bytesRead + call.cost.bytesWritten;
    node.firstOutput = static_cast<std::uint32_t>(m_outputs.size());
    node.outputCount = static_cast<std::uint32_t>(call.outputs.size());
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
        const Tensor& t = call.outputs[i];
        m_outputs.push_back(t.defined() ? typeOf(t) : 0);
        if (!t.defined()) continue;
        node.hash = mixed(node.hash, hashOf(t.sizes(), t.dtype()));
        const Producer producer{seq, static_cast<std::uint8_t>(std::min<std::size_t>(i, 255))};
        // An in-place operator returns its input: from here on the tensor is this node's.
        m_producers.set(t.id(), producer);
        // A view's address is its base's: whoever made that stays.
        if (!call.op->view && addressOf(t) != 0) m_producersByAddress.set(addressOf(t), producer);
    }
}

void StepGraph::memoryFreed(std::uintptr_t address) {
    if (Producer* known = m_producersByAddress.find(address)) *known = {};
}

StepGraph::Input StepGraph::inputOf(const Tensor& tensor, std::size_t position) {
    Input input;
    input.to = static_cast<std::uint8_t>(std::min<std::size_t>(position, 255));
    input.type = typeOf(tensor);
    if (const Producer* made = m_producers.find(tensor.id())) {
        input.from = *made;
        return input;
    }
    if (const auto named = m_parameters.find(tensor.id()); named != m_parameters.end()) {
        input.leaf = named->second;
        return input;
    }
    const std::uintptr_t address = addressOf(tensor);
    if (address != 0) {
        // A detached handle has an id of its own; its memory tells where it comes from.
        const Producer* made = m_producersByAddress.find(address);
        if (made != nullptr && made->seq >= 0) {
            input.from = *made;
            return input;
        }
        const auto named = m_parametersByAddress.find(address);
        if (named != m_parametersByAddress.end()) {
            input.leaf = named->second;
            return input;
        }
    }
    input.leaf = leafOf(tensor);
    return input;
}

StepGraph::TextId StepGraph::leafOf(const Tensor& tensor) {
    if (const TextId* known = m_unnamedLeaves.find(tensor.id())) return *known;
    const std::string_view kind = leafKind(tensor);
    // "input", "input 2", …: by order of appearance, so the same in every step. Constants are many
    // and alike.
    std::string name(kind);
    if (kind != "constant") {
        const int number = ++m_leafCounts[kind];
        if (number > 1) name += " " + std::to_string(number);
    }
    const TextId text = textOf(mixed(7, hashOf(name)), [&] { return name; });
    m_unnamedLeaves.set(tensor.id(), text);
    return text;
}

template <class Make>
StepGraph::TextId StepGraph::textOf(std::uint64_t hash, Make&& make) {
    const auto [at, isNew] = m_textIds.try_emplace(hash, static_cast<TextId>(m_texts.size()));
    if (isNew) m_texts.push_back(make());
    return at->second;
}

StepGraph::TextId StepGraph::typeOf(const Tensor& tensor) {
    return textOf(hashOf(tensor.sizes(), tensor.dtype()), [&] { return tensor.meta().toString(); });
}

StepGraph::TextId StepGraph::attrsOf(const OpIdentity& op, const engine::Attrs& attrs,
                                     std::uint64_t hash) {
    return textOf(mixed(op.hash, hash), [&] { return engine::attrsText(*op.op, attrs); });
}

std::uint64_t StepGraph::signature() const {
    std::uint64_t hash = m_nodes.size();
    for (const Node& node : m_nodes) hash = mixed(hash, node.hash);
    return hash;
}

storage::Graph StepGraph::toGraph(bool complete) const {
    storage::Graph graph;
    graph.signature = signature();
    graph.complete = complete;
    graph.nodes.reserve(m_nodes.size());
    for (const Node& n : m_nodes) {
        storage::GraphNode node;
        node.seq = static_cast<std::uint32_t>(graph.nodes.size());
        node.op = n.op->op->name;
        node.module = n.module;
        node.site = n.site;
        node.phase = n.phase;
        node.forwardSeq = n.forwardSeq;
        node.attrs = m_texts[n.attrs];
        for (std::uint32_t i = 0; i < n.outputCount; ++i) {
            if (i > 0) node.outputs += ", ";
            node.outputs += m_texts[m_outputs[n.firstOutput + i]];
        }
        node.flops = n.flops;
        node.bytes = n.bytes;
        node.inputs.reserve(n.inputCount);
        for (std::uint32_t i = 0; i < n.inputCount; ++i) {
            const Input& in = m_inputs[n.firstInput + i];
            node.inputs.push_back(
                {in.from.seq, in.from.output, in.to, m_texts[in.leaf], m_texts[in.type]});
        }
        graph.nodes.push_back(std::move(node));
    }
    return graph;
}

}  // namespace tapescope::profiler
