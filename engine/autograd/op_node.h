// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/autograd/node.h"
#include "engine/autograd/saved_tensor.h"

namespace tapescope::engine {

/// The backward of one operator call: runs the row's VJP. One block of memory holds the node, its
/// edges, what it saved and the call's attributes.
class OpNode final : public Node {
public:
    static Ref<OpNode> create(const OpDef& op, const OpArgs& args, const Outputs& outputs,
                              const Tensor& overwritten, std::uint64_t forwardId, Site site);

    /// Once the outputs know their node.
    void saveOutputs(const Outputs& outputs);

    void apply(std::span<const Tensor> gradOutputs, std::span<Tensor> gradInputs) override;
    void releaseSaved() override;
    std::string_view name() const override { return m_op.name; }
    const OpDef* op() const override { return &m_op; }
    std::vector<Tensor> savedForInspection() const override;

protected:
    void dispose() noexcept override;

private:
    OpNode(const OpDef& op, std::size_t blockBytes) : m_op(op), m_blockBytes(blockBytes) {}
    ~OpNode() override;

    const OpDef& m_op;
    std::size_t m_blockBytes;
    // Behind the node in its block; the saved ones are empty where the row saves nothing.
    std::span<TensorMeta> m_inputMetas;
    std::span<SavedTensor> m_savedInputs;
    std::span<SavedTensor> m_savedOutputs;
    std::span<AttrValue> m_attrs;
    bool m_released = false;
};

}  // namespace tapescope::engine
