// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/autograd/saved_hooks.h"
#include "engine/tensor/tensor.h"

#include <any>
#include <memory>

namespace tapescope::engine {

class Node;

/// A tensor kept for backward, with the version it had. What would hold the node that holds it (an
/// output, a view of one, what an in-place operator also writes) is kept without its graph and gets
/// it back when unpacked.
class SavedTensor {
public:
    enum class As : std::uint8_t { Input, InputAlias, Output };

    SavedTensor() = default;
    /// node: the one that keeps it, as its input or output `index`. Throws AutogradError for a
    /// tensor made in inference mode, and what a pack hook throws.
    SavedTensor(const Tensor& tensor, As as, const Node& node, int index);
    /// Throws InPlaceError if the tensor was written since, and what an unpack hook throws.
    Tensor unpack(Node& node, int index) const;
    bool defined() const { return m_tensor.defined() || m_packed; }
    /// Undefined where a hook has put the tensor away.
    const Tensor& peek() const { return m_tensor; }

private:
    struct Packed {
        std::any value;
        std::shared_ptr<const SavedTensorsHooks::Pair> hooks;
    };

    void checkVersion(const Node& node) const;

    Tensor m_tensor;
    Ref<Node> m_fn;  // the history it gets back; none for an output: the unpacking node
    std::unique_ptr<Packed> m_packed;
    std::uint32_t m_version = 0;
    int m_slot = 0;
    As m_as = As::Input;
    bool m_requiresGrad = false;
};

}  // namespace tapescope::engine
