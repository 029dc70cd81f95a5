// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/windows.h"

#include "engine/cpu/dense.h"
#include "engine/cpu/window_kernels.h"
#include "engine/ops/checks.h"
#include "engine/ops/complex.h"
#include "engine/ops/composite.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/nn_attrs.h"
#include "engine/ops/rearrange_rows.h"
#include "engine/ops/shape.h"
#include "engine/ops/shape_rows.h"

namespace tapescope::engine {
namespace {

using cpu::Blocks;
using cpu::Geometry;

constexpr ArgDef kInput[] = {{"input"}};
constexpr ArgDef kGrad[] = {{"grad"}};
constexpr AttrDef kUnfoldAttrs[] = {
    {"dimension", AttrKind::Int}, {"size", AttrKind::Int}, {"step", AttrKind::Int}};
constexpr AttrDef kUnfoldBackwardAttrs[] = {{"input_sizes", AttrKind::Dims},
                                            {"dimension", AttrKind::Int},
                                            {"size", AttrKind::Int},
                                            {"step", AttrKind::Int}};
constexpr AttrDef kStridedAttrs[] = {{"size", AttrKind::Dims},
                                     {"stride", AttrKind::Dims},
                                     {"storage_offset", AttrKind::Int, "none"}};
constexpr AttrDef kStridedBackwardAttrs[] = {{"size", AttrKind::Dims},
                                             {"stride", AttrKind::Dims},
                                             {"storage_offset", AttrKind::Int},
                                             {"grad_stride", AttrKind::Dims},
                                             {"grad_storage_offset", AttrKind::Int}};
constexpr AttrDef kBlockAttrs[] = {{"kernel_size", AttrKind::Dims},
                                   {"dilation", AttrKind::Dims, "1"},
                                   {"padding", AttrKind::Dims, "0"},
                                   {"stride", AttrKind::Dims, "1"}};
constexpr AttrDef kFoldAttrs[] = {{"output_size", AttrKind::Dims},
                                  {"kernel_size", AttrKind::Dims},
                                  {"dilation", AttrKind::Dims, "1"},
                                  {"padding", AttrKind::Dims, "0"},
                                  {"stride", AttrKind::Dims, "1"}};

/// How many windows of `size` fit.
std::int64_t windows(std::string_view op, std::int64_t length, std::int64_t size,
                     std::int64_t step) {
    if (size < 0 || size > length)
        throw ShapeError(message(op, ": windows of ", size,
                                 " elements do not fit a dimension of size ", length));
    if (step < 1) throw ShapeError(message(op, ": step ", step, " must be at least 1"));
    return (length - size) / step + 1;
}

ViewPlan planUnfold(const OpArgs& a) {
    const Tensor& x = a[0];
    const int dim = wrapDim("unfold", a.attrs.integer(0), x.dim());
    const std::int64_t size = a.attrs.integer(1);
    const std::int64_t step = a.attrs.integer(2);
    ViewPlan plan{x.sizes(), x.strides(), x.storage_offset()};
    const std::int64_t count = windows("unfold", x.dim() == 0 ? 1 : x.sizes()[dim], size, step);
    if (x.dim() > 0) {
        plan.sizes[dim] = count;
        if (count > 1) plan.strides[dim] *= step;
    }
    plan.sizes.push_back(size);
    plan.strides.push_back(x.dim() == 0 ? 1 : x.strides()[dim]);
    return plan;
}
/// The gradient that row gives; of complex numbers part by part.
Tensor backwardOf(const OpDef& row, const Tensor& grad, const Attrs& attrs) {
    if (!is_complex(grad)) return call1(row, {&grad}, attrs, {});
    return complex(backwardOf(row, real(grad), attrs), backwardOf(row, imag(grad), attrs));
}
void vjpUnfold(const VjpArgs& v, std::span<Tensor> grads) {
    const Attrs& at = v.attrs;
    grads[0] = backwardOf(kUnfoldBackward, v.grad(),
                          Attrs(v.meta(0).sizes, at.integer(0), at.integer(1), at.integer(2)));
}
void inferUnfoldBackward(const OpArgs& a, OutputMetas& out) {
    const Dims& sizes = a.attrs.dims(0);
    checkSizes("unfold_backward", sizes);
    checkFloating("unfold_backward", "grad", a[0]);
    const int dim = wrapDim("unfold_backward", a.attrs.integer(1), sizes.size());
    Dims expected = sizes;
    const std::int64_t count = windows("unfold_backward", sizes.empty() ? 1 : sizes[dim],
                                       a.attrs.integer(2), a.attrs.integer(3));
    if (!sizes.empty()) expected[dim] = count;
    expected.push_back(a.attrs.integer(2));
    if (a[0].sizes() != expected)
        throw ShapeError(message("unfold_backward: grad ", a[0].sizes(),
                                 " must have the windows' sizes ", expected));
    out.add(sizes, a[0].dtype());
}
void unfoldBackwardKernel(const OpArgs& a, std::span<Tensor> out) {
    const int dim = wrapDim("unfold_backward", a.attrs.integer(1), out[0].dim());
    cpu::unfoldBackwardInto(a[0], dim, a.attrs.integer(3), out[0]);
}
void vjpUnfoldBackward(const VjpArgs& v, std::span<Tensor> grads) {
    const Attrs& at = v.attrs;
    grads[0] = unfold(v.grad(), at.integer(1), at.integer(2), at.integer(3));
}

void checkGeometry(std::string_view op, const Dims& sizes, const Dims& strides,
                   std::int64_t offset) {
    checkSizes(op, sizes);
    if (sizes.size() != strides.size())
        throw ShapeError(
            message(op, ": size ", sizes, " and stride ", strides, " must be equally many"));
    for (const std::int64_t stride : strides)
        if (stride < 0)
            throw ShapeError(message(op, ": strides ", strides, " must not be negative"));
    if (offset < 0)
        throw ShapeError(message(op, ": storage_offset ", offset, " must not be negative"));
    std::int64_t last = offset;
    for (int d = 0; d < sizes.size(); ++d)
        if (sizes[d] > 0) last = checkedAdd(op, last, checkedMul(op, sizes[d] - 1, strides[d]));
    checkedAdd(op, last, 1);  // one past the last is calculated with, too
}
ViewPlan planAsStrided(const OpArgs& a) {
    const Tensor& x = a[0];
    const Dims& sizes = a.attrs.dims(0);
    const Dims& strides = a.attrs.dims(1);
    const std::int64_t offset = optionalInt(a.attrs, 2).value_or(x.storage_offset());
    checkGeometry("as_strided", sizes, strides, offset);
    const Geometry geometry{sizes, strides, offset};
    const auto room = static_cast<std::int64_t>(x.storage()->sizeBytes() / itemSize(x.dtype()));
    if (geometry.end() > room)
        throw ShapeError(message("as_strided: sizes ", sizes, " with strides ", strides, " from ",
                                 offset, " reach past the storage's ", room, " elements"));
    return {sizes, strides, offset};
}
/// The gradient goes through the storage: added up where the view lies, read where the input lies.
void vjpAsStrided(const VjpArgs& v, std::span<Tensor> grads) {
    const Tensor& x = v.input(0);
    for (int d = 0; d < x.dim(); ++d) {
        if (x.strides()[d] == 0 && x.sizes()[d] > 1)
            throw AutogradError(
                "as_strided backward: the input is expanded, several of its elements share one "
                "place; use contiguous() first");
    }
    const std::int64_t offset = optionalInt(v.attrs, 2).value_or(x.storage_offset());
    grads[0] =
        backwardOf(kAsStridedBackward, v.grad(),
                   Attrs(x.sizes(), x.strides(), x.storage_offset(), v.attrs.dims(1), offset));
}
void inferAsStridedBackward(const OpArgs& a, OutputMetas& out) {
    const Attrs& at = a.attrs;
    checkFloating("as_strided_backward", "grad", a[0]);
    checkGeometry("as_strided_backward", at.dims(0), at.dims(1), at.integer(2));
    checkGeometry("as_strided_backward", a[0].sizes(), at.dims(3), at.integer(4));
    out.add(at.dims(0), a[0].dtype());
}
void asStridedBackwardKernel(const OpArgs& a, std::span<Tensor> out) {
    const Attrs& at = a.attrs;
    cpu::restrideInto(a[0], {a[0].sizes(), at.dims(3), at.integer(4)},
                      {at.dims(0), at.dims(1), at.integer(2)}, out[0]);
}
/// Its transpose is itself with the places exchanged.
void vjpAsStridedBackward(const VjpArgs& v, std::span<Tensor> grads) {
    const Attrs& at = v.attrs;
    grads[0] =
        call1(kAsStridedBackward, {&v.grad()},
              Attrs(v.meta(0).sizes, at.dims(3), at.integer(4), at.dims(1), at.integer(2)), {});
}

/// Height and width of an attribute.
cpu::Pair pairAttr(std::string_view op, std::string_view what, const Dims& values,
                   std::int64_t least) {
    const Spatial both = spatialAttr(op, what, values, 2, least, 1);
    return {both[1], both[2]};
}

Blocks blocksOf(std::string_view op, const Attrs& attrs, int from, const cpu::Pair& image) {
    const Blocks blocks{image, pairAttr(op, "kernel_size", attrs.dims(from), 1),
                        pairAttr(op, "dilation", attrs.dims(from + 1), 1),
                        pairAttr(op, "padding", attrs.dims(from + 2), 0),
                        pairAttr(op, "stride", attrs.dims(from + 3), 1)};
    for (std::size_t i = 0; i < 2; ++i) {
        checkedMul(op, blocks.dilation[i], blocks.kernel[i]);
        checkedAdd(op, image[i], checkedMul(op, 2, blocks.padding[i]));
    }
    const cpu::Pair counts = blocks.counts();
    if (counts[0] < 1 || counts[1] < 1)
        throw ShapeError(message(op, ": blocks of ", attrs.dims(from), " with dilation ",
                                 attrs.dims(from + 1), " do not fit the image [", image[0], ", ",
                                 image[1], "] padded by ", attrs.dims(from + 2)));
    return blocks;
}
Blocks im2colBlocks(const OpArgs& a) {
    const Tensor& x = a[0];
    if (x.dim() != 3 && x.dim() != 4)
        throw ShapeError(
            message("unfold: input ", x.sizes(), " must have 3 or 4 dimensions [n, c, h, w]"));
    return blocksOf("unfold", a.attrs, 0, {x.size(-2), x.size(-1)});
}
void inferIm2col(const OpArgs& a, OutputMetas& out) {
    const Blocks b = im2colBlocks(a);
    const cpu::Pair counts = b.counts();
    const std::int64_t rows =
        checkedMul("unfold", a[0].size(-3), checkedMul("unfold", b.kernel[0], b.kernel[1]));
    Dims sizes{rows, checkedMul("unfold", counts[0], counts[1])};
    if (a[0].dim() == 4) sizes.insert(0, a[0].size(0));
    checkSizes("unfold", sizes);
    out.add(sizes, a[0].dtype());
}
/// With a batch of one where there is none.
Tensor batched(const Tensor& x, int rank) {
    if (x.dim() == rank) return x;
    Dims sizes = x.sizes();
    sizes.insert(0, 1);
    return makeView(x, sizes, contiguousStrides(sizes), x.storage_offset());
}
void im2colKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::im2col(batched(cpu::dense(a[0]), 4), im2colBlocks(a), batched(out[0], 3));
}
void vjpIm2col(const VjpArgs& v, std::span<Tensor> grads) {
    const Dims& sizes = v.meta(0).sizes;
    const int rank = sizes.size();
    grads[0] = fold(v.grad(), {sizes[rank - 2], sizes[rank - 1]}, v.attrs.dims(0), v.attrs.dims(1),
                    v.attrs.dims(2), v.attrs.dims(3));
}

Blocks col2imBlocks(const OpArgs& a) {
    const Tensor& x = a[0];
    if (x.dim() != 2 && x.dim() != 3)
        throw ShapeError(message("fold: input ", x.sizes(),
                                 " must have 2 or 3 dimensions [n, c * kh * kw, blocks]"));
    return blocksOf("fold", a.attrs, 1, pairAttr("fold", "output_size", a.attrs.dims(0), 1));
}
void inferCol2im(const OpArgs& a, OutputMetas& out) {
    const Blocks b = col2imBlocks(a);
    checkFloating("fold", "input", a[0]);
    const std::int64_t perChannel = checkedMul("fold", b.kernel[0], b.kernel[1]);
    const cpu::Pair counts = b.counts();
    const std::int64_t blocks = checkedMul("fold", counts[0], counts[1]);
    if (a[0].size(-2) % perChannel != 0)
        throw ShapeError(message("fold: dimension ", a[0].dim() - 2, " of input ", a[0].sizes(),
                                 " must be a multiple of the kernel's ", perChannel, " elements"));
    if (a[0].size(-1) != blocks)
        throw ShapeError(message("fold: input ", a[0].sizes(), " must hold ", blocks,
                                 " blocks for the output ", a.attrs.dims(0)));
    Dims sizes{a[0].size(-2) / perChannel, b.image[0], b.image[1]};
    if (a[0].dim() == 3) sizes.insert(0, a[0].size(0));
    checkSizes("fold", sizes);
    out.add(sizes, a[0].dtype());
}
void col2imKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::col2im(batched(cpu::dense(a[0]), 3), col2imBlocks(a), batched(out[0], 4));
}
void vjpCol2im(const VjpArgs& v, std::span<Tensor> grads) {
    const Attrs& at = v.attrs;
    grads[0] = unfold(v.grad(), at.dims(1), at.dims(2), at.dims(3), at.dims(4));
}

}  // namespace

