// SPDX-License-Identifier: Apache-2.0
#include "engine/tensor/tensor.h"

#include "engine/autograd/autograd.h"
#include "engine/autograd/autograd_meta.h"
#include "engine/autograd/view_info.h"
#include "engine/errors.h"
#include "engine/memory/small_pool.h"
#include "engine/observe/context.h"
#include "engine/tensor/complex.h"
#include "engine/tensor/tensor_impl.h"

#include <atomic>
#include <cstring>
#include <new>
#include <type_traits>

namespace tapescope::engine {
namespace {

/// Ids come in blocks a thread, so that a new tensor costs no shared write.
std::uint64_t nextTensorId() {
    constexpr std::uint64_t kBlock = 1024;
    static std::atomic<std::uint64_t> nextBlock{1};
    constinit thread_local std::uint64_t next = 0;
    constinit thread_local std::uint64_t end = 0;
    if (next == end) {
        next = nextBlock.fetch_add(kBlock, std::memory_order_relaxed);
        end = next + kBlock;
    }
    return next++;
}

bool isContiguous(const Dims& sizes, const Dims& strides) {
    std::int64_t run = 1;
    for (int i = sizes.size() - 1; i >= 0; --i) {
        if (sizes[i] == 0) return true;
        if (sizes[i] == 1) continue;
        if (strides[i] != run) return false;
        run *= sizes[i];
    }
    return true;
}

/// Calls fn(offset in elements) for every element in row-major order.
template <class Fn>
void forEachOffset(const TensorImpl& t, Fn&& fn) {
    const int rank = t.sizes.size();
    Dims index = Dims::filled(rank, 0);
    std::int64_t offset = t.offset;
    for (std::int64_t i = 0; i < t.numel; ++i) {
        fn(offset);
        for (int d = rank - 1; d >= 0; --d) {
            offset += t.strides[d];
            if (++index[d] < t.sizes[d]) break;
            offset -= t.strides[d] * t.sizes[d];
            index[d] = 0;
        }
    }
}

}  // namespace

Ref<TensorImpl> TensorImpl::create(Ref<Storage> storage, const Dims& sizes, const Dims& strides,
                                   std::int64_t offset, DType dtype) {
    auto* impl = new (smallAllocate(sizeof(TensorImpl))) TensorImpl;
    impl->storage = std::move(storage);
    impl->sizes = sizes;
    impl->strides = strides;
    impl->offset = offset;
    impl->numel = numelOf(sizes);
    impl->dtype = dtype;
    impl->contiguous = isContiguous(sizes, strides);
    impl->id = nextTensorId();
    return Ref<TensorImpl>::adopt(impl);
}

Ref<TensorImpl> TensorImpl::createDense(const Dims& sizes, std::int64_t numel, DType dtype,
                                        MemoryRole role) {
    Ref<Storage> storage = Storage::create(static_cast<std::size_t>(numel) * itemSize(dtype), role);
    auto* impl = new (smallAllocate(sizeof(TensorImpl))) TensorImpl;
    impl->storage = std::move(storage);
    impl->sizes = sizes;
    impl->strides.resize(sizes.size());
    std::int64_t run = 1;
    for (int i = sizes.size() - 1; i >= 0; --i) {
        impl->strides[i] = run;
        run *= sizes[i] > 1 ? sizes[i] : 1;
    }
    impl->numel = numel;
    impl->dtype = dtype;
    impl->id = nextTensorId();
    impl->inference = threadState().inference;
    return Ref<TensorImpl>::adopt(impl);
}

void TensorImpl::destroy(TensorImpl* impl) noexcept {
    if (AutogradMeta* meta = impl->autograd) {
        if (meta->retainsGrad && meta->gradFn) meta->gradFn->forgetRetained(impl);
        meta->~AutogradMeta();
        smallFree(meta, sizeof(AutogradMeta));
    }
    if (ViewInfo* info = impl->view) {
        info->~ViewInfo();
        smallFree(info, sizeof(ViewInfo));
    }
    impl->~TensorImpl();
    smallFree(impl, sizeof(TensorImpl));
}

AutogradMeta& TensorImpl::ensureAutograd() {
    if (!autograd) autograd = new (smallAllocate(sizeof(AutogradMeta))) AutogradMeta;
    return *autograd;
}

Tensor makeView(const Tensor& base, const Dims& sizes, const Dims& strides, std::int64_t offset) {
    return makeViewAs(base.dtype(), base, sizes, strides, offset);
}

Tensor makeViewAs(DType dtype, const Tensor& base, const Dims& sizes, const Dims& strides,
                  std::int64_t offset) {
    Tensor view(TensorImpl::create(base.storage(), sizes, strides, offset, dtype));
    view.impl()->inference = base.impl()->inference;
    return view;
}

std::string TensorMeta::toString() const {
    std::string text(dtypeShortName(dtype));
    text += '[';
    for (int i = 0; i < sizes.size(); ++i) {
        if (i > 0) text += ',';
        text += std::to_string(sizes[i]);
    }
    return text + ']';
}

void Tensor::throwUndefined() {
    throw Error("an undefined tensor was used where a value is needed");
}

Tensor Tensor::empty(const Dims& sizes, DType dtype, MemoryRole role) {
    return Tensor(TensorImpl::createDense(sizes, numelOf(sizes), dtype, role));
}

template <class T>
Tensor Tensor::from(std::span<const T> values, const Dims& sizes) {
    const std::int64_t n = numelOf(sizes);
    if (n != static_cast<std::int64_t>(values.size())) {
        throw ShapeError("Tensor::from: " + std::to_string(values.size()) +
                         " values do not fill the shape " + engine::toString(sizes) + " of " +
                         std::to_string(n));
    }
    Tensor t = empty(sizes, kDTypeOf<T>);
    if (n > 0) std::memcpy(t.data_ptr(), values.data(), values.size_bytes());
    return t;
}
template Tensor Tensor::from(std::span<const bool>, const Dims&);
template Tensor Tensor::from(std::span<const std::int64_t>, const Dims&);
template Tensor Tensor::from(std::span<const float>, const Dims&);
template Tensor Tensor::from(std::span<const double>, const Dims&);
template Tensor Tensor::from(std::span<const Half>, const Dims&);
template Tensor Tensor::from(std::span<const BFloat16>, const Dims&);
template Tensor Tensor::from(std::span<const std::int32_t>, const Dims&);
template Tensor Tensor::from(std::span<const std::int16_t>, const Dims&);
template Tensor Tensor::from(std::span<const std::int8_t>, const Dims&);
template Tensor Tensor::from(std::span<const std::uint8_t>, const Dims&);
template Tensor Tensor::from(std::span<const Complex64>, const Dims&);

Tensor Tensor::scalar(double value, DType dtype) {
    Tensor t = empty({}, dtype);
    if (isComplex(dtype)) {
        *t.data<Complex64>() = static_cast<float>(value);
        return t;
    }
    visitEveryDType(dtype, [&]<class T>() {
        // A negative number wraps in an unsigned type, as an integer does.
        if constexpr (std::is_unsigned_v<T> && !std::is_same_v<T, bool>)
            *static_cast<T*>(t.data_ptr()) = static_cast<T>(static_cast<std::int64_t>(value));
        else
            *static_cast<T*>(t.data_ptr()) = static_cast<T>(value);
    });
    return t;
}

Device Tensor::device() const { return value().storage->device(); }

std::int64_t Tensor::size(int d) const {
    const int rank = dim();
    const int i = d < 0 ? d + rank : d;
    if (i < 0 || i >= rank) {
        throw IndexError("size: dimension " + std::to_string(d) +
                         " is out of range for the shape " + engine::toString(sizes()));
    }
    return sizes()[i];
}

template <class T>
T* Tensor::data() const {
    if (dtype() != kDTypeOf<T>) {
        throw DTypeError("data<" + std::string(dtypeName(kDTypeOf<T>)) + ">: the tensor holds " +
                         std::string(dtypeName(dtype())));
    }
    return static_cast<T*>(data_ptr());
}
template bool* Tensor::data() const;
template std::int64_t* Tensor::data() const;
template float* Tensor::data() const;
template double* Tensor::data() const;
template Half* Tensor::data() const;
template BFloat16* Tensor::data() const;
template std::int32_t* Tensor::data() const;
template std::int16_t* Tensor::data() const;
template std::int8_t* Tensor::data() const;
template std::uint8_t* Tensor::data() const;
template Complex64* Tensor::data() const;

double Tensor::item() const {
    if (numel() != 1) {
        throw ShapeError("item: a tensor of shape " + engine::toString(sizes()) + " has " +
                         std::to_string(numel()) + " elements, not 1");
    }
    if (isComplex(dtype())) {
        const Complex64 number = *data<Complex64>();
        if (number.imag() == 0) return static_cast<double>(number.real());
        throw DTypeError("item: " + complexText(number) +
                         " is not a real number; take real(), imag() or abs() of the tensor, or "
                         "to_vector<Complex64>()");
    }
    return visitEveryDType(
        dtype(), [&]<class T>() { return static_cast<double>(*static_cast<T*>(data_ptr())); });
}

namespace {

template <class S, class T>
void convertInto(const TensorImpl& t, std::vector<T>& out) {
    const auto* base = static_cast<const S*>(t.storage->data());
    forEachOffset(t, [&](std::int64_t offset) {
        if constexpr (std::is_same_v<T, Complex64> && !std::is_same_v<S, Complex64>)
            out.push_back(static_cast<float>(base[offset]));
        else
            out.push_back(static_cast<T>(base[offset]));
    });
}

}  // namespace

template <class T>
std::vector<T> Tensor::to_vector() const {
    const TensorImpl& t = value();
    std::vector<T> out;
    out.reserve(static_cast<std::size_t>(t.numel));
    if (isComplex(t.dtype)) {
        if constexpr (std::is_same_v<T, Complex64>) {
            convertInto<Complex64>(t, out);
        } else {
            throw DTypeError(
                "to_vector: complex64 elements are no real numbers; use to_vector<Complex64>(), or "
                "take real(), imag() or view_as_real() of the tensor");
        }
        return out;
    }
    visitEveryDType(t.dtype, [&]<class S>() { convertInto<S>(t, out); });
    return out;
}
template std::vector<double> Tensor::to_vector() const;
template std::vector<float> Tensor::to_vector() const;
template std::vector<std::int64_t> Tensor::to_vector() const;
template std::vector<Complex64> Tensor::to_vector() const;

Tensor& Tensor::set_requires_grad(bool on) {
    if (on && !isDifferentiable(dtype())) {
        throw AutogradError(
            "set_requires_grad: only floating-point and complex tensors can require gradients, "
            "this "
            "one is " +
            std::string(dtypeName(dtype())));
    }
    if (on && m_impl->inference && !threadState().inference) {
        throw AutogradError(
            "set_requires_grad: this tensor was made in inference mode and cannot require a "
            "gradient outside it; make a clone() to get a normal tensor");
    }
    if (!is_leaf()) {
        throw AutogradError(
            "set_requires_grad: this tensor was computed by " + std::string(grad_fn()->name()) +
            "; only leaves can be switched, use detach() for a copy outside the graph");
    }
    m_impl->requiresGrad = on;
    return *this;
}

bool Tensor::is_leaf() const noexcept { return !grad_fn(); }

Tensor Tensor::grad() const {
    const TensorImpl& t = value();
    return t.autograd ? t.autograd->grad : Tensor();
}

void Tensor::set_grad(Tensor g) const {
    if (g.defined() && g.sizes() != sizes()) {
        throw ShapeError("set_grad: the gradient's shape " + engine::toString(g.sizes()) +
                         " is not the tensor's " + engine::toString(sizes()));
    }
    if (g.defined() || m_impl->autograd) m_impl->ensureAutograd().grad = std::move(g);
}

const Ref<Node>& Tensor::grad_fn() const noexcept {
    static const Ref<Node> none;
    if (m_impl && m_impl->view && m_impl->viewIsStale()) refreshViewHistory(*m_impl);
    return m_impl && m_impl->autograd ? m_impl->autograd->gradFn : none;
}

int Tensor::output_nr() const noexcept {
    return m_impl && m_impl->autograd ? m_impl->autograd->outputNr : 0;
}

void Tensor::retain_grad() const {
    if (!requires_grad())
        throw AutogradError("retain_grad: the tensor does not require a gradient");
    if (is_leaf() || m_impl->autograd->retainsGrad) return;
    m_impl->autograd->retainsGrad = true;
    m_impl->autograd->gradFn->retainGradFor(m_impl.get());
}

bool Tensor::retains_grad() const noexcept {
    return m_impl && m_impl->autograd && m_impl->autograd->retainsGrad;
}

Tensor Tensor::base() const { return value().view ? value().view->base : Tensor(); }

int Tensor::register_hook(std::function<Tensor(const Tensor&)> fn) const {
    if (!requires_grad())
        throw AutogradError("register_hook: the tensor does not require a gradient");
    if (const Ref<Node>& maker = grad_fn()) return maker->addHook(output_nr(), std::move(fn));
    AutogradMeta::LeafHooks& hooks = m_impl->ensureAutograd().ensureHooks();
    hooks.onGradient.emplace_back(hooks.nextId, std::move(fn));
    return hooks.nextId++;
}

int Tensor::register_post_accumulate_grad_hook(std::function<void(const Tensor&)> fn) const {
    if (!requires_grad() || !is_leaf()) {
        throw AutogradError(
            "register_post_accumulate_grad_hook: only a leaf that requires a gradient accumulates "
            "one; use register_hook for the gradient of an inner tensor");
    }
    AutogradMeta::LeafHooks& hooks = m_impl->ensureAutograd().ensureHooks();
    hooks.onAccumulated.emplace_back(hooks.nextId, std::move(fn));
    return hooks.nextId++;
}

void Tensor::remove_hook(int id) const {
    if (!m_impl || !m_impl->autograd) return;
    AutogradMeta& meta = *m_impl->autograd;
    if (meta.gradFn) return meta.gradFn->removeHook(id);
    if (!meta.hooks) return;
    std::erase_if(meta.hooks->onGradient, [id](const auto& h) { return h.first == id; });
    std::erase_if(meta.hooks->onAccumulated, [id](const auto& h) { return h.first == id; });
}

void Tensor::backward(const Tensor& gradient, bool retain_graph, bool create_graph,
                      Site site) const {
    engine::backward(std::span(this, 1), std::span(&gradient, 1), retain_graph, create_graph, site);
}

Tensor Tensor::detach() const {
    const TensorImpl& t = value();
    Tensor out(TensorImpl::create(t.storage, t.sizes, t.strides, t.offset, t.dtype));
    out.impl()->inference = t.inference;
    return out;
}

Tensor& Tensor::detach_() {
    if (value().view) {
        throw AutogradError(
            "detach_: a view cannot be cut off its graph in place, its base would still lead "
            "there; use detach()");
    }
    if (AutogradMeta* meta = m_impl->autograd) {
        if (meta->gradFn) meta->replaceHistory(*m_impl, nullptr, 0);
        meta->retainsGrad = false;
    }
    m_impl->requiresGrad = false;
    return *this;
}

}  // namespace tapescope::engine
