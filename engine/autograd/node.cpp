// SPDX-License-Identifier: Apache-2.0
#include "engine/autograd/node.h"

#include "engine/autograd/accumulate_grad.h"
#include "engine/autograd/autograd_meta.h"

#include <algorithm>

namespace tapescope::engine {

void Node::destroy(Node* node) noexcept {
    // A chain of 100,000 nodes would recurse as deep: nodes that die while one is dying wait in a
    // list.
    constinit thread_local Node* waiting = nullptr;
    constinit thread_local bool busy = false;
    if (busy) {
        node->m_nextDead = waiting;
        waiting = node;
        return;
    }
    busy = true;
    node->dispose();
    while (Node* next = waiting) {
        waiting = next->m_nextDead;
        next->dispose();
    }
    busy = false;
}

Node::Extras& Node::ensureExtras() {
    if (!m_extras) m_extras = std::make_unique<Extras>();
    return *m_extras;
}

int Node::addHook(int slot, std::function<Tensor(const Tensor&)> fn) {
    Extras& extras = ensureExtras();
    extras.hooks.push_back({extras.nextHookId, slot, std::move(fn)});
    return extras.nextHookId++;
}

void Node::removeHook(int id) {
    if (m_extras) std::erase_if(m_extras->hooks, [id](const Hook& h) { return h.id == id; });
}

void Node::retainGradFor(TensorImpl* tensor) { ensureExtras().retained.push_back(tensor); }

void Node::forgetRetained(const TensorImpl* tensor) {
    if (m_extras) std::erase(m_extras->retained, tensor);
}

Edge gradientEdge(const Tensor& t) {
    if (!t.requires_grad()) return {};
    AutogradMeta& meta = t.impl()->ensureAutograd();
    if (meta.gradFn) return {meta.gradFn, meta.outputNr};
    if (meta.accumulator) return {Ref<Node>::share(meta.accumulator), 0};
    Ref<Node> accumulator = AccumulateGrad::create(t);
    meta.accumulator = accumulator.get();
    return {std::move(accumulator), 0};
}

}  // namespace tapescope::engine
