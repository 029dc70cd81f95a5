// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/autograd/node.h"
#include "engine/autograd/view_info.h"

#include <vector>

namespace tapescope::engine {

/// The gradient of a base of which a view was written in place: outside the view it passes through,
/// inside it goes through the in-place operator. Stands for that operator wherever it is named.
class CopySlices final : public Node {
public:
    /// write: the operator's own node, whose input 0 is the view. base: where the base's gradient
    /// went before.
    static Ref<Node> create(Ref<Node> write, Edge base, Ref<ViewStep> steps);

    void apply(std::span<const Tensor> gradOutputs, std::span<Tensor> gradInputs) override;
    void releaseSaved() override;
    std::string_view name() const override { return m_write->name(); }
    const OpDef* op() const override { return m_write->op(); }
    std::vector<Tensor> savedForInspection() const override {
        return m_write->savedForInspection();
    }

private:
    CopySlices(Ref<Node> write, Edge base, Ref<ViewStep> steps);

    Ref<Node> m_write;
    Ref<ViewStep> m_steps;
    std::vector<Edge> m_ownEdges;
};

}  // namespace tapescope::engine
