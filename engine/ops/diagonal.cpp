// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/diagonal.h"

#include "engine/cpu/copy.h"
#include "engine/cpu/triangle.h"
#include "engine/ops/checks.h"
#include "engine/ops/composite.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/families.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "engine/ops/shape_rows.h"

#include <algorithm>
#include <limits>

namespace tapescope::engine {

extern OpDef kDiagonal, kDiag, kDiagEmbed, kDiagflat, kTrace, kTril, kTriu;
extern OpDef kDiagonalScatter, kSelectScatter, kSliceScatter;

namespace {

constexpr ArgDef kInput[] = {{"input"}};
constexpr ArgDef kScatterArgs[] = {{"input"}, {"src"}};
constexpr AttrDef kDiagonalAttrs[] = {
    {"offset", AttrKind::Int, "0"}, {"dim1", AttrKind::Int, "0"}, {"dim2", AttrKind::Int, "1"}};
constexpr AttrDef kEmbedAttrs[] = {
    {"offset", AttrKind::Int, "0"}, {"dim1", AttrKind::Int, "-2"}, {"dim2", AttrKind::Int, "-1"}};
constexpr AttrDef kDiagonalOnly[] = {{"diagonal", AttrKind::Int, "0"}};
constexpr AttrDef kOffset[] = {{"offset", AttrKind::Int, "0"}};
constexpr AttrDef kSelectAttrs[] = {{"dim", AttrKind::Int}, {"index", AttrKind::Int}};
constexpr AttrDef kSliceAttrs[] = {{"dim", AttrKind::Int, "0"},
                                   {"start", AttrKind::Int, "0"},
                                   {"end", AttrKind::Int, "9223372036854775807"},
                                   {"step", AttrKind::Int, "1"}};

ViewPlan diagonalOf(std::string_view op, const Tensor& x, const Attrs& attrs) {
    if (x.dim() < 2)
        throw ShapeError(message(op, ": input ", x.sizes(), " must have at least 2 dimensions"));
    const std::int64_t offset = attrs.integer(0);
    const int d1 = wrapDim(op, attrs.integer(1), x.dim());
    const int d2 = wrapDim(op, attrs.integer(2), x.dim());
    if (d1 == d2)
        throw IndexError(message(op, ": dim1 and dim2 are both ", d1, "; they must differ"));
    const std::int64_t rows = x.sizes()[d1];
    const std::int64_t columns = x.sizes()[d2];
    // Compared before subtracted, so that no offset overflows.
    const std::int64_t length = offset >= 0
                                    ? (offset >= columns ? 0 : std::min(rows, columns - offset))
                                    : (offset <= -rows ? 0 : std::min(rows + offset, columns));
    ViewPlan plan{x.sizes(), x.strides(), x.storage_offset()};
    if (length > 0)
        plan.offset += offset >= 0 ? offset * x.strides()[d2] : -offset * x.strides()[d1];
    for (const int d : {std::max(d1, d2), std::min(d1, d2)}) {
        plan.sizes.erase(d);
        plan.strides.erase(d);
    }
    plan.sizes.push_back(length);
    plan.strides.push_back(x.strides()[d1] + x.strides()[d2]);
    return plan;
}
ViewPlan planDiagonal(const OpArgs& a) { return diagonalOf("diagonal", a[0], a.attrs); }

Tensor scatterDiagonal(const Tensor& x, const Tensor& source, const Attrs& attrs, Site site) {
    return diagonal_scatter(x, source, attrs.integer(0), attrs.integer(1), attrs.integer(2), site);
}
Tensor zerosLike(const TensorMeta& meta) { return zeros(meta.sizes, {.dtype = meta.dtype}); }

void vjpDiagonal(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = scatterDiagonal(zerosLike(v.meta(0)), v.grad(), v.attrs, {});
}

/// The scatters: a copy, then source over the part that `plan` names.
template <PlanFn plan, const OpDef& row>
void inferInto(const OpArgs& a, OutputMetas& out) {
    const Dims part = plan(a).sizes;
    if (a[1].sizes() != part)
        throw ShapeError(
            message(row.name, ": src ", a[1].sizes(), " must have the part's sizes ", part));
    out.add(a[0].sizes(), a[0].dtype());
}
template <PlanFn plan>
void intoKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::copyTensor(out[0], a[0]);
    const Tensor* inputs[] = {&out[0]};
    const ViewPlan p = plan({inputs, a.attrs});
    cpu::copyTensor(makeView(out[0], p.sizes, p.strides, p.offset), a[1]);
}
ViewPlan planDiagonalInto(const OpArgs& a) { return diagonalOf("diagonal_scatter", a[0], a.attrs); }

/// The source is written in the input's dtype, whatever its own.
Tensor asSource(const VjpArgs& v, const Tensor& grad) {
    return grad.dtype() == v.meta(1).dtype ? grad : to(grad, v.meta(1).dtype);
}

void vjpDiagonalScatter(const VjpArgs& v, std::span<Tensor> grads) {
    const Attrs& at = v.attrs;
    if (v.need(0)) grads[0] = scatterDiagonal(v.grad(), zerosLike(v.meta(1)), at, {});
    if (v.need(1))
        grads[1] = asSource(v, diagonal(v.grad(), at.integer(0), at.integer(1), at.integer(2)));
}
void vjpSelectScatter(const VjpArgs& v, std::span<Tensor> grads) {
    const Attrs& at = v.attrs;
    if (v.need(0))
        grads[0] = select_scatter(v.grad(), zerosLike(v.meta(1)), at.integer(0), at.integer(1));
    if (v.need(1)) grads[1] = asSource(v, select(v.grad(), at.integer(0), at.integer(1)));
}
void vjpSliceScatter(const VjpArgs& v, std::span<Tensor> grads) {
    const Attrs& at = v.attrs;
    if (v.need(0))
        grads[0] = slice_scatter(v.grad(), zerosLike(v.meta(1)), at.integer(0), at.integer(1),
                                 at.integer(2), at.integer(3));
    if (v.need(1))
        grads[1] = asSource(
            v, slice(v.grad(), at.integer(0), at.integer(1), at.integer(2), at.integer(3)));
}

/// |offset|, as a size to add.
std::int64_t extent(std::string_view op, std::int64_t offset) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    if (offset < -kMost) throw ShapeError(message(op, ": offset ", offset, " is too large"));
    return offset < 0 ? -offset : offset;
}
Tensor embed(std::string_view op, const Tensor& x, std::int64_t offset, std::int64_t dim1,
             std::int64_t dim2, Site site) {
    if (x.dim() == 0) throw ShapeError(message(op, ": the input must have at least 1 dimension"));
    const int rank = x.dim() + 1;
    const int d1 = wrapDim(op, dim1, rank);
    const int d2 = wrapDim(op, dim2, rank);
    if (d1 == d2)
        throw IndexError(message(op, ": dim1 and dim2 are both ", d1, "; they must differ"));
    const std::int64_t size = checkedAdd(op, x.size(-1), extent(op, offset));
    Dims sizes = x.sizes();
    sizes.erase(x.dim() - 1);
    sizes.insert(std::min(d1, d2), size);
    sizes.insert(std::max(d1, d2), size);
    return diagonal_scatter(zeros(sizes, {.dtype = x.dtype()}, site), x, offset, d1, d2, site);
}
Tensor embedOf(const OpArgs& a, Site site) {
    return embed("diag_embed", a[0], a.attrs.integer(0), a.attrs.integer(1), a.attrs.integer(2),
                 site);
}
Tensor diagOf(const OpArgs& a, Site site) {
    const std::int64_t offset = a.attrs.integer(0);
    if (a[0].dim() == 1) return embed("diag", a[0], offset, 0, 1, site);
    if (a[0].dim() == 2) return clone(diagonal(a[0], offset, 0, 1, site), site);
    throw ShapeError(message("diag: input ", a[0].sizes(), " must have 1 or 2 dimensions"));
}
Tensor diagflatOf(const OpArgs& a, Site site) {
    return embed("diagflat", reshape(a[0], {-1}, site), a.attrs.integer(0), 0, 1, site);
}
Tensor traceOf(const OpArgs& a, Site site) {
    checkRank("trace", "input", a[0], 2);
    return sum(diagonal(a[0], 0, 0, 1, site), {}, false, site);
}

