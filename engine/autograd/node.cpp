// SPDX-License-Identifier: Apache-2.0
#include "engine/autograd/node.h"

#include "engine/autograd/accumulate_grad.h"
#include "engine/tensor/tensor_impl.h"

#include <algorithm>

namespace tapescope::engine {

void Node::destroy(Node* node) noexcept {
    // A chain of 100,000 nodes would recurse as deep: nodes that die while one is dying wait in a
    // list.
    thread_local std::vector<Node*>* pending = nullptr;
    if (pending) {
        pending->push_back(node);
        return;
    }
    std::vector<Node*> list{node};
    pending = &list;
    while (!list.empty()) {
        Node* next = list.back();
        list.pop_back();
        delete next;
    }
    pending = nullptr;
}

int Node::addHook(int slot, std::function<Tensor(const Tensor&)> fn) {
    m_hooks.push_back({m_nextHookId, slot, std::move(fn)});
    return m_nextHookId++;
}

void Node::removeHook(int id) {
    std::erase_if(m_hooks, [id](const Hook& h) { return h.id == id; });
}

void Node::retainGradFor(TensorImpl* tensor) { m_retained.push_back(tensor); }

void Node::forgetRetained(const TensorImpl* tensor) { std::erase(m_retained, tensor); }

Edge gradientEdge(const Tensor& t) {
    if (!t.requires_grad()) return {};
    AutogradMeta& meta = *t.impl()->autograd;
    if (meta.gradFn) return {meta.gradFn, meta.outputNr};
    if (meta.accumulator) return {Ref<Node>::share(meta.accumulator), 0};
    Ref<Node> accumulator = AccumulateGrad::create(t);
    meta.accumulator = accumulator.get();
    return {std::move(accumulator), 0};
}

}  // namespace tapescope::engine
