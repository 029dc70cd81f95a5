// SPDX-License-Identifier: Apache-2.0
#include "engine/autograd/view_info.h"
#include "engine/cpu/copy.h"
#include "engine/cpu/shape_kernels.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/shape.h"
#include "engine/ops/shape_rows.h"

#include <algorithm>

namespace tapescope::engine {

namespace {

int sliceDim(std::string_view op, const Tensor& x, std::int64_t dim) {
    if (x.dim() == 0)
        throw IndexError(message(op, ": a 0-dimensional tensor has no elements to choose from"));
    return wrapDim(op, dim, x.dim());
}

ViewPlan part(const Tensor& x, int dim, std::int64_t start, std::int64_t length,
              std::int64_t step) {
    ViewPlan plan{x.sizes(), x.strides(), x.storage_offset() + start * x.strides()[dim]};
    plan.sizes[dim] = length;
    plan.strides[dim] *= step;
    return plan;
}

ViewPlan planNarrow(const OpArgs& a) {
    const Tensor& x = a[0];
    const int dim = sliceDim("narrow", x, a.attrs.integer(0));
    const std::int64_t size = x.sizes()[dim];
    const std::int64_t given = a.attrs.integer(1);
    const std::int64_t length = a.attrs.integer(2);
    if (length < 0) throw IndexError(message("narrow: length ", length, " must not be negative"));
    if (given < -size || given > size)
        throw IndexError(message("narrow: start ", given, " is out of range for dimension ", dim,
                                 " of size ", size));
    const std::int64_t start = given < 0 ? given + size : given;
    if (length > size - start)
        throw IndexError(message("narrow: start ", start, " and length ", length,
                                 " reach past dimension ", dim, " of size ", size));
    return part(x, dim, start, length, 1);
}

struct Range {
    std::int64_t start;
    std::int64_t length;
};
/// NumPy's clamping of start:end:step.
Range clampRange(std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step) {
    const auto clampTo = [size](std::int64_t v) {
        return std::clamp<std::int64_t>(v < 0 ? v + size : v, 0, size);
    };
    const std::int64_t first = clampTo(start);
    const std::int64_t last = std::max(first, clampTo(end));
    const std::int64_t span = last - first;
    return {first, span == 0 ? 0 : (span - 1) / step + 1};
}

void checkStep(std::string_view op, std::int64_t step) {
    if (step < 1) throw IndexError(message(op, ": step ", step, " must be at least 1"));
}

ViewPlan planSlice(const OpArgs& a) {
    const Tensor& x = a[0];
    const int dim = sliceDim("slice", x, a.attrs.integer(0));
    const std::int64_t step = a.attrs.integer(3);
    checkStep("slice", step);
    const Range range = clampRange(x.sizes()[dim], a.attrs.integer(1), a.attrs.integer(2), step);
    // A stride is never followed past the last element, so that a huge step may not overflow it.
    return part(x, dim, range.start, range.length, range.length > 1 ? step : 1);
}

ViewPlan planSelect(const OpArgs& a) {
    const Tensor& x = a[0];
    const int dim = sliceDim("select", x, a.attrs.integer(0));
    const std::int64_t size = x.sizes()[dim];
    const std::int64_t index = a.attrs.integer(1);
    if (index < -size || index >= size)
        throw IndexError(message("select: index ", index, " is out of range for dimension ", dim,
                                 " of size ", size));
    ViewPlan plan = part(x, dim, index < 0 ? index + size : index, 1, 1);
    plan.sizes.erase(dim);
    plan.strides.erase(dim);
    return plan;
}

/// slice_backward: zeros of `size` with the gradient at the places slice() took.
void inferSliceBackward(const OpArgs& a, OutputMetas& out) {
    const Dims& sizes = a.attrs.dims(0);
    checkSizes("slice_backward", sizes);
    const int dim = wrapDim("slice_backward", a.attrs.integer(1), sizes.size());
    const std::int64_t step = a.attrs.integer(4);
    checkStep("slice_backward", step);
    Dims expected = sizes;
    if (!sizes.empty())
        expected[dim] = clampRange(sizes[dim], a.attrs.integer(2), a.attrs.integer(3), step).length;
    if (expected != a[0].sizes())
        throw ShapeError(message("slice_backward: grad ", a[0].sizes(),
                                 " must have the slice's sizes ", expected));
    out.add(sizes, a[0].dtype());
}

void sliceBackwardKernel(const OpArgs& a, std::span<Tensor> out) {
    const Dims& sizes = a.attrs.dims(0);
    if (sizes.empty()) return cpu::copyTensor(out[0], a[0]);
    const int dim = wrapDim("slice_backward", a.attrs.integer(1), sizes.size());
    const std::int64_t step = a.attrs.integer(4);
    const Range range = clampRange(sizes[dim], a.attrs.integer(2), a.attrs.integer(3), step);
    cpu::fillZero(out[0]);
    const ViewPlan plan = part(out[0], dim, range.start, range.length, range.length > 1 ? step : 1);
    cpu::copyTensor(makeView(out[0], plan.sizes, plan.strides, plan.offset), a[0]);
}

Tensor sliceBackward(const Tensor& grad, const Dims& sizes, std::int64_t dim, std::int64_t start,
                     std::int64_t end, std::int64_t step, Site site = {}) {
    return call1(kSliceBackward, {&grad}, Attrs(sizes, dim, start, end, step), site);
}

void vjpNarrow(const VjpArgs& v, std::span<Tensor> grads) {
    const Dims& sizes = v.meta(0).sizes;
    const int dim = wrapDim("narrow", v.attrs.integer(0), sizes.size());
    const std::int64_t given = v.attrs.integer(1);
    const std::int64_t start = given < 0 ? given + sizes[dim] : given;
    grads[0] = sliceBackward(v.grad(), sizes, dim, start, start + v.attrs.integer(2), 1);
}

void vjpSlice(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = sliceBackward(v.grad(), v.meta(0).sizes, v.attrs.integer(0), v.attrs.integer(1),
                             v.attrs.integer(2), v.attrs.integer(3));
}

void vjpSelect(const VjpArgs& v, std::span<Tensor> grads) {
    const Dims& sizes = v.meta(0).sizes;
    const int dim = wrapDim("select", v.attrs.integer(0), sizes.size());
    const std::int64_t given = v.attrs.integer(1);
    const std::int64_t index = given < 0 ? given + sizes[dim] : given;
    grads[0] = sliceBackward(unsqueeze(v.grad(), dim), sizes, dim, index, index + 1, 1);
}

void vjpSliceBackward(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = v.attrs.dims(0).empty() ? v.grad()
                                       : slice(v.grad(), v.attrs.integer(1), v.attrs.integer(2),
                                               v.attrs.integer(3), v.attrs.integer(4));
}

constexpr ArgDef kInput[] = {{"input"}};
constexpr ArgDef kGrad[] = {{"grad"}};
constexpr AttrDef kNarrowAttrs[] = {
    {"dim", AttrKind::Int}, {"start", AttrKind::Int}, {"length", AttrKind::Int}};
constexpr AttrDef kSliceAttrs[] = {{"dim", AttrKind::Int},
                                   {"start", AttrKind::Int},
                                   {"end", AttrKind::Int},
                                   {"step", AttrKind::Int, "1"}};
constexpr AttrDef kSelectAttrs[] = {{"dim", AttrKind::Int}, {"index", AttrKind::Int}};
constexpr AttrDef kSliceBackwardAttrs[] = {{"input_sizes", AttrKind::Dims},
                                           {"dim", AttrKind::Int},
                                           {"start", AttrKind::Int},
                                           {"end", AttrKind::Int},
                                           {"step", AttrKind::Int}};

}  // namespace

constinit OpDef kNarrow{.name = "narrow",
                        .family = Family::Shape,
                        .args = kInput,
                        .attrs = kNarrowAttrs,
                        .infer = inferView<planNarrow>,
                        .view = applyView<planNarrow>,
                        .vjp = vjpNarrow};
constinit OpDef kSlice{.name = "slice",
                       .family = Family::Shape,
                       .args = kInput,
                       .attrs = kSliceAttrs,
                       .infer = inferView<planSlice>,
                       .view = applyView<planSlice>,
                       .vjp = vjpSlice};
constinit OpDef kSelect{.name = "select",
                        .family = Family::Shape,
                        .args = kInput,
                        .attrs = kSelectAttrs,
                        .infer = inferView<planSelect>,
                        .view = applyView<planSelect>,
                        .vjp = vjpSelect};
constinit OpDef kSliceBackward{.name = "slice_backward",
                               .family = Family::Shape,
                               .args = kGrad,
                               .attrs = kSliceBackwardAttrs,
                               .infer = inferSliceBackward,
                               .vjp = vjpSliceBackward,
                               .native = kComputeTypes | dtypeBit(DType::C64),
                               .kernels = {sliceBackwardKernel}};

Tensor narrow(const Tensor& x, std::int64_t dim, std::int64_t start, std::int64_t length,
              Site site) {
    return call1(kNarrow, {&x}, Attrs(dim, start, length), site);
}
Tensor slice(const Tensor& x, std::int64_t dim, std::int64_t start, std::int64_t end,
             std::int64_t step, Site site) {
    return call1(kSlice, {&x}, Attrs(dim, start, end, step), site);
}
Tensor select(const Tensor& x, std::int64_t dim, std::int64_t index, Site site) {
    return call1(kSelect, {&x}, Attrs(dim, index), site);
}

std::vector<Tensor> split(const Tensor& x, std::int64_t size, std::int64_t dim, Site site) {
    const int d = sliceDim("split", x, dim);
    const std::int64_t total = x.sizes()[d];
    if (size < 0 || (size == 0 && total != 0))
        throw ShapeError(message("split: size ", size, " must be positive to split ", x.sizes()) +
                         placeSuffix("", site));
    std::vector<Tensor> parts;
    std::int64_t start = 0;
    do {
        const std::int64_t length = std::min(size, total - start);
        parts.push_back(narrow(x, d, start, length, site));
        start += length;
    } while (start < total);
    noteOneOfMany(parts);
    return parts;
}

std::vector<Tensor> chunk(const Tensor& x, std::int64_t chunks, std::int64_t dim, Site site) {
    const int d = sliceDim("chunk", x, dim);
    if (chunks < 1)
        throw ShapeError(message("chunk: ", chunks, " chunks were asked for; give at least 1") +
                         placeSuffix("", site));
    const std::int64_t total = x.sizes()[d];
    if (total == 0) {
        // PyTorch gives `chunks` empty pieces here.
        std::vector<Tensor> parts;
        for (std::int64_t i = 0; i < chunks; ++i) parts.push_back(narrow(x, d, 0, 0, site));
        noteOneOfMany(parts);
        return parts;
    }
    return split(x, (total - 1) / chunks + 1, d, site);
}

}  // namespace tapescope::engine
