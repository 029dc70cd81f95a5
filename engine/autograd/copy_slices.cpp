// SPDX-License-Identifier: Apache-2.0
#include "engine/autograd/copy_slices.h"

#include "engine/autograd/op_node.h"
#include "engine/autograd/stack_buffer.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"

namespace tapescope::engine {

CopySlices::CopySlices(Ref<Node> write, Edge base, Ref<ViewStep> steps)
    : m_write(std::move(write)),
      m_steps(std::move(steps)),
      m_ownEdges(m_write->edges().begin(), m_write->edges().end()) {
    m_ownEdges[0] = std::move(base);
    m_edges = m_ownEdges;
    m_sequence = nextNodeSequence();
    m_forwardId = m_write->forwardId();
    m_site = m_write->site();
    m_module = m_write->module();
}

Ref<Node> CopySlices::create(Ref<Node> write, Edge base, Ref<ViewStep> steps) {
    return Ref<Node>::adopt(new CopySlices(std::move(write), std::move(base), std::move(steps)));
}

void CopySlices::apply(std::span<const Tensor> gradOutputs, std::span<Tensor> gradInputs) {
    const Tensor whole = clone(contiguous(gradOutputs[0]));
    const Tensor part = replayView(whole, *m_steps, site());
    const Tensor gradient = clone(part);
    StackBuffer<Tensor, 4> inner(m_write->edges().size());
    m_write->apply({&gradient, 1}, inner.span());
    for (std::size_t i = 1; i < gradInputs.size(); ++i) gradInputs[i] = std::move(inner[i]);
    if (!m_ownEdges[0].node) return;
    // An operator that forgets what it overwrites lets nothing through.
    if (inner[0].defined()) {
        copy_(part, inner[0]);
    } else {
        zero_(part);
    }
    gradInputs[0] = whole;
}

void CopySlices::releaseSaved() { m_write->releaseSaved(); }

}  // namespace tapescope::engine
