// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/reduce_kernels.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/reduce_rows.h"

namespace tapescope::engine {
namespace {

constexpr AttrDef kDimKeepdim[] = {{"dim", AttrKind::Int, "none"},
                                   {"keepdim", AttrKind::Bool, "false"}};

/// Nothing has no largest element.
void checkNotEmpty(const OpDef& row, const Dims& sizes, const std::array<bool, kMaxRank>& mask) {
    for (int d = 0; d < sizes.size(); ++d) {
        if (mask[static_cast<unsigned>(d)] && sizes[d] == 0)
            throw ShapeError(message(row.name, ": dimension ", d, " of ", sizes,
                                     " is empty and has no extreme element"));
    }
}

template <const OpDef& row>
void inferExtreme(const OpArgs& args, OutputMetas& out) {
    const Dims& sizes = args[0].sizes();
    checkNotEmpty(row, sizes, cpu::reducedDims(row.name, dimsAttr(args.attrs), sizes.size()));
    inferReduction<row>(args, out);
}
template <const OpDef& row>
void inferArg(const OpArgs& args, OutputMetas& out) {
    const Dims& sizes = args[0].sizes();
    if (args[0].dtype() == DType::Bool)
        throw DTypeError(message(row.name,
                                 ": bool tensors cannot be used; convert them with to(x, "
                                 "DType::U8)"));
    const Dims dims = args.attrs.has(0) ? Dims{args.attrs.integer(0)} : Dims{};
    checkNotEmpty(row, sizes, cpu::reducedDims(row.name, dims, sizes.size()));
    out.add(reducedSizes(row.name, sizes, dims, keepdimAttr(args.attrs)), DType::I64);
}
/// bool, but uint8 for uint8, as in PyTorch.
template <const OpDef& row>
void inferTruth(const OpArgs& args, OutputMetas& out) {
    out.add(reducedSizes(row.name, args[0].sizes(), dimsAttr(args.attrs), keepdimAttr(args.attrs)),
            args[0].dtype() == DType::U8 ? DType::U8 : DType::Bool);
}

/// Elements equal to the extreme share the gradient.
void extremeVjp(const VjpArgs& a, std::span<Tensor> out) {
    const Tensor& x = a.input(0);
    const Tensor winners = to(eq(restoreDims(a, a.output(0)), x), x.dtype());
    const Tensor count = sum(winners, dimsAttr(a.attrs), true);
    out[0] = div(mul(restoreDims(a, a.grad()), winners), count);
}

template <const OpDef& row>
constexpr OpDef extreme(std::string_view name, KernelFn kernel) {
    return takingEveryRealType(
        reductionRow(name, TypeRule::AsIs, inferExtreme<row>, extremeVjp, true, true, kernel));
}
template <const OpDef& row>
constexpr OpDef position(std::string_view name, KernelFn kernel) {
    return reductionRow(name, TypeRule::AsIs, inferArg<row>, nullptr, false, false, kernel,
                        kDimKeepdim);
}
template <const OpDef& row>
constexpr OpDef truth(std::string_view name, KernelFn kernel) {
    return takingEveryRealType(
        reductionRow(name, TypeRule::AsIs, inferTruth<row>, nullptr, false, false, kernel));
}

}  // namespace

constinit OpDef kAmax = extreme<kAmax>("amax", cpu::amax);
constinit OpDef kAmin = extreme<kAmin>("amin", cpu::amin);
constinit OpDef kArgmax = position<kArgmax>("argmax", cpu::argmax);
constinit OpDef kArgmin = position<kArgmin>("argmin", cpu::argmin);
constinit OpDef kAny = truth<kAny>("any", cpu::any);
constinit OpDef kAll = truth<kAll>("all", cpu::all);

Tensor amax(const Tensor& x, const Dims& dims, bool keepdim, Site site) {
    return call1(kAmax, {&x}, Attrs{dims, keepdim}, site);
}
Tensor amin(const Tensor& x, const Dims& dims, bool keepdim, Site site) {
    return call1(kAmin, {&x}, Attrs{dims, keepdim}, site);
}
Tensor argmax(const Tensor& x, std::int64_t dim, bool keepdim, Site site) {
    return call1(kArgmax, {&x}, Attrs{dim, keepdim}, site);
}
Tensor argmin(const Tensor& x, std::int64_t dim, bool keepdim, Site site) {
    return call1(kArgmin, {&x}, Attrs{dim, keepdim}, site);
}
Tensor argmax(const Tensor& x, Site site) {
    return call1(kArgmax, {&x}, Attrs{std::monostate{}, false}, site);
}
Tensor argmin(const Tensor& x, Site site) {
    return call1(kArgmin, {&x}, Attrs{std::monostate{}, false}, site);
}
Tensor any(const Tensor& x, Site site) { return call1(kAny, {&x}, Attrs{Dims{}, false}, site); }
Tensor all(const Tensor& x, Site site) { return call1(kAll, {&x}, Attrs{Dims{}, false}, site); }
Tensor any(const Tensor& x, std::int64_t dim, bool keepdim, Site site) {
    return call1(kAny, {&x}, Attrs{Dims{dim}, keepdim}, site);
}
Tensor all(const Tensor& x, std::int64_t dim, bool keepdim, Site site) {
    return call1(kAll, {&x}, Attrs{Dims{dim}, keepdim}, site);
}
Tensor any(const Tensor& x, const Dims& dims, bool keepdim, Site site) {
    return call1(kAny, {&x}, Attrs{dims, keepdim}, site);
}
Tensor all(const Tensor& x, const Dims& dims, bool keepdim, Site site) {
    return call1(kAll, {&x}, Attrs{dims, keepdim}, site);
}

}  // namespace tapescope::engine
