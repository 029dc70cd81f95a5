// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/observe/site.h"
#include "engine/tensor/dims.h"
#include "engine/tensor/dtype.h"
#include "engine/tensor/ref.h"
#include "engine/tensor/storage.h"
#include "engine/tensor/tensor_impl.h"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tapescope::engine {

class Node;

/// shape, dtype and device of a tensor without data: what a shape rule computes.
struct TensorMeta {
    Dims sizes;
    DType dtype = DType::F32;
    /// "f32[64,1,8,8]"
    std::string toString() const;
};

struct TensorOptions {
    DType dtype = DType::F32;
    bool requires_grad = false;
};

/// A handle to a strided, typed view of a Storage, shared by copies (as in PyTorch).
/// Default-constructed: undefined. Public names are PyTorch's. Reading methods are safe from any
/// thread while nobody writes; everything else belongs to the thread that runs the graph.
class Tensor {
public:
    Tensor() noexcept = default;
    explicit Tensor(Ref<TensorImpl> impl) noexcept : m_impl(std::move(impl)) {}

    /// Uninitialised, contiguous.
    static Tensor empty(const Dims& sizes, DType dtype = DType::F32,
                        MemoryRole role = MemoryRole::Unknown);
    /// A copy of values. Throws ShapeError if their number is not the product of sizes.
    template <class T>
    static Tensor from(std::span<const T> values, const Dims& sizes);
    template <class T>
    static Tensor from(std::initializer_list<T> values, const Dims& sizes) {
        return from(std::span<const T>(values.begin(), values.size()), sizes);
    }
    /// 0-d tensor.
    static Tensor scalar(double value, DType dtype = DType::F32);

    bool defined() const noexcept { return static_cast<bool>(m_impl); }
    const Dims& sizes() const { return value().sizes; }
    const Dims& strides() const { return value().strides; }  ///< in elements
    std::int64_t size(int dim) const;                        ///< negative dims count from the end
    int dim() const { return sizes().size(); }
    std::int64_t numel() const { return value().numel; }
    std::int64_t storage_offset() const { return value().offset; }  ///< in elements
    DType dtype() const { return value().dtype; }
    Device device() const;
    TensorMeta meta() const { return {sizes(), dtype()}; }
    bool is_contiguous() const { return value().contiguous; }
    std::size_t nbytes() const { return static_cast<std::size_t>(numel()) * itemSize(dtype()); }
    /// Unique in the process; a view has its own. 0 for an undefined tensor.
    std::uint64_t id() const noexcept { return m_impl ? m_impl->id : 0; }
    std::uint32_t version() const { return value().storage->version(); }

    /// First element. Throws DTypeError if T is not the element type.
    template <class T>
    T* data() const;
    void* data_ptr() const { return value().data(); }
    /// The only element, converted. Throws ShapeError unless numel() == 1.
    double item() const;
    /// All elements in row-major order, converted to T (double, float, int64). For tests, logging
    /// and inspection.
    template <class T = double>
    std::vector<T> to_vector() const;

    bool requires_grad() const noexcept {
        if (!m_impl) return false;
        return m_impl->requiresGrad || (m_impl->view && m_impl->viewIsStale());
    }
    /// Throws AutogradError for an integral tensor or a non-leaf. Returns *this.
    Tensor& set_requires_grad(bool on);
    Tensor& requires_grad_(bool on = true) { return set_requires_grad(on); }
    /// True for a tensor made in inference mode (and its views).
    bool is_inference() const { return value().inference; }
    /// True for a view whose writes reach its base's graph; base() is that tensor, else undefined.
    bool is_view() const { return value().view != nullptr; }
    Tensor base() const;
    bool is_leaf() const noexcept;
    /// The accumulated gradient of a leaf (or of a tensor with retain_grad); undefined before
    /// backward.
    Tensor grad() const;
    void set_grad(Tensor grad) const;
    const Ref<Node>& grad_fn() const noexcept;
    int output_nr() const noexcept;
    /// Keeps the gradient of a non-leaf in grad() after backward.
    void retain_grad() const;
    bool retains_grad() const noexcept;
    /// fn gets the gradient of this tensor during backward and may return a replacement (or an
    /// undefined tensor). Returns an id for remove_hook.
    int register_hook(std::function<Tensor(const Tensor&)> fn) const;
    void remove_hook(int id) const;
    /// fn gets this leaf each time its grad() has taken in a gradient (to step and drop it at
    /// once). Throws AutogradError for a non-leaf. Returns an id for remove_hook.
    int register_post_accumulate_grad_hook(std::function<void(const Tensor&)> fn) const;
    /// Accumulates gradients into the leaves. gradient may be omitted for a 1-element tensor.
    void backward(const Tensor& gradient = {}, bool retain_graph = false, bool create_graph = false,
                  Site site = {}) const;
    /// Same data and version counter, no graph.
    Tensor detach() const;
    /// Cuts this tensor itself off its graph: a leaf from now on. Throws AutogradError for a view.
    Tensor& detach_();

    const Ref<Storage>& storage() const { return value().storage; }
    void set_role(MemoryRole role) const { storage()->setRole(role); }

    /// NumPy-like text, at most about 1000 elements; larger tensors are summarised with "…".
    std::string to_string(int precision = 4) const;

    TensorImpl* impl() const noexcept { return m_impl.get(); }
    const Ref<TensorImpl>& impl_ref() const noexcept { return m_impl; }

private:
    const TensorImpl& value() const {
        if (!m_impl) [[unlikely]]
            throwUndefined();
        return *m_impl;
    }
    [[noreturn]] static void throwUndefined();

    Ref<TensorImpl> m_impl;
};

inline bool same(const Tensor& a, const Tensor& b) { return a.impl() == b.impl(); }

}  // namespace tapescope::engine
