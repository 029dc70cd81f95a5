// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/autograd/node.h"
#include "engine/tensor/tensor_impl.h"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace tapescope::engine {

/// What autograd keeps for a tensor; absent until needed. One small block: what few tensors have
/// lies behind a pointer.
struct AutogradMeta {
    struct LeafHooks {
        int nextId = 0;
        std::vector<std::pair<int, std::function<Tensor(const Tensor&)>>> onGradient;
        std::vector<std::pair<int, std::function<void(const Tensor&)>>> onAccumulated;
    };

    /// owner now comes from output `slot` of fn; a gradient it retains is retained there.
    void replaceHistory(TensorImpl& owner, Ref<Node> fn, int slot) {
        if (retainsGrad && gradFn) gradFn->forgetRetained(&owner);
        gradFn = std::move(fn);
        outputNr = slot;
        if (retainsGrad && gradFn) gradFn->retainGradFor(&owner);
    }
    LeafHooks& ensureHooks() {
        if (!hooks) hooks = std::make_unique<LeafHooks>();
        return *hooks;
    }

    Tensor grad;
    Ref<Node> gradFn;
    /// Not owned: the node that accumulates into this leaf, alive while some graph holds it.
    Node* accumulator = nullptr;
    int outputNr = 0;
    bool retainsGrad = false;
    std::unique_ptr<LeafHooks> hooks;
};

}  // namespace tapescope::engine