constinit OpDef kUnfold{.name = "unfold",
                        .family = Family::Shape,
                        .args = kInput,
                        .attrs = kUnfoldAttrs,
                        .infer = inferView<planUnfold>,
                        .view = applyView<planUnfold>,
                        .vjp = vjpUnfold};
constinit OpDef kUnfoldBackward{.name = "unfold_backward",
                                .family = Family::Shape,
                                .args = kGrad,
                                .attrs = kUnfoldBackwardAttrs,
                                .infer = inferUnfoldBackward,
                                .vjp = vjpUnfoldBackward,
                                .kernels = {unfoldBackwardKernel}};
constinit OpDef kAsStrided{.name = "as_strided",
                           .family = Family::Shape,
                           .args = kInput,
                           .attrs = kStridedAttrs,
                           .infer = inferView<planAsStrided>,
                           .view = applyView<planAsStrided>,
                           .vjp = vjpAsStrided,
                           .saveInputs = 1};
constinit OpDef kAsStridedBackward{.name = "as_strided_backward",
                                   .family = Family::Shape,
                                   .args = kGrad,
                                   .attrs = kStridedBackwardAttrs,
                                   .infer = inferAsStridedBackward,
                                   .vjp = vjpAsStridedBackward,
                                   .kernels = {asStridedBackwardKernel}};
