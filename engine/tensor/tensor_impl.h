// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <memory>
#include <utility>
#include <vector>

namespace tapescope::engine {

/// What autograd keeps for a tensor; absent until needed.
struct AutogradMeta {
    Tensor grad;
    Ref<Node> gradFn;
    /// Not owned: the node that accumulates into this leaf, alive while some graph holds it.
    Node* accumulator = nullptr;
    int outputNr = 0;
    bool requiresGrad = false;
    bool retainsGrad = false;
    int nextHookId = 0;
    std::vector<std::pair<int, std::function<Tensor(const Tensor&)>>> hooks;
};

/// The state behind a Tensor handle. For the engine's own code; users see Tensor.
struct TensorImpl final : RefCounted {
    static Ref<TensorImpl> create(Ref<Storage> storage, const Dims& sizes, const Dims& strides,
                                  std::int64_t offset, DType dtype);
    static void destroy(TensorImpl* impl) noexcept;

    AutogradMeta& ensureAutograd();

    Ref<Storage> storage;
    Dims sizes;
    Dims strides;
    std::int64_t offset = 0;
    std::int64_t numel = 1;
    std::uint64_t id = 0;
    DType dtype = DType::F32;
    bool contiguous = true;
    /// A C++ number used as an operand: takes part in type promotion only by its category.
    bool wrappedNumber = false;
    /// A view of another tensor: in-place writes through it need the base's graph rebuilt.
    bool isView = false;
    std::unique_ptr<AutogradMeta> autograd;
};

/// A tensor over the same storage. The caller guarantees that it lies inside.
Tensor makeView(const Tensor& base, const Dims& sizes, const Dims& strides, std::int64_t offset);

}  // namespace tapescope::engine
