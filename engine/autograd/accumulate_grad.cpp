// SPDX-License-Identifier: Apache-2.0
#include "engine/autograd/accumulate_grad.h"

#include "engine/autograd/autograd_meta.h"
#include "engine/observe/context.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"

#include <cstdint>

namespace tapescope::engine {

AccumulateGrad::AccumulateGrad(const Tensor& leaf) : m_leaf(leaf) {
    m_sequence = UINT64_MAX;  // as soon as its gradient is complete
}

AccumulateGrad::~AccumulateGrad() {
    if (m_leaf.impl()->autograd) m_leaf.impl()->autograd->accumulator = nullptr;
}

Ref<Node> AccumulateGrad::create(const Tensor& leaf) {
    return Ref<Node>::adopt(new AccumulateGrad(leaf));
}

void AccumulateGrad::runTensorHooks(std::span<Tensor> gradients) {
    const AutogradMeta* meta = m_leaf.impl()->autograd;
    if (!meta || !meta->hooks || !gradients[0].defined()) return;
    // A copy: a hook may remove itself.
    for (const auto& [id, hook] : std::vector(meta->hooks->onGradient)) {
        if (Tensor replaced = hook(gradients[0]); replaced.defined())
            gradients[0] = std::move(replaced);
    }
}

void AccumulateGrad::apply(std::span<const Tensor> gradOutputs, std::span<Tensor>) {
    Tensor gradient = gradOutputs[0];
    if (!gradient.defined()) return;
    AutogradMeta& meta = m_leaf.impl()->ensureAutograd();
    if (!meta.grad.defined()) {
        // Kept as it is when nobody else holds it; a gradient shared with another leaf must not be
        // written later.
        const bool shared = gradient.storage()->useCount() > 1 || !gradient.is_contiguous();
        if (!grad_enabled()) {
            meta.grad = shared ? clone(gradient, Site::none()) : gradient.detach();
        } else {
            meta.grad = shared ? clone(gradient, Site::none()) : gradient;
        }
    } else if (grad_enabled()) {
        meta.grad = add(meta.grad, gradient, Site::none());
    } else {
        add_(meta.grad, gradient, Site::none());
    }
    meta.grad.set_role(MemoryRole::Gradient);
    Context& context = Context::current();
    for (Observer* o : context.observers()) o->onGradReady(m_leaf);
    if (!meta.hooks || meta.hooks->onAccumulated.empty()) return;
    // A copy: a hook may remove itself.
    for (const auto& [id, hook] : std::vector(meta.hooks->onAccumulated)) hook(m_leaf);
}

}  // namespace tapescope::engine