constinit OpDef kIm2col{.name = "im2col",
                        .family = Family::Shape,
                        .args = kInput,
                        .attrs = kBlockAttrs,
                        .infer = inferIm2col,
                        .vjp = vjpIm2col,
                        .kernels = {im2colKernel}};
constinit OpDef kCol2im{.name = "col2im",
                        .family = Family::Shape,
                        .args = kInput,
                        .attrs = kFoldAttrs,
                        .infer = inferCol2im,
                        .vjp = vjpCol2im,
                        .kernels = {col2imKernel}};

Tensor unfold(const Tensor& x, std::int64_t dimension, std::int64_t size, std::int64_t step,
              Site site) {
    return call1(kUnfold, {&x}, Attrs(dimension, size, step), site);
}
Tensor as_strided(const Tensor& x, const Dims& sizes, const Dims& strides,
                  std::optional<std::int64_t> storage_offset, Site site) {
    return call1(kAsStrided, {&x}, Attrs(sizes, strides, attrOf(storage_offset)), site);
}
Tensor unfold(const Tensor& x, const Dims& kernel_size, const Dims& dilation, const Dims& padding,
              const Dims& stride, Site site) {
    return call1(kIm2col, {&x}, Attrs(kernel_size, dilation, padding, stride), site);
}
Tensor fold(const Tensor& x, const Dims& output_size, const Dims& kernel_size, const Dims& dilation,
            const Dims& padding, const Dims& stride, Site site) {
    return call1(kCol2im, {&x}, Attrs(output_size, kernel_size, dilation, padding, stride), site);
}

}  // namespace tapescope::engine
