// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/copy.h"
#include "engine/cpu/index_kernels.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/index_rows.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

#include <algorithm>

namespace tapescope::engine {

std::int64_t sizeAlong(const Tensor& x, int dim) { return x.dim() == 0 ? 1 : x.sizes()[dim]; }

Tensor zerosOf(const TensorMeta& meta) { return zeros(meta.sizes, {.dtype = meta.dtype}); }

void checkFlatIndex(std::string_view op, const Tensor& index) {
    checkIndexDType(op, index);
    if (index.dim() > 1)
        throw ShapeError(message(op, ": index ", index.sizes(), " must have 1 dimension"));
}

void checkAddable(std::string_view op, const Tensor& x, const Tensor& source) {
    checkSameDType(op, "input", x, "source", source);
}

int checkSameRank(std::string_view op, std::int64_t dim, const Tensor& x, const Tensor& index) {
    const int d = wrapDim(op, dim, x.dim());
    checkIndexDType(op, index);
    if (std::max(index.dim(), 1) != std::max(x.dim(), 1))
        throw ShapeError(message(op, ": index ", index.sizes(),
                                 " must have as many dimensions as input ", x.sizes()));
    return d;
}

void checkNotLarger(std::string_view op, const Tensor& index, std::string_view what,
                    const Tensor& x, int except) {
    // A 0-d tensor counts as one of size 1, and the shorter ones are never read beyond it.
    const auto sizeOf = [](const Tensor& t, int d) { return d < t.dim() ? t.sizes()[d] : 1; };
    for (int d = 0; d < std::max(index.dim(), 1); ++d)
        if (d != except && sizeOf(index, d) > sizeOf(x, d))
            throw ShapeError(message(op, ": index ", index.sizes(), " is larger than ", what, " ",
                                     x.sizes(), " in dimension ", d));
}

void checkScatter(std::string_view op, const OpArgs& a) {
    const int dim = checkSameRank(op, a.attrs.integer(0), a[0], a[1]);
    if (a.has(2) && std::max(a[2].dim(), 1) != std::max(a[0].dim(), 1))
        throw ShapeError(message(op, ": source ", a[2].sizes(),
                                 " must have as many dimensions as input ", a[0].sizes()));
    if (a[1].numel() == 0) return;
    if (a.has(2)) checkNotLarger(op, a[1], "source", a[2], -1);
    checkNotLarger(op, a[1], "input", a[0], dim);
}

void checkIndexedSource(std::string_view op, const OpArgs& a) {
    const int dim = wrapDim(op, a.attrs.integer(0), a[0].dim());
    checkFlatIndex(op, a[1]);
    Dims expected = a[0].sizes();
    if (!expected.empty()) expected[dim] = a[1].numel();
    if (a[2].sizes() != expected)
        throw ShapeError(message(op, ": source ", a[2].sizes(), " must be ", expected,
                                 " for input ", a[0].sizes(), " and ", a[1].numel(),
                                 " indices along dimension ", dim));
}

Tensor takenFrom(const Tensor& grad, std::int64_t dim, const Tensor& index, const Dims& sizes) {
    Tensor taken = gather(grad, dim, index);
    for (int d = 0; d < std::min(sizes.size(), taken.dim()); ++d) {
        const std::int64_t unused = sizes[d] - taken.sizes()[d];
        if (unused > 0) taken = transpose(pad(transpose(taken, d, -1), {0, unused}), d, -1);
    }
    return taken.sizes() == sizes ? taken : reshape(taken, sizes);  // [1] and [] stand for another
}

void vjpScatterAdd(const VjpArgs& v, std::span<Tensor> grads) {
    if (v.need(0)) grads[0] = v.grad();
    if (v.need(2)) grads[2] = takenFrom(v.grad(), v.attrs.integer(0), v.input(1), v.meta(2).sizes);
}

void vjpIndexAdd(const VjpArgs& v, std::span<Tensor> grads) {
    if (v.need(0)) grads[0] = v.grad();
    if (v.need(2)) grads[2] = index_select(v.grad(), v.attrs.integer(0), v.input(1));
}

namespace {

void inferIndexSelect(const OpArgs& a, OutputMetas& out) {
    const int dim = wrapDim("index_select", a.attrs.integer(0), a[0].dim());
    checkFlatIndex("index_select", a[1]);
    Dims sizes = a[0].sizes();
    if (!sizes.empty()) {
        sizes[dim] = a[1].numel();
    } else if (a[1].numel() != 1) {
        throw ShapeError(
            message("index_select: a 0-dimensional input takes 1 index, not ", a[1].numel()));
    }
    out.add(sizes, a[0].dtype());
}

void indexSelectKernel(const OpArgs& a, std::span<Tensor> out) {
    const int dim = wrapDim("index_select", a.attrs.integer(0), a[0].dim());
    cpu::checkIndexRange("index_select", a[1], dim, sizeAlong(a[0], dim));
    cpu::gatherInto(a[0], dim, a[1], out[0]);
}

void vjpIndexSelect(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = index_add(zerosOf(v.meta(0)), v.attrs.integer(0), v.input(1), v.grad());
}

void inferGather(const OpArgs& a, OutputMetas& out) {
    const int dim = checkSameRank("gather", a.attrs.integer(0), a[0], a[1]);
    if (a[1].numel() > 0) checkNotLarger("gather", a[1], "input", a[0], dim);
    out.add(a[1].sizes(), a[0].dtype());
}

void gatherKernel(const OpArgs& a, std::span<Tensor> out) {
    const int dim = wrapDim("gather", a.attrs.integer(0), a[0].dim());
    cpu::checkIndexRange("gather", a[1], dim, sizeAlong(a[0], dim));
    cpu::gatherInto(a[0], dim, a[1], out[0]);
}

void vjpGather(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = scatter_add(zerosOf(v.meta(0)), v.attrs.integer(0), v.input(1), v.grad());
}

void inferScatterAdd(const OpArgs& a, OutputMetas& out) {
    checkAddable("scatter_add", a[0], a[2]);
    checkScatter("scatter_add", a);
    out.add(a[0].sizes(), a[0].dtype());
}

void scatterAddKernel(const OpArgs& a, std::span<Tensor> out) {
    const int dim = wrapDim("scatter_add", a.attrs.integer(0), a[0].dim());
    cpu::checkIndexRange("scatter_add", a[1], dim, sizeAlong(a[0], dim));
    cpu::copyTensor(out[0], a[0]);
    cpu::scatterAddInto(out[0], dim, a[1], a[2]);
}

void inferIndexAdd(const OpArgs& a, OutputMetas& out) {
    checkAddable("index_add", a[0], a[2]);
    checkIndexedSource("index_add", a);
    out.add(a[0].sizes(), a[0].dtype());
}

void indexAddKernel(const OpArgs& a, std::span<Tensor> out) {
    const int dim = wrapDim("index_add", a.attrs.integer(0), a[0].dim());
    cpu::checkIndexRange("index_add", a[1], dim, sizeAlong(a[0], dim));
    cpu::copyTensor(out[0], a[0]);
    cpu::scatterAddInto(out[0], dim, a[1], a[2]);
}

void inferOneHot(const OpArgs& a, OutputMetas& out) {
    if (a[0].dtype() != DType::I64)
        throw DTypeError(message("one_hot: index must be int64, not ", a[0].dtype()));
    const std::int64_t classes = a.attrs.integer(0);
    if (classes < 1)
        throw ShapeError(message("one_hot: num_classes ", classes, " must be at least 1"));
    Dims sizes = a[0].sizes();
    sizes.push_back(classes);
    checkSizes("one_hot", sizes);
    out.add(sizes, DType::I64);
}

void oneHotKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::checkIndexRange("one_hot", a[0], a[0].dim(), a.attrs.integer(0));
    cpu::oneHotInto(a[0], out[0]);
}

/// Elements are moved as they are; int32 is left out for the index's sake.
constexpr std::uint32_t kMovedTypes = kEveryType & ~dtypeBit(DType::I32);
constexpr ArgDef kSelectArgs[] = {{"input"}, {"index"}};
constexpr ArgDef kAddArgs[] = {{"input"}, {"index"}, {"source"}};
constexpr ArgDef kOneHotArgs[] = {{"index"}};
constexpr AttrDef kDim[] = {{"dim", AttrKind::Int}};
constexpr AttrDef kClasses[] = {{"num_classes", AttrKind::Int}};

}  // namespace

