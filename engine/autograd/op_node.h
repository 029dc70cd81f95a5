// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/autograd/node.h"

namespace tapescope::engine {

/// A tensor kept for backward, with the version it had. Outputs are kept without their graph (they
/// would hold the node that holds them) and get it back when unpacked.
class SavedTensor {
public:
    SavedTensor() = default;
    SavedTensor(const Tensor& tensor, bool isOutput);
    /// Throws InPlaceError if the tensor was written since. node: the one that made it, for
    /// outputs.
    Tensor unpack(Node& node, int index) const;
    bool defined() const { return m_tensor.defined(); }
    const Tensor& peek() const { return m_tensor; }

private:
    Tensor m_tensor;
    std::uint32_t m_version = 0;
    bool m_isOutput = false;
    bool m_requiresGrad = false;
};

/// The backward of one operator call: runs the row's VJP.
class OpNode final : public Node {
public:
    OpNode(const OpDef& op, const OpArgs& args, const Outputs& outputs, const Tensor& overwritten,
           std::uint64_t forwardId, Site site);

    /// Once the outputs know their node.
    void saveOutputs(const Outputs& outputs);

    std::vector<Tensor> apply(std::span<const Tensor> gradOutputs) override;
    void releaseSaved() override;
    std::string_view name() const override { return m_op.name; }
    const OpDef* op() const override { return &m_op; }
    std::vector<Tensor> savedForInspection() const override;

private:
    const OpDef& m_op;
    Attrs m_attrs;
    std::vector<TensorMeta> m_inputMetas;
    std::vector<SavedTensor> m_savedInputs;  // empty slots where the row saves nothing
    std::vector<SavedTensor> m_savedOutputs;
    bool m_released = false;
};

}  // namespace tapescope::engine