template <const OpDef& row>
void inferTriangle(const OpArgs& a, OutputMetas& out) {
    if (a[0].dim() < 2)
        throw ShapeError(
            message(row.name, ": input ", a[0].sizes(), " must have at least 2 dimensions"));
    out.add(a[0].sizes(), a[0].dtype());
}
template <bool lower>
void triangleKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::triangleInto(a[0], a.attrs.integer(0), lower, out[0]);
}
void vjpTril(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = tril(v.grad(), v.attrs.integer(0));
}
void vjpTriu(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = triu(v.grad(), v.attrs.integer(0));
}

/// select and slice as plans over the scatters' first input.
ViewPlan planSelectInto(const OpArgs& a) {
    const Tensor& x = a[0];
    if (x.dim() == 0) throw IndexError("select_scatter: a 0-dimensional tensor has no parts");
    const int dim = wrapDim("select_scatter", a.attrs.integer(0), x.dim());
    const std::int64_t size = x.sizes()[dim];
    const std::int64_t given = a.attrs.integer(1);
    if (given < -size || given >= size)
        throw IndexError(message("select_scatter: index ", given, " is out of range for dimension ",
                                 dim, " of size ", size));
    const std::int64_t index = given < 0 ? given + size : given;
    ViewPlan plan{x.sizes(), x.strides(), x.storage_offset() + index * x.strides()[dim]};
    plan.sizes.erase(dim);
    plan.strides.erase(dim);
    return plan;
}
ViewPlan planSliceInto(const OpArgs& a) {
    const Tensor& x = a[0];
    if (x.dim() == 0) throw IndexError("slice_scatter: a 0-dimensional tensor has no parts");
    const int dim = wrapDim("slice_scatter", a.attrs.integer(0), x.dim());
    const std::int64_t size = x.sizes()[dim];
    const std::int64_t step = a.attrs.integer(3);
    if (step < 1) throw IndexError(message("slice_scatter: step ", step, " must be at least 1"));
    const auto within = [size](std::int64_t v) {
        return std::clamp<std::int64_t>(v < 0 ? v + size : v, 0, size);
    };
    const std::int64_t start = within(a.attrs.integer(1));
    const std::int64_t end = std::max(start, within(a.attrs.integer(2)));
    ViewPlan plan{x.sizes(), x.strides(), x.storage_offset() + start * x.strides()[dim]};
    plan.sizes[dim] = end == start ? 0 : (end - start - 1) / step + 1;
    if (plan.sizes[dim] > 1) plan.strides[dim] *= step;
    return plan;
}

