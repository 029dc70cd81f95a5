// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/shape.h"
#include "engine/ops/shape_rows.h"

namespace tapescope::engine {

Dims inferSizes(std::string_view op, const Dims& from, const Dims& sizes) {
    const std::int64_t numel = numelOf(from);
    int unknown = -1;
    std::int64_t product = 1;
    bool overflow = false;
    bool zero = false;
    for (int i = 0; i < sizes.size(); ++i) {
        const std::int64_t size = sizes[i];
        if (size == -1) {
            if (unknown >= 0)
                throw ShapeError(
                    message(op, ": only one size may be -1, not several as in ", sizes));
            unknown = i;
        } else if (size < 0) {
            throw ShapeError(message(op, ": sizes ", sizes, " must not be negative"));
        } else if (size == 0) {
            zero = true;
        } else {
            overflow |= __builtin_mul_overflow(product, size, &product);
        }
    }
    if (zero) product = 0;
    if (!zero && overflow) {
        std::int64_t all = 1;
        for (const std::int64_t size : sizes) all = checkedMul(op, all, size == -1 ? 1 : size);
    }
    Dims result = sizes;
    if (unknown < 0) {
        if (product != numel)
            throw ShapeError(message(op, ": ", from, " has ", numel, " elements and cannot become ",
                                     sizes, " of ", product));
        return result;
    }
    if (product == 0)
        throw ShapeError(message(op, ": -1 in ", sizes, " is ambiguous because another size is 0"));
    if (numel % product != 0)
        throw ShapeError(message(op, ": ", from, " has ", numel, " elements, which ", sizes,
                                 " cannot hold: ", numel, " is not a multiple of ", product));
    result[unknown] = numel / product;
    return result;
}

std::optional<Dims> viewStrides(const Dims& sizes, const Dims& strides, const Dims& to) {
    if (numelOf(sizes) == 0) return contiguousStrides(to);
    Dims result = Dims::filled(to.size(), 1);
    // Walks both shapes from the back. A run of old dimensions whose strides chain is one block of
    // memory, into which new dimensions are laid until it is used up.
    int view = to.size() - 1;
    std::int64_t blockStride = sizes.empty() ? 1 : strides.back();
    std::int64_t blockSize = 1;
    std::int64_t viewSize = 1;
    for (int old = sizes.size() - 1; old >= 0; --old) {
        blockSize *= sizes[old];
        const bool ends =
            old == 0 || (sizes[old - 1] != 1 && strides[old - 1] != blockSize * blockStride);
        if (!ends) continue;
        while (view >= 0 && (viewSize < blockSize || to[view] == 1)) {
            result[view] = viewSize * blockStride;
            viewSize *= to[view];
            --view;
        }
        if (viewSize != blockSize) return std::nullopt;
        if (old > 0) {
            blockStride = strides[old - 1];
            blockSize = 1;
            viewSize = 1;
        }
    }
    // What is left has size 1; its strides do not matter.
    return result;
}

namespace {

ViewPlan planViewAs(std::string_view op, const Tensor& x, const Dims& sizes) {
    const std::optional<Dims> strides = viewStrides(x.sizes(), x.strides(), sizes);
    if (!strides)
        throw ShapeError(message(op, ": ", x.sizes(), " with strides ", x.strides(),
                                 " cannot be seen as ", sizes,
                                 " without a copy; use reshape() or contiguous() first"));
    return {sizes, *strides, x.storage_offset()};
}

Dims flatSizes(const Dims& sizes, std::int64_t startDim, std::int64_t endDim) {
    if (sizes.empty()) {
        wrapDim("flatten", startDim, 0);
        wrapDim("flatten", endDim, 0);
        return {1};
    }
    const int start = wrapDim("flatten", startDim, sizes.size());
    const int end = wrapDim("flatten", endDim, sizes.size());
    if (start > end)
        throw ShapeError(message("flatten: start_dim ", startDim, " comes after end_dim ", endDim,
                                 " in ", sizes));
    Dims flat;
    std::int64_t product = 1;
    for (int i = 0; i < sizes.size(); ++i) {
        if (i < start || i > end) {
            flat.push_back(sizes[i]);
            continue;
        }
        product = checkedMul("flatten", product, sizes[i]);
        if (i == end) flat.push_back(product);
    }
    return flat;
}

ViewPlan planView(const OpArgs& a) {
    return planViewAs("view", a[0], inferSizes("view", a[0].sizes(), a.attrs.dims(0)));
}
ViewPlan planReshape(const OpArgs& a) {
    return planViewAs("reshape", a[0], inferSizes("reshape", a[0].sizes(), a.attrs.dims(0)));
}
ViewPlan planFlatten(const OpArgs& a) {
    return planViewAs("flatten", a[0],
                      flatSizes(a[0].sizes(), a.attrs.integer(0), a.attrs.integer(1)));
}

ViewPlan planPermute(const OpArgs& a) {
    const Tensor& x = a[0];
    const Dims& dims = a.attrs.dims(0);
    if (dims.size() != x.dim())
        throw ShapeError(message("permute: ", dims, " must name each of the ", x.dim(),
                                 " dimensions of ", x.sizes()));
    ViewPlan plan{{}, {}, x.storage_offset()};
    for (const std::int64_t d : wrapDims("permute", dims, x.dim())) {
        plan.sizes.push_back(x.sizes()[static_cast<int>(d)]);
        plan.strides.push_back(x.strides()[static_cast<int>(d)]);
    }
    return plan;
}

ViewPlan planTranspose(const OpArgs& a) {
    const Tensor& x = a[0];
    const int d0 = wrapDim("transpose", a.attrs.integer(0), x.dim());
    const int d1 = wrapDim("transpose", a.attrs.integer(1), x.dim());
    ViewPlan plan{x.sizes(), x.strides(), x.storage_offset()};
    if (x.dim() == 0) return plan;
    std::swap(plan.sizes[d0], plan.sizes[d1]);
    std::swap(plan.strides[d0], plan.strides[d1]);
    return plan;
}

ViewPlan planExpand(const OpArgs& a) {
    const Tensor& x = a[0];
    const Dims& sizes = a.attrs.dims(0);
    const int added = sizes.size() - x.dim();
    if (added < 0)
        throw ShapeError(message("expand: ", x.sizes(), " has more dimensions than ", sizes));
    ViewPlan plan{sizes, Dims::filled(sizes.size(), 0), x.storage_offset()};
    for (int i = 0; i < sizes.size(); ++i) {
        if (i < added) {
            if (sizes[i] < 0)
                throw ShapeError(
                    message("expand: ", sizes, " must not be negative in a new dimension"));
            continue;
        }
        const std::int64_t size = x.sizes()[i - added];
        if (sizes[i] == -1 || sizes[i] == size) {
            plan.sizes[i] = size;
            plan.strides[i] = x.strides()[i - added];
        } else if (size != 1 || sizes[i] < 0) {
            throw ShapeError(message("expand: ", x.sizes(), " does not expand to ", sizes,
                                     ": size ", size, " of dimension ", i - added, " must be 1 or ",
                                     sizes[i]));
        }
    }
    checkSizes("expand", plan.sizes);
    return plan;
}

ViewPlan planSqueeze(const OpArgs& a) {
    const Tensor& x = a[0];
    const int d = wrapDim("squeeze", a.attrs.integer(0), x.dim());
    ViewPlan plan{x.sizes(), x.strides(), x.storage_offset()};
    if (x.dim() == 0 || plan.sizes[d] != 1) return plan;
    plan.sizes.erase(d);
    plan.strides.erase(d);
    return plan;
}

ViewPlan planUnsqueeze(const OpArgs& a) {
    const Tensor& x = a[0];
    const int d = wrapDim("unsqueeze", a.attrs.integer(0), x.dim() + 1);
    ViewPlan plan{x.sizes(), x.strides(), x.storage_offset()};
    const std::int64_t stride = d < x.dim() ? plan.sizes[d] * plan.strides[d] : 1;
    plan.sizes.insert(d, 1);
    plan.strides.insert(d, stride);
    return plan;
}

void vjpReshape(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = reshape(v.grad(), v.meta(0).sizes);
}

void vjpPermute(const VjpArgs& v, std::span<Tensor> grads) {
    const Dims dims = wrapDims("permute", v.attrs.dims(0), v.meta(0).sizes.size());
    Dims inverse = dims;
    for (int i = 0; i < dims.size(); ++i) inverse[static_cast<int>(dims[i])] = i;
    grads[0] = permute(v.grad(), inverse);
}

void vjpTranspose(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = transpose(v.grad(), v.attrs.integer(0), v.attrs.integer(1));
}

void vjpExpand(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = sum_to_size(v.grad(), v.meta(0).sizes);
}

void vjpUnsqueeze(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] =
        squeeze(v.grad(), wrapDim("squeeze", v.attrs.integer(0), v.meta(0).sizes.size() + 1));
}

/// True where no strides can express the new shape. A wrong shape is left to the row, which reports
/// it with its place.
template <class NewSizes>
bool needsCopy(const Tensor& x, NewSizes newSizes) {
    if (!x.defined() || x.is_contiguous()) return false;
    try {
        return !viewStrides(x.sizes(), x.strides(), newSizes());
    } catch (const Error&) {
        return false;
    }
}

constexpr ArgDef kInput[] = {{"input"}};
constexpr AttrDef kSizes[] = {{"size", AttrKind::Dims}};
constexpr AttrDef kFlattenAttrs[] = {{"start_dim", AttrKind::Int, "0"},
                                     {"end_dim", AttrKind::Int, "-1"}};
constexpr AttrDef kPermuteAttrs[] = {{"dims", AttrKind::Dims}};
constexpr AttrDef kTransposeAttrs[] = {{"dim0", AttrKind::Int}, {"dim1", AttrKind::Int}};
constexpr AttrDef kDim[] = {{"dim", AttrKind::Int}};

}  // namespace

