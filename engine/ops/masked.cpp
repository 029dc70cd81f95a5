// SPDX-License-Identifier: Apache-2.0
// What a mask or a flat index chooses.
#include "engine/cpu/copy.h"
#include "engine/cpu/masked_kernels.h"
#include "engine/cpu/scatter_kernels.h"
#include "engine/ops/checks.h"
#include "engine/ops/composite.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/index_rows.h"
#include "engine/ops/indexing.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/pointwise_rows.h"
#include "engine/ops/shape.h"

namespace tapescope::engine {
namespace {

constexpr ArgDef kInput[] = {{"input"}};
constexpr ArgDef kMaskArgs[] = {{"input"}, {"mask"}};
constexpr ArgDef kMaskSourceArgs[] = {{"input"}, {"mask"}, {"source"}};
constexpr ArgDef kIndexArgs[] = {{"input"}, {"index"}};
constexpr ArgDef kPutArgs[] = {{"input"}, {"index"}, {"source"}};
constexpr AttrDef kAccumulate[] = {{"accumulate", AttrKind::Bool, "false"}};
constexpr AttrDef kDim[] = {{"dim", AttrKind::Int, "none"}};

void checkMask(std::string_view op, const Tensor& mask) {
    if (mask.dtype() != DType::Bool)
        throw DTypeError(
            message(op, ": mask must be bool, not ", mask.dtype(), "; compare it with ne(x, 0)"));
}

void inferNonzero(const OpArgs&, OutputMetas& out) { out.addDynamic(DType::I64); }
void nonzeroKernel(const OpArgs& a, std::span<Tensor> out) { out[0] = cpu::nonzeroOf(a[0]); }

void inferMaskedSelect(const OpArgs& a, OutputMetas& out) {
    checkMask("masked_select", a[1]);
    broadcastOf("masked_select", a[0].sizes(), a[1].sizes());
    out.addDynamic(a[0].dtype());
}
void maskedSelectKernel(const OpArgs& a, std::span<Tensor> out) {
    const Dims sizes = broadcastOf("masked_select", a[0].sizes(), a[1].sizes());
    out[0] = cpu::maskedSelect(a[0], a[1], sizes);
}
void vjpMaskedSelect(const VjpArgs& v, std::span<Tensor> grads) {
    const Dims sizes = broadcastOf("masked_select", v.meta(0).sizes, v.input(1).sizes());
    const Tensor empty = zeros(sizes, {.dtype = v.meta(0).dtype});
    grads[0] = sum_to_size(masked_scatter(empty, v.input(1), v.grad()), v.meta(0).sizes);
}

void inferMaskedScatter(const OpArgs& a, OutputMetas& out) {
    checkMask("masked_scatter", a[1]);
    checkSameDType("masked_scatter", "input", a[0], "source", a[2]);
    out.add(broadcastOf("masked_scatter", a[0].sizes(), a[1].sizes()), a[0].dtype());
}
void inferMaskedScatterInplace(const OpArgs& a, OutputMetas& out) {
    checkWritable("masked_scatter_", a[0]);
    inferMaskedScatter(a, out);
    if (out.metas[0].sizes != a[0].sizes())
        throw ShapeError(message("masked_scatter_: mask ", a[1].sizes(), " does not broadcast to ",
                                 a[0].sizes()));
}
void maskedScatterKernel(const OpArgs& a, std::span<Tensor> out) {
    const Tensor source = cpu::apartFrom(a[2], out[0]);
    const Tensor mask = cpu::apartFrom(a[1], out[0]);
    if (!same(out[0], a[0])) cpu::copyTensor(out[0], a[0]);
    cpu::maskedScatterInto(out[0], mask, source);
}
void vjpMaskedScatter(const VjpArgs& v, std::span<Tensor> grads) {
    const Tensor& mask = v.input(1);
    if (v.need(0)) grads[0] = sum_to_size(masked_fill(v.grad(), mask, 0.0), v.meta(0).sizes);
    if (!v.need(2)) return;
    // Source's first elements were used; the rest gets 0.
    const Tensor used = masked_select(v.grad(), mask);
    const std::int64_t rest = numelOf(v.meta(2).sizes) - used.numel();
    grads[2] = reshape(rest > 0 ? pad(used, {0, rest}) : used, v.meta(2).sizes);
}

void inferTake(const OpArgs& a, OutputMetas& out) {
    checkIndexDType("take", a[1]);
    out.add(a[1].sizes(), a[0].dtype());
}
void takeKernel(const OpArgs& a, std::span<Tensor> out) { cpu::takeInto(a[0], a[1], out[0]); }
void vjpTake(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = put(zerosOf(v.meta(0)), v.input(1), v.grad(), true);
}

template <const OpDef& row>
void inferPut(const OpArgs& a, OutputMetas& out) {
    if (row.inplace) checkWritable(row.name, a[0]);
    checkIndexDType(row.name, a[1]);
    checkSameDType(row.name, "input", a[0], "source", a[2]);
    if (a[1].numel() != a[2].numel())
        throw ShapeError(message(row.name, ": index ", a[1].sizes(), " and source ", a[2].sizes(),
                                 " must have equally many elements"));
    out.add(a[0].sizes(), a[0].dtype());
}
void putKernel(const OpArgs& a, std::span<Tensor> out) {
    const Tensor source = cpu::apartFrom(a[2], out[0]);
    if (!same(out[0], a[0])) cpu::copyTensor(out[0], a[0]);
    cpu::putInto(out[0], a[1], source, a.attrs.flag(0));
}
void vjpPut(const VjpArgs& v, std::span<Tensor> grads) {
    const bool accumulate = v.attrs.flag(0);
    const Tensor& index = v.input(1);
    if (v.need(0))
        grads[0] = accumulate
                       ? v.grad()
                       : put(v.grad(), index, zeros(index.sizes(), {.dtype = v.meta(0).dtype}));
    if (v.need(2)) grads[2] = reshape(take(v.grad(), index), v.meta(2).sizes);
}

Tensor argwhereOf(const OpArgs& a, Site site) { return nonzero(a[0], site); }

Tensor takeAlongOf(const OpArgs& a, Site site) {
    Tensor x = a[0];
    Tensor index = a[1];
    checkIndexDType("take_along_dim", index);
    const auto dim = optionalInt(a.attrs, 0);
    if (!dim) return gather(reshape(x, {-1}, site), 0, reshape(index, {-1}, site), site);
    if (x.dim() != index.dim())
        throw ShapeError(message("take_along_dim: index ", index.sizes(),
                                 " must have as many dimensions as input ", x.sizes()));
    if (x.dim() == 0) return gather(x, 0, index, site);
    const int d = wrapDim("take_along_dim", *dim, x.dim());
    Dims xOff = x.sizes();
    Dims indexOff = index.sizes();
    xOff[d] = indexOff[d] = 1;
    const Dims common = broadcastOf("take_along_dim", xOff, indexOff);
    Dims xSizes = common;
    Dims indexSizes = common;
    xSizes[d] = x.sizes()[d];
    indexSizes[d] = index.sizes()[d];
    if (x.sizes() != xSizes) x = expand(x, xSizes, site);
    if (index.sizes() != indexSizes) index = expand(index, indexSizes, site);
    return gather(x, d, index, site);
}

constexpr OpDef choosing(std::string_view name, std::span<const ArgDef> args, InferFn infer,
                         VjpFn vjp, KernelFn kernel, bool inplace = false) {
    return {.name = name,
            .family = Family::Index,
            .args = args,
            .infer = infer,
            .vjp = vjp,
            .saveInputs = 0b10,
            .inplace = inplace,
            .kernels = {kernel}};
}
template <const OpDef& row>
constexpr OpDef putting(std::string_view name, bool inplace) {
    OpDef op = choosing(name, kPutArgs, inferPut<row>, vjpPut, putKernel, inplace);
    op.attrs = kAccumulate;
    return op;
}

}  // namespace

constinit OpDef kNonzero{.name = "nonzero",
                         .family = Family::Index,
                         .args = kInput,
                         .infer = inferNonzero,
                         .kernels = {nonzeroKernel}};
constinit OpDef kArgwhere = compositeRow("argwhere", Family::Index, kInput, {},
                                         composeOne<argwhereOf>, TypeRule::AsIs, false);
constinit OpDef kMaskedSelect =
    choosing("masked_select", kMaskArgs, inferMaskedSelect, vjpMaskedSelect, maskedSelectKernel);
constinit OpDef kMaskedScatter = choosing("masked_scatter", kMaskSourceArgs, inferMaskedScatter,
                                          vjpMaskedScatter, maskedScatterKernel);
constinit OpDef kMaskedScatterInplace =
    choosing("masked_scatter_", kMaskSourceArgs, inferMaskedScatterInplace, vjpMaskedScatter,
             maskedScatterKernel, true);
constinit OpDef kTake = choosing("take", kIndexArgs, inferTake, vjpTake, takeKernel);
constinit OpDef kPut = putting<kPut>("put", false);
constinit OpDef kPutInplace = putting<kPutInplace>("put_", true);
constinit OpDef kTakeAlongDim =
    compositeRow("take_along_dim", Family::Index, kIndexArgs, kDim, composeOne<takeAlongOf>);

Tensor nonzero(const Tensor& x, Site site) { return call1(kNonzero, {&x}, {}, site); }
Tensor argwhere(const Tensor& x, Site site) { return call1(kArgwhere, {&x}, {}, site); }
Tensor masked_select(const Tensor& x, const Tensor& mask, Site site) {
    return call1(kMaskedSelect, {&x, &mask}, {}, site);
}
Tensor masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& source, Site site) {
    return call1(kMaskedScatter, {&x, &mask, &source}, {}, site);
}
Tensor masked_scatter_(const Tensor& x, const Tensor& mask, const Tensor& source, Site site) {
    return call1(kMaskedScatterInplace, {&x, &mask, &source}, {}, site);
}
Tensor take(const Tensor& x, const Tensor& index, Site site) {
    return call1(kTake, {&x, &index}, {}, site);
}
Tensor put(const Tensor& x, const Tensor& index, const Tensor& source, bool accumulate, Site site) {
    return call1(kPut, {&x, &index, &source}, Attrs(accumulate), site);
}
Tensor put_(const Tensor& x, const Tensor& index, const Tensor& source, bool accumulate,
            Site site) {
    return call1(kPutInplace, {&x, &index, &source}, Attrs(accumulate), site);
}
Tensor take_along_dim(const Tensor& x, const Tensor& index, std::optional<std::int64_t> dim,
                      Site site) {
    return call1(kTakeAlongDim, {&x, &index}, Attrs(attrOf(dim)), site);
}

}  // namespace tapescope::engine