template <PlanFn plan, const OpDef& row>
constexpr OpDef scatterRow(std::string_view name, std::span<const AttrDef> attrs, VjpFn vjp) {
    return {.name = name,
            .family = Family::Index,
            .args = kScatterArgs,
            .attrs = attrs,
            .infer = inferInto<plan, row>,
            .vjp = vjp,
            .native = kEveryType,
            .kernels = {intoKernel<plan>}};
}

}  // namespace

constinit OpDef kDiagonal{.name = "diagonal",
                          .family = Family::Shape,
                          .args = kInput,
                          .attrs = kDiagonalAttrs,
                          .infer = inferView<planDiagonal>,
                          .view = applyView<planDiagonal>,
                          .vjp = vjpDiagonal};
constinit OpDef kTril{.name = "tril",
                      .family = Family::Shape,
                      .args = kInput,
                      .attrs = kDiagonalOnly,
                      .infer = inferTriangle<kTril>,
                      .vjp = vjpTril,
                      .kernels = {triangleKernel<true>}};
constinit OpDef kTriu{.name = "triu",
                      .family = Family::Shape,
                      .args = kInput,
                      .attrs = kDiagonalOnly,
                      .infer = inferTriangle<kTriu>,
                      .vjp = vjpTriu,
                      .kernels = {triangleKernel<false>}};
