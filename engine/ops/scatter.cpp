// SPDX-License-Identifier: Apache-2.0
// Writing to places that indices name along one dimension.
#include "engine/cpu/copy.h"
#include "engine/cpu/scatter_kernels.h"
#include "engine/observe/context.h"
#include "engine/ops/checks.h"
#include "engine/ops/composite.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/index_rows.h"
#include "engine/ops/indexing.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/scatter_rows.h"
#include "engine/ops/shape.h"

#include <array>

namespace tapescope::engine {

using cpu::Scatter;

namespace {

constexpr std::array<std::string_view, 5> kReductions = {"sum", "prod", "mean", "amax", "amin"};
enum Reduction : std::int64_t { kSumOf, kProdOf, kMeanOf, kAmaxOf, kAminOf };

}  // namespace

std::int64_t reductionCode(std::string_view op, std::string_view name, Site site) {
    for (std::size_t i = 0; i < kReductions.size(); ++i)
        if (kReductions[i] == name) return static_cast<std::int64_t>(i);
    throw Error(message(op, ": reduce must be sum, prod, mean, amax or amin, not ",
                        name.empty() ? "\"\"" : name) +
                placeSuffix("", site));
}

void checkWritable(std::string_view op, const Tensor& x) {
    for (int d = 0; d < x.dim(); ++d) {
        if (x.strides()[d] == 0 && x.sizes()[d] > 1)
            throw ShapeError(message(op, ": the tensor ", x.sizes(),
                                     " is expanded, several of its elements share one place in "
                                     "memory; write to clone()"));
    }
}

void inferScatterOf(const OpDef& row, const OpArgs& a, OutputMetas& out) {
    if (row.inplace) checkWritable(row.name, a[0]);
    checkScatter(row.name, a);
    if (a.has(2)) checkSameDType(row.name, "input", a[0], "source", a[2]);
    out.add(a[0].sizes(), a[0].dtype());
}
void inferScatterReduceOf(const OpDef& row, const OpArgs& a, OutputMetas& out) {
    inferScatterOf(row, a, out);
    const std::int64_t reduce = a.attrs.integer(1);
    if (reduce < 0 || reduce >= static_cast<std::int64_t>(kReductions.size()))
        throw Error(message(row.name, ": there is no reduction ", reduce));
    if (reduce == kMeanOf && a[0].dtype() == DType::Bool)
        throw DTypeError(message(row.name, ": bool values have no mean; convert with to()"));
}
void inferIndexFillOf(const OpDef& row, const OpArgs& a, OutputMetas& out) {
    if (row.inplace) checkWritable(row.name, a[0]);
    wrapDim(row.name, a.attrs.integer(0), a[0].dim());
    checkFlatIndex(row.name, a[1]);
    checkFits(row.name, a.attrs.real(1), a[0].dtype());
    out.add(a[0].sizes(), a[0].dtype());
}
void inferIndexCopyOf(const OpDef& row, const OpArgs& a, OutputMetas& out) {
    if (row.inplace) checkWritable(row.name, a[0]);
    checkSameDType(row.name, "input", a[0], "source", a[2]);
    checkIndexedSource(row.name, a);
    out.add(a[0].sizes(), a[0].dtype());
}

namespace {

void start(const OpArgs& a, const Tensor& out) {
    if (!same(out, a[0])) cpu::copyTensor(out, a[0]);
}
int dimOf(const OpArgs& a) { return wrapDim("scatter", a.attrs.integer(0), a[0].dim()); }
/// A source or an index may be the very tensor that is written.
Tensor apart(const OpArgs& a, int i, const Tensor& out) {
    return a.has(i) ? cpu::apartFrom(a[i], out) : Tensor();
}

}  // namespace

void scatterKernel(const OpArgs& a, std::span<Tensor> out) {
    const Tensor source = apart(a, 2, out[0]);
    start(a, out[0]);
    cpu::scatterInto("scatter", Scatter::Assign, out[0], dimOf(a), apart(a, 1, out[0]), source,
                     a.attrs.real(1), true);
}
void scatterReduceKernel(const OpArgs& a, std::span<Tensor> out) {
    const Tensor source = apart(a, 2, out[0]);
    start(a, out[0]);
    const auto how = static_cast<Scatter>(a.attrs.integer(1) + 1);
    cpu::scatterInto("scatter_reduce", how, out[0], dimOf(a), apart(a, 1, out[0]), source, 0,
                     a.attrs.flag(2));
}
void scatterSumKernel(const OpArgs& a, std::span<Tensor> out) {
    const Tensor source = apart(a, 2, out[0]);
    start(a, out[0]);
    cpu::scatterInto("scatter_add", Scatter::Sum, out[0], dimOf(a), apart(a, 1, out[0]), source, 0,
                     true);
}
void indexFillKernel(const OpArgs& a, std::span<Tensor> out) {
    start(a, out[0]);
    cpu::scatterInto("index_fill", Scatter::Assign, out[0], dimOf(a), apart(a, 1, out[0]), {},
                     a.attrs.real(1), true);
}
void indexCopyKernel(const OpArgs& a, std::span<Tensor> out) {
    const Tensor source = apart(a, 2, out[0]);
    start(a, out[0]);
    cpu::scatterInto("index_copy", Scatter::Assign, out[0], dimOf(a), apart(a, 1, out[0]), source,
                     0, true);
}

void vjpScatter(const VjpArgs& v, std::span<Tensor> grads) {
    const std::int64_t dim = v.attrs.integer(0);
    if (v.need(0)) grads[0] = scatter(v.grad(), dim, v.input(1), 0.0);
    if (v.inputCount() > 2 && v.need(2))
        grads[2] = takenFrom(v.grad(), dim, v.input(1), v.meta(2).sizes);
}

namespace {

/// The products: where a source element is 0 the others' product is made without it; two zeros for
/// one place leave no gradient.
void productGradients(const VjpArgs& v, std::span<Tensor> grads, bool includeSelf) {
    const std::int64_t dim = v.attrs.integer(0);
    const Tensor& x = v.input(0);
    const Tensor& index = v.input(1);
    const Tensor& source = v.input(2);
    const Tensor zero = wrappedNumber(0.0);
    if (v.need(0)) {
        const Tensor nonzero = masked_fill(x, eq(x, zero), 1.0);
        const Tensor product = scatter_reduce(nonzero, dim, index, source, "prod", includeSelf);
        grads[0] = div(mul(v.grad(), product), nonzero);
    }
    if (!v.need(2)) return;
    const Tensor isZero = eq(source, zero);
    Tensor count;
    {
        const NoGradGuard guard;
        const Tensor ones = to(isZero, x.dtype());
        count = takenFrom(scatter_add(zeros_like(x), dim, index, ones), dim, index, source.sizes());
    }
    const Tensor only = logical_and(isZero, eq(count, wrappedNumber(1.0)));
    const Tensor others =
        scatter_reduce(x, dim, index, masked_fill(source, only, 1.0), "prod", includeSelf);
    const auto back = [&](const Tensor& t) {
        return takenFrom(mul(v.grad(), t), dim, index, source.sizes());
    };
    grads[2] = where(only, back(others), div(back(v.output(0)), masked_fill(source, isZero, 1.0)));
}

}  // namespace

void vjpScatterReduce(const VjpArgs& v, std::span<Tensor> grads) {
    const std::int64_t dim = v.attrs.integer(0);
    const std::int64_t reduce = v.attrs.integer(1);
    const bool includeSelf = v.attrs.flag(2);
    const Tensor& g = v.grad();
    const Tensor& index = v.input(1);
    const Dims& sizes = v.meta(2).sizes;
    if (reduce == kSumOf) {
        if (v.need(0)) grads[0] = g;
        if (v.need(2)) grads[2] = takenFrom(g, dim, index, sizes);
    } else if (reduce == kProdOf) {
        productGradients(v, grads, includeSelf);
    } else if (reduce == kMeanOf) {
        Tensor count = includeSelf ? ones_like(g) : zeros_like(g);
        count = scatter_add(count, dim, index, ones(sizes, {.dtype = g.dtype()}));
        count = masked_fill(count, eq(count, wrappedNumber(0.0)), 1.0);
        const Tensor part = div(g, count);
        if (v.need(0)) grads[0] = part;
        if (v.need(2)) grads[2] = takenFrom(part, dim, index, sizes);
    } else {  // ties share
        Tensor selfWins;
        Tensor sourceWins;
        Tensor winners;
        {
            const NoGradGuard guard;
            const Tensor& y = v.output(0);
            selfWins = to(eq(v.input(0), y), g.dtype());
            sourceWins = to(eq(v.input(2), takenFrom(y, dim, index, sizes)), g.dtype());
            winners = scatter_add(includeSelf ? selfWins : scatter(selfWins, dim, index, 0.0), dim,
                                  index, sourceWins);
            winners = masked_fill(winners, eq(winners, wrappedNumber(0.0)), 1.0);
        }
        const Tensor part = div(g, winners);
        if (v.need(0)) grads[0] = mul(part, selfWins);
        if (v.need(2)) grads[2] = mul(takenFrom(part, dim, index, sizes), sourceWins);
    }
    if (v.need(0) && !includeSelf) grads[0] = scatter(grads[0], dim, index, 0.0);
}

void vjpIndexFill(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = index_fill(v.grad(), v.attrs.integer(0), v.input(1), 0.0);
}
void vjpIndexCopy(const VjpArgs& v, std::span<Tensor> grads) {
    const std::int64_t dim = v.attrs.integer(0);
    if (v.need(0)) grads[0] = index_fill(v.grad(), dim, v.input(1), 0.0);
    if (v.need(2)) grads[2] = index_select(v.grad(), dim, v.input(1));
}

namespace {

/// index_reduce is scatter_reduce with the index repeated for every element of a slice.
Tensor indexReduceOf(const OpArgs& a, Site site) {
    const int dim = wrapDim("index_reduce", a.attrs.integer(0), a[0].dim());
    checkIndexedSource("index_reduce", a);
    Dims sizes = Dims::filled(std::max(a[0].dim(), 1), 1);
    sizes[dim] = a[1].numel();
    Tensor places = reshape(a[1], sizes, site);
    if (a[0].dim() > 0) places = expand(places, a[2].sizes(), site);
    const std::int64_t reduce = a.attrs.integer(1);
    if (reduce < 0 || reduce >= static_cast<std::int64_t>(kReductions.size()))
        throw Error(message("index_reduce: there is no reduction ", reduce));
    return scatter_reduce(a[0], dim, places, a[2], kReductions[static_cast<std::size_t>(reduce)],
                          a.attrs.flag(2), site);
}

}  // namespace

constinit OpDef kScatter{.name = "scatter",
                         .family = Family::Index,
                         .args = kScatterArgs,
                         .attrs = kScatterAttrs,
                         .infer = inferRow<inferScatterOf, kScatter>,
                         .vjp = vjpScatter,
                         .saveInputs = 0b10,
                         .kernels = {scatterKernel}};
constinit OpDef kScatterReduce{.name = "scatter_reduce",
                               .family = Family::Index,
                               .args = kSourceArgs,
                               .attrs = kReduceAttrs,
                               .infer = inferRow<inferScatterReduceOf, kScatterReduce>,
                               .vjp = vjpScatterReduce,
                               .saveInputs = 0b111,
                               .saveOutputs = 1,
                               .kernels = {scatterReduceKernel}};
constinit OpDef kIndexFill{.name = "index_fill",
                           .family = Family::Index,
                           .args = kFillArgs,
                           .attrs = kFillAttrs,
                           .infer = inferRow<inferIndexFillOf, kIndexFill>,
                           .vjp = vjpIndexFill,
                           .saveInputs = 0b10,
                           .kernels = {indexFillKernel}};
constinit OpDef kIndexCopy{.name = "index_copy",
                           .family = Family::Index,
                           .args = kSourceArgs,
                           .attrs = kDimAttr,
                           .infer = inferRow<inferIndexCopyOf, kIndexCopy>,
                           .vjp = vjpIndexCopy,
                           .saveInputs = 0b10,
                           .kernels = {indexCopyKernel}};
constinit OpDef kIndexReduce = compositeRow("index_reduce", Family::Index, kSourceArgs,
                                            kReduceAttrs, composeOne<indexReduceOf>);

Tensor scatter(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
               Site site) {
    return call1(kScatter, {&x, &index, &source}, Attrs(dim, 0.0), site);
}
Tensor scatter(const Tensor& x, std::int64_t dim, const Tensor& index, double value, Site site) {
    return call1(kScatter, {&x, &index}, Attrs(dim, value), site);
}
Tensor scatter_reduce(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                      std::string_view reduce, bool include_self, Site site) {
    return call1(kScatterReduce, {&x, &index, &source},
                 Attrs(dim, reductionCode("scatter_reduce", reduce, site), include_self), site);
}
Tensor index_fill(const Tensor& x, std::int64_t dim, const Tensor& index, double value, Site site) {
    return call1(kIndexFill, {&x, &index}, Attrs(dim, value), site);
}
Tensor index_copy(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                  Site site) {
    return call1(kIndexCopy, {&x, &index, &source}, Attrs(dim), site);
}
Tensor index_reduce(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                    std::string_view reduce, bool include_self, Site site) {
    return call1(kIndexReduce, {&x, &index, &source},
                 Attrs(dim, reductionCode("index_reduce", reduce, site), include_self), site);
}

}  // namespace tapescope::engine
