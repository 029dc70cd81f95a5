// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/autograd/node.h"

namespace tapescope::engine {

/// The end of a path: adds what arrives to a leaf's grad(). One per leaf and graph; the leaf knows
/// it without owning it.
class AccumulateGrad final : public Node {
public:
    static Ref<Node> create(const Tensor& leaf);
    ~AccumulateGrad() override;

    void apply(std::span<const Tensor> gradOutputs, std::span<Tensor> gradInputs) override;
    void runTensorHooks(std::span<Tensor> gradients) override;
    std::string_view name() const override { return "accumulate_grad"; }
    const Tensor& leaf() const { return m_leaf; }

private:
    explicit AccumulateGrad(const Tensor& leaf);
    Tensor m_leaf;
};

}  // namespace tapescope::engine