constinit OpDef kView{.name = "view",
                      .family = Family::Shape,
                      .args = kInput,
                      .attrs = kSizes,
                      .infer = inferView<planView>,
                      .view = applyView<planView>,
                      .vjp = vjpReshape};
constinit OpDef kReshape{.name = "reshape",
                         .family = Family::Shape,
                         .args = kInput,
                         .attrs = kSizes,
                         .infer = inferView<planReshape>,
                         .view = applyView<planReshape>,
                         .vjp = vjpReshape};
constinit OpDef kFlatten{.name = "flatten",
                         .family = Family::Shape,
                         .args = kInput,
                         .attrs = kFlattenAttrs,
                         .infer = inferView<planFlatten>,
                         .view = applyView<planFlatten>,
                         .vjp = vjpReshape};
constinit OpDef kPermute{.name = "permute",
                         .family = Family::Shape,
                         .args = kInput,
                         .attrs = kPermuteAttrs,
                         .infer = inferView<planPermute>,
                         .view = applyView<planPermute>,
                         .vjp = vjpPermute};
constinit OpDef kTranspose{.name = "transpose",
                           .family = Family::Shape,
                           .args = kInput,
                           .attrs = kTransposeAttrs,
                           .infer = inferView<planTranspose>,
                           .view = applyView<planTranspose>,
                           .vjp = vjpTranspose};
