// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/sorting.h"

#include "engine/cpu/sort_kernels.h"
#include "engine/observe/context.h"
#include "engine/ops/checks.h"
#include "engine/ops/composite.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/families.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/reduce_rows.h"
#include "engine/ops/shape.h"
#include "engine/ops/sorting_rows.h"

namespace tapescope::engine {
namespace {

constexpr ArgDef kInput[] = {{"input"}};
constexpr AttrDef kSortAttrs[] = {{"dim", AttrKind::Int, "-1"},
                                  {"descending", AttrKind::Bool, "false"}};
constexpr AttrDef kTopkAttrs[] = {{"k", AttrKind::Int},
                                  {"dim", AttrKind::Int, "-1"},
                                  {"largest", AttrKind::Bool, "true"},
                                  {"sorted", AttrKind::Bool, "true"}};
constexpr AttrDef kKthAttrs[] = {
    {"k", AttrKind::Int}, {"dim", AttrKind::Int, "-1"}, {"keepdim", AttrKind::Bool, "false"}};
constexpr AttrDef kModeAttrs[] = {{"dim", AttrKind::Int, "-1"},
                                  {"keepdim", AttrKind::Bool, "false"}};
constexpr AttrDef kPickAttrs[] = {{"dim", AttrKind::Int, "none"},
                                  {"keepdim", AttrKind::Bool, "false"}};

std::int64_t sizeAlong(const Tensor& x, int dim) { return x.dim() == 0 ? 1 : x.sizes()[dim]; }

void inferSort(const OpArgs& a, OutputMetas& out) {
    wrapDim("sort", a.attrs.integer(0), a[0].dim());
    out.add(a[0].sizes(), a[0].dtype());
    out.add(a[0].sizes(), DType::I64);
}

void inferTopk(const OpArgs& a, OutputMetas& out) {
    const int dim = wrapDim("topk", a.attrs.integer(1), a[0].dim());
    const std::int64_t k = a.attrs.integer(0);
    const std::int64_t size = sizeAlong(a[0], dim);
    if (k < 0 || k > size)
        throw IndexError(message("topk: k ", k, " is out of range for dimension ", dim, " of size ",
                                 size, ": give 0 to ", size));
    Dims sizes = a[0].sizes();
    if (!sizes.empty()) sizes[dim] = k;
    out.add(sizes, a[0].dtype());
    out.add(sizes, DType::I64);
}

/// Throws ShapeError where there is nothing to choose from along dim.
void checkChoice(std::string_view op, const Tensor& x, int dim) {
    if (sizeAlong(x, dim) == 0)
        throw ShapeError(message(op, ": dimension ", dim, " of ", x.sizes(),
                                 " is empty, there is no element to choose"));
}

void addPicked(std::string_view op, const OpArgs& a, std::int64_t dim, bool keepdim,
               OutputMetas& out) {
    const Dims sizes = reducedSizes(op, a[0].sizes(), {dim}, keepdim);
    out.add(sizes, a[0].dtype());
    out.add(sizes, DType::I64);
}

void inferKth(const OpArgs& a, OutputMetas& out) {
    const int dim = wrapDim("kthvalue", a.attrs.integer(1), a[0].dim());
    const std::int64_t k = a.attrs.integer(0);
    const std::int64_t size = sizeAlong(a[0], dim);
    if (k < 1 || k > size)
        throw IndexError(message("kthvalue: k ", k, " is out of range for dimension ", dim,
                                 " of size ", size, ": give 1 to ", size));
    addPicked("kthvalue", a, dim, a.attrs.flag(2), out);
}

void inferMode(const OpArgs& a, OutputMetas& out) {
    const int dim = wrapDim("mode", a.attrs.integer(0), a[0].dim());
    checkChoice("mode", a[0], dim);
    addPicked("mode", a, dim, a.attrs.flag(1), out);
}

/// median, max and their like: a value of all elements, or values and places along a dimension.
template <const OpDef& row>
void inferPick(const OpArgs& a, OutputMetas& out) {
    const auto dim = optionalInt(a.attrs, 0);
    if (dim) {
        const int d = wrapDim(row.name, *dim, a[0].dim());
        checkChoice(row.name, a[0], d);
        return addPicked(row.name, a, d, a.attrs.flag(1), out);
    }
    const bool median = row.name.ends_with("median");
    if (a[0].numel() == 0 && !(median && isFloating(a[0].dtype())))
        throw ShapeError(
            message(row.name, ": ", a[0].sizes(), " is empty, there is no element to choose"));
    out.add({}, a[0].dtype());
}

/// The gradient of elements chosen along dim goes back to their places. kept: the outputs have the
/// dimension.
Tensor toChosen(const VjpArgs& v, std::int64_t dim, bool kept) {
    const Dims& sizes = v.meta(0).sizes;
    const bool insert = !kept && !sizes.empty();
    const int d = wrapDim(v.op.name, dim, sizes.size());
    const Tensor index = insert ? unsqueeze(v.output(1), d) : v.output(1);
    const Tensor grad = insert ? unsqueeze(v.grad(), d) : v.grad();
    return scatter_add(zeros(sizes, {.dtype = v.meta(0).dtype}), d, index, grad);
}
void vjpSort(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = toChosen(v, v.attrs.integer(0), true);
}
void vjpTopk(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = toChosen(v, v.attrs.integer(1), true);
}
void vjpKth(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = toChosen(v, v.attrs.integer(1), v.attrs.flag(2));
}
void vjpMode(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = toChosen(v, v.attrs.integer(0), v.attrs.flag(1));
}
void vjpPick(const VjpArgs& v, std::span<Tensor> grads) {
    if (v.attrs.has(0)) {
        grads[0] = toChosen(v, v.attrs.integer(0), v.attrs.flag(1));
        return;
    }
    const Tensor& x = v.input(0);
    const Tensor& y = v.output(0);
    Tensor chosen;
    {
        const NoGradGuard guard;
        chosen = to(logical_or(eq(x, y), logical_and(isnan(x), isnan(y))), x.dtype());
        chosen = div(chosen, sum(chosen));
    }
    grads[0] = mul(v.grad(), chosen);
}

Tensor msortOf(const OpArgs& a, Site site) { return sort(a[0], 0, false, site).first; }
Tensor argsortOf(const OpArgs& a, Site site) {
    return sort(a[0], a.attrs.integer(0), a.attrs.flag(1), site).second;
}

constexpr OpDef choosing(std::string_view name, std::span<const AttrDef> attrs, InferFn infer,
                         VjpFn vjp, KernelFn kernel) {
    return {.name = name,
            .family = Family::Reduction,
            .args = kInput,
            .attrs = attrs,
            .infer = infer,
            .vjp = vjp,
            .saveOutputs = 0b10,
            .kernels = {kernel}};
}
template <const OpDef& row>
constexpr OpDef picking(std::string_view name, KernelFn kernel) {
    OpDef op = choosing(name, kPickAttrs, inferPick<row>, vjpPick, kernel);
    op.saveInputs = 1;
    op.saveOutputs = 0b11;
    return op;
}

ValuesAndIndices both(Outputs outs) { return {std::move(outs[0]), std::move(outs[1])}; }

}  // namespace

constinit OpDef kSort = choosing("sort", kSortAttrs, inferSort, vjpSort, cpu::sort);
constinit OpDef kTopk = choosing("topk", kTopkAttrs, inferTopk, vjpTopk, cpu::topk);
constinit OpDef kKthvalue = choosing("kthvalue", kKthAttrs, inferKth, vjpKth, cpu::kthvalue);
constinit OpDef kMode = choosing("mode", kModeAttrs, inferMode, vjpMode, cpu::mode);
constinit OpDef kMedian = picking<kMedian>("median", cpu::median);
constinit OpDef kNanmedian = picking<kNanmedian>("nanmedian", cpu::nanmedian);
constinit OpDef kMax = picking<kMax>("max", cpu::largest);
constinit OpDef kMin = picking<kMin>("min", cpu::smallest);
constinit OpDef kMsort = compositeRow("msort", Family::Reduction, kInput, {}, composeOne<msortOf>);
constinit OpDef kArgsort = compositeRow("argsort", Family::Reduction, kInput, kSortAttrs,
                                        composeOne<argsortOf>, TypeRule::AsIs, false);

std::span<OpDef* const> sortingOps() {
    static constexpr OpDef* kRows[] = {&kSort,         &kArgsort,
                                       &kMsort,        &kTopk,
                                       &kKthvalue,     &kMedian,
                                       &kNanmedian,    &kMode,
                                       &kMax,          &kMin,
                                       &kQuantile,     &kNanquantile,
                                       &kUnique,       &kUniqueConsecutive,
                                       &kSearchsorted, &kBucketize};
    return kRows;
}

ValuesAndIndices sort(const Tensor& x, std::int64_t dim, bool descending, Site site) {
    return both(call(kSort, {&x}, Attrs(dim, descending), site));
}
Tensor argsort(const Tensor& x, std::int64_t dim, bool descending, Site site) {
    return call1(kArgsort, {&x}, Attrs(dim, descending), site);
}
Tensor msort(const Tensor& x, Site site) { return call1(kMsort, {&x}, {}, site); }
ValuesAndIndices topk(const Tensor& x, std::int64_t k, std::int64_t dim, bool largest, bool sorted,
                      Site site) {
    return both(call(kTopk, {&x}, Attrs(k, dim, largest, sorted), site));
}
ValuesAndIndices kthvalue(const Tensor& x, std::int64_t k, std::int64_t dim, bool keepdim,
                          Site site) {
    return both(call(kKthvalue, {&x}, Attrs(k, dim, keepdim), site));
}
Tensor median(const Tensor& x, Site site) {
    return call1(kMedian, {&x}, Attrs(std::monostate{}, false), site);
}
ValuesAndIndices median(const Tensor& x, std::int64_t dim, bool keepdim, Site site) {
    return both(call(kMedian, {&x}, Attrs(dim, keepdim), site));
}
Tensor nanmedian(const Tensor& x, Site site) {
    return call1(kNanmedian, {&x}, Attrs(std::monostate{}, false), site);
}
ValuesAndIndices nanmedian(const Tensor& x, std::int64_t dim, bool keepdim, Site site) {
    return both(call(kNanmedian, {&x}, Attrs(dim, keepdim), site));
}
ValuesAndIndices mode(const Tensor& x, std::int64_t dim, bool keepdim, Site site) {
    return both(call(kMode, {&x}, Attrs(dim, keepdim), site));
}
Tensor max(const Tensor& x, Site site) {
    return call1(kMax, {&x}, Attrs(std::monostate{}, false), site);
}
Tensor min(const Tensor& x, Site site) {
    return call1(kMin, {&x}, Attrs(std::monostate{}, false), site);
}
ValuesAndIndices max(const Tensor& x, std::int64_t dim, bool keepdim, Site site) {
    return both(call(kMax, {&x}, Attrs(dim, keepdim), site));
}
ValuesAndIndices min(const Tensor& x, std::int64_t dim, bool keepdim, Site site) {
    return both(call(kMin, {&x}, Attrs(dim, keepdim), site));
}

}  // namespace tapescope::engine