constinit OpDef kIndexSelect{.name = "index_select",
                             .family = Family::Index,
                             .args = kSelectArgs,
                             .attrs = kDim,
                             .infer = inferIndexSelect,
                             .vjp = vjpIndexSelect,
                             .saveInputs = 0b10,
                             .native = kMovedTypes,
                             .kernels = {indexSelectKernel}};
constinit OpDef kGather{.name = "gather",
                        .family = Family::Index,
                        .args = kSelectArgs,
                        .attrs = kDim,
                        .infer = inferGather,
                        .vjp = vjpGather,
                        .saveInputs = 0b10,
                        .native = kMovedTypes,
                        .kernels = {gatherKernel}};
constinit OpDef kScatterAdd{.name = "scatter_add",
                            .family = Family::Index,
                            .args = kAddArgs,
                            .attrs = kDim,
                            .infer = inferScatterAdd,
                            .vjp = vjpScatterAdd,
                            .saveInputs = 0b10,
                            .native = kComputeTypes | dtypeBit(DType::C64),
                            .kernels = {scatterAddKernel}};
constinit OpDef kIndexAdd{.name = "index_add",
                          .family = Family::Index,
                          .args = kAddArgs,
                          .attrs = kDim,
                          .infer = inferIndexAdd,
                          .vjp = vjpIndexAdd,
                          .saveInputs = 0b10,
                          .native = kComputeTypes | dtypeBit(DType::C64),
                          .kernels = {indexAddKernel}};
constinit OpDef kOneHot{.name = "one_hot",
                        .family = Family::Index,
                        .args = kOneHotArgs,
                        .attrs = kClasses,
                        .infer = inferOneHot,
                        .kernels = {oneHotKernel}};

Tensor index_select(const Tensor& x, std::int64_t dim, const Tensor& index, Site site) {
    return call1(kIndexSelect, {&x, &index}, Attrs(dim), site);
}
Tensor gather(const Tensor& x, std::int64_t dim, const Tensor& index, Site site) {
    return call1(kGather, {&x, &index}, Attrs(dim), site);
}
Tensor scatter_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                   Site site) {
    return call1(kScatterAdd, {&x, &index, &source}, Attrs(dim), site);
}
Tensor index_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                 Site site) {
    return call1(kIndexAdd, {&x, &index, &source}, Attrs(dim), site);
}
Tensor one_hot(const Tensor& index, std::int64_t num_classes, Site site) {
    if (num_classes == -1 && index.defined() && index.numel() > 0 && index.dtype() == DType::I64)
        num_classes = static_cast<std::int64_t>(amax(index, {}, false, site).item()) + 1;
    return call1(kOneHot, {&index}, Attrs(num_classes), site);
}

}  // namespace tapescope::engine