constinit OpDef kExpand{.name = "expand",
                        .family = Family::Shape,
                        .args = kInput,
                        .attrs = kSizes,
                        .infer = inferView<planExpand>,
                        .view = applyView<planExpand>,
                        .vjp = vjpExpand};
constinit OpDef kSqueeze{.name = "squeeze",
                         .family = Family::Shape,
                         .args = kInput,
                         .attrs = kDim,
                         .infer = inferView<planSqueeze>,
                         .view = applyView<planSqueeze>,
                         .vjp = vjpReshape};
constinit OpDef kUnsqueeze{.name = "unsqueeze",
                           .family = Family::Shape,
                           .args = kInput,
                           .attrs = kDim,
                           .infer = inferView<planUnsqueeze>,
                           .view = applyView<planUnsqueeze>,
                           .vjp = vjpUnsqueeze};

Tensor view(const Tensor& x, const Dims& sizes, Site site) {
    return call1(kView, {&x}, Attrs(sizes), site);
}

Tensor reshape(const Tensor& x, const Dims& sizes, Site site) {
    if (!needsCopy(x, [&] { return inferSizes("reshape", x.sizes(), sizes); }))
        return call1(kReshape, {&x}, Attrs(sizes), site);
    const Tensor packed = clone(x, site);
    return call1(kReshape, {&packed}, Attrs(sizes), site);
}

Tensor flatten(const Tensor& x, std::int64_t start_dim, std::int64_t end_dim, Site site) {
    if (!needsCopy(x, [&] { return flatSizes(x.sizes(), start_dim, end_dim); }))
        return call1(kFlatten, {&x}, Attrs(start_dim, end_dim), site);
    const Tensor packed = clone(x, site);
    return call1(kFlatten, {&packed}, Attrs(start_dim, end_dim), site);
}

Tensor permute(const Tensor& x, const Dims& dims, Site site) {
    return call1(kPermute, {&x}, Attrs(dims), site);
}
Tensor transpose(const Tensor& x, std::int64_t dim0, std::int64_t dim1, Site site) {
    return call1(kTranspose, {&x}, Attrs(dim0, dim1), site);
}
Tensor expand(const Tensor& x, const Dims& sizes, Site site) {
    return call1(kExpand, {&x}, Attrs(sizes), site);
}
Tensor squeeze(const Tensor& x, std::int64_t dim, Site site) {
    return call1(kSqueeze, {&x}, Attrs(dim), site);
}
Tensor unsqueeze(const Tensor& x, std::int64_t dim, Site site) {
    return call1(kUnsqueeze, {&x}, Attrs(dim), site);
}

}  // namespace tapescope::engine
