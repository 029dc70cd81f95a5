// SPDX-License-Identifier: Apache-2.0
#include "engine/autograd/node.h"

#include "engine/autograd/accumulate_grad.h"
#include "engine/autograd/autograd_meta.h"

#include <algorithm>

namespace tapescope::engine {

std::uint64_t nextNodeSequence() {
    constinit thread_local std::uint64_t next = 1;
    return next++;
}

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
    if (!m_extras) return;
    const auto first = [id](const auto& h) { return h.first == id; };
    std::erase_if(m_extras->hooks, [id](const Hook& h) { return h.id == id; });
    std::erase_if(m_extras->before, first);
    std::erase_if(m_extras->after, first);
}

int Node::register_prehook(PreHook fn) {
    Extras& extras = ensureExtras();
    extras.before.emplace_back(extras.nextHookId, std::move(fn));
    return extras.nextHookId++;
}

int Node::register_hook(PostHook fn) {
    Extras& extras = ensureExtras();
    extras.after.emplace_back(extras.nextHookId, std::move(fn));
    return extras.nextHookId++;
}

void Node::runTensorHooks(std::span<Tensor> gradients) {
    if (!m_extras) return;
    // A copy: a hook may remove itself.
    for (const Hook& hook : std::vector<Hook>(m_extras->hooks)) {
        Tensor& g = gradients[static_cast<std::size_t>(hook.slot)];
        if (!g.defined()) continue;
        if (Tensor replaced = hook.fn(g); replaced.defined()) g = std::move(replaced);
    }
    for (TensorImpl* retained : m_extras->retained) {
        const Tensor& g = gradients[static_cast<std::size_t>(retained->autograd->outputNr)];
        if (g.defined()) retained->autograd->grad = g;
    }
}

void Node::retainGradFor(TensorImpl* tensor) { ensureExtras().retained.push_back(tensor); }

void Node::forgetRetained(const TensorImpl* tensor) {
    if (m_extras) std::erase(m_extras->retained, tensor);
}

Edge gradientEdge(const Tensor& t) {
    if (!t.requires_grad()) return {};
    if (const Ref<Node>& maker = t.grad_fn()) return {maker, t.output_nr()};
    AutogradMeta& meta = t.impl()->ensureAutograd();
    if (meta.accumulator) return {Ref<Node>::share(meta.accumulator), 0};
    Ref<Node> accumulator = AccumulateGrad::create(t);
    meta.accumulator = accumulator.get();
    return {std::move(accumulator), 0};
}

}  // namespace tapescope::engine
