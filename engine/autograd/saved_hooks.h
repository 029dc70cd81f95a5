// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/observe/context.h"
#include "engine/tensor/tensor.h"

#include <any>
#include <functional>
#include <memory>

namespace tapescope::engine {

class Node;

/// torch.autograd.graph.saved_tensors_hooks: while it lives on this thread, what operators keep for
/// backward is given to pack (once each), and only what pack returns is kept; unpack must make the
/// tensor again, with the same shape and values, each time backward wants it. pack gets a tensor
/// without a graph and must not write it. Innermost guard wins; a tensor is unpacked by the hooks
/// that packed it, wherever backward runs.
class SavedTensorsHooks final {
public:
    using Pack = std::function<std::any(const Tensor&)>;
    using Unpack = std::function<Tensor(const std::any&)>;
    /// The same, told which node keeps the tensor.
    using PackFor = std::function<std::any(const Tensor&, const Node&)>;
    struct Pair {
        PackFor pack;
        Unpack unpack;
    };

    SavedTensorsHooks(Pack pack, Unpack unpack);
    explicit SavedTensorsHooks(std::shared_ptr<const Pair> pair);
    ~SavedTensorsHooks() { threadState().savedHooks = m_outer; }
    SavedTensorsHooks(const SavedTensorsHooks&) = delete;
    SavedTensorsHooks& operator=(const SavedTensorsHooks&) = delete;

    const std::shared_ptr<const Pair>& pair() const { return m_pair; }

private:
    std::shared_ptr<const Pair> m_pair;
    const SavedTensorsHooks* m_outer;
};

}  // namespace tapescope::engine