constinit OpDef kDiag =
    compositeRow("diag", Family::Shape, kInput, kDiagonalOnly, composeOne<diagOf>);
constinit OpDef kDiagEmbed =
    compositeRow("diag_embed", Family::Shape, kInput, kEmbedAttrs, composeOne<embedOf>);
constinit OpDef kDiagflat =
    compositeRow("diagflat", Family::Shape, kInput, kOffset, composeOne<diagflatOf>);
constinit OpDef kTrace = compositeRow("trace", Family::Shape, kInput, {}, composeOne<traceOf>);
constinit OpDef kDiagonalScatter = scatterRow<planDiagonalInto, kDiagonalScatter>(
    "diagonal_scatter", kDiagonalAttrs, vjpDiagonalScatter);
constinit OpDef kSelectScatter =
    scatterRow<planSelectInto, kSelectScatter>("select_scatter", kSelectAttrs, vjpSelectScatter);
constinit OpDef kSliceScatter =
    scatterRow<planSliceInto, kSliceScatter>("slice_scatter", kSliceAttrs, vjpSliceScatter);

std::span<OpDef* const> diagonalOps() {
    static constexpr OpDef* kRows[] = {
        &kDiagonal, &kDiag, &kDiagEmbed,       &kDiagflat,      &kTrace,
        &kTril,     &kTriu, &kDiagonalScatter, &kSelectScatter, &kSliceScatter};
    return kRows;
}

Tensor diagonal(const Tensor& x, std::int64_t offset, std::int64_t dim1, std::int64_t dim2,
                Site site) {
    return call1(kDiagonal, {&x}, Attrs(offset, dim1, dim2), site);
}
Tensor diag(const Tensor& x, std::int64_t diagonal, Site site) {
    return call1(kDiag, {&x}, Attrs(diagonal), site);
}
Tensor diag_embed(const Tensor& x, std::int64_t offset, std::int64_t dim1, std::int64_t dim2,
                  Site site) {
    return call1(kDiagEmbed, {&x}, Attrs(offset, dim1, dim2), site);
}
Tensor diagflat(const Tensor& x, std::int64_t offset, Site site) {
    return call1(kDiagflat, {&x}, Attrs(offset), site);
}
Tensor trace(const Tensor& x, Site site) { return call1(kTrace, {&x}, {}, site); }
Tensor tril(const Tensor& x, std::int64_t diagonal, Site site) {
    return call1(kTril, {&x}, Attrs(diagonal), site);
}
Tensor triu(const Tensor& x, std::int64_t diagonal, Site site) {
    return call1(kTriu, {&x}, Attrs(diagonal), site);
}
Tensor diagonal_scatter(const Tensor& x, const Tensor& source, std::int64_t offset,
                        std::int64_t dim1, std::int64_t dim2, Site site) {
    return call1(kDiagonalScatter, {&x, &source}, Attrs(offset, dim1, dim2), site);
}
Tensor select_scatter(const Tensor& x, const Tensor& source, std::int64_t dim, std::int64_t index,
                      Site site) {
    return call1(kSelectScatter, {&x, &source}, Attrs(dim, index), site);
}
Tensor slice_scatter(const Tensor& x, const Tensor& source, std::int64_t dim, std::int64_t start,
                     std::int64_t end, std::int64_t step, Site site) {
    return call1(kSliceScatter, {&x, &source}, Attrs(dim, start, end, step), site);
}

}  // namespace tapescope::engine
