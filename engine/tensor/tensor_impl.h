// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/dims.h"
#include "engine/tensor/dtype.h"
#include "engine/tensor/ref.h"
#include "engine/tensor/storage.h"

#include <cstdint>

namespace tapescope::engine {

class Tensor;
struct AutogradMeta;
struct ViewInfo;

/// How autograd treats writes through a view.
enum class ViewKind : std::uint8_t {
    None,      ///< not a view, or cut off from its base (detach)
    Tracked,   ///< a write rebuilds the base's graph
    NoGrad,    ///< made under NoGradGuard: whether a write is to be recorded is ambiguous
    Inference  ///< of a normal tensor, made in inference mode
};

/// The state behind a Tensor handle. For the engine's own code; users see Tensor. Complete where
/// Tensor is, so that copying, dropping and asking a handle need no call.
struct TensorImpl final : RefCounted {
    static Ref<TensorImpl> create(Ref<Storage> storage, const Dims& sizes, const Dims& strides,
                                  std::int64_t offset, DType dtype);
    /// Row-major, over a storage of its own. numel: the product of sizes.
    static Ref<TensorImpl> createDense(const Dims& sizes, std::int64_t numel, DType dtype,
                                       MemoryRole role);
    static void destroy(TensorImpl* impl) noexcept;

    AutogradMeta& ensureAutograd();
    void* data() const noexcept {
        auto* base = static_cast<char*>(storage->data());
        return base ? base + offset * static_cast<std::int64_t>(itemSize(dtype)) : nullptr;
    }

    Ref<Storage> storage;
    Dims sizes;
    Dims strides;
    std::int64_t offset = 0;
    std::int64_t numel = 1;
    std::uint64_t id = 0;
    DType dtype = DType::F32;
    bool contiguous = true;
    bool requiresGrad = false;
    /// A C++ number used as an operand: takes part in type promotion only by its category.
    bool wrappedNumber = false;
    /// Made in inference mode: never part of a graph.
    bool inference = false;
    ViewKind viewKind = ViewKind::None;
    /// Owned; of tracked views only.
    ViewInfo* view = nullptr;
    /// Owned; null until autograd needs it.
    AutogradMeta* autograd = nullptr;

    /// A tracked view's base got a new history since the view last looked: the view's own is stale.
    bool viewIsStale() const noexcept;

private:
    TensorImpl() = default;
    ~TensorImpl() = default;
};

/// A tensor over the same storage. The caller guarantees that it lies inside.
Tensor makeView(const Tensor& base, const Dims& sizes, const Dims& strides, std::int64_t offset);
/// The same with elements read as dtype; strides and offset in those. Complex as pairs of float32.
Tensor makeViewAs(DType dtype, const Tensor& base, const Dims& sizes, const Dims& strides,
                  std::int64_t offset);

}  // namespace tapescope::engine
