// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/reduce_kernels.h"
#include "engine/observe/context.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/reduce_rows.h"
#include "engine/ops/shape.h"

namespace tapescope::engine {
namespace {

constexpr AttrDef kDim[] = {{"dim", AttrKind::Int}};

DType summedType(DType dtype) { return isDifferentiable(dtype) ? dtype : DType::I64; }

/// Integers and bools add up to int64.
template <const OpDef& row>
void inferSum(const OpArgs& args, OutputMetas& out) {
    out.add(reducedSizes(row.name, args[0].sizes(), dimsAttr(args.attrs), keepdimAttr(args.attrs)),
            summedType(args[0].dtype()));
}
void inferCumsum(const OpArgs& args, OutputMetas& out) {
    wrapDim("cumsum", args.attrs.integer(0), args[0].dim());
    out.add(args[0].sizes(), summedType(args[0].dtype()));
}

void sumVjp(const VjpArgs& a, std::span<Tensor> out) {
    out[0] = expand(restoreDims(a, a.grad()), a.meta(0).sizes);
}
void meanVjp(const VjpArgs& a, std::span<Tensor> out) {
    const Tensor share = div(restoreDims(a, a.grad()), static_cast<double>(reducedCount(a)));
    out[0] = expand(share, a.meta(0).sizes);
}

Tensor prodOver(const Tensor& x, const Dims& dims, bool keepdim) {
    return call1(kProd, {&x}, Attrs{dims, keepdim}, {});
}
/// Products of all elements of the last dimension but each one in turn: [..., n] -> [..., n]. In
/// O(n^2), for inputs with zeros, where dividing the whole product does not work.
Tensor productsOfOthers(const Tensor& x) {
    const std::int64_t n = x.size(-1);
    Dims square = x.sizes();
    square.push_back(n);
    const Tensor diagonal = eq(eye(n, {.dtype = x.dtype()}), wrappedNumber(1.0));
    const Tensor others = where(diagonal, wrappedNumber(1.0), expand(unsqueeze(x, -2), square));
    return prodOver(others, {-1}, false);
}
void prodVjp(const VjpArgs& a, std::span<Tensor> out) {
    const Tensor& x = a.input(0);
    const Tensor grad = restoreDims(a, a.grad());
    bool zeros = false;
    {
        const NoGradGuard guard;
        zeros = any(eq(x, wrappedNumber(0.0))).item() != 0;
    }
    if (!zeros) {
        out[0] = mul(grad, div(restoreDims(a, a.output(0)), x));
        return;
    }
    // Reduced dimensions last and as one, then back.
    const int rank = x.dim();
    const auto mask = cpu::reducedDims("prod", dimsAttr(a.attrs), rank);
    Dims order;
    Dims flat;
    for (const bool reduced : {false, true}) {
        for (int d = 0; d < rank; ++d) {
            if (mask[static_cast<unsigned>(d)] == reduced) order.push_back(d);
        }
    }
    Dims inverse = Dims::filled(rank, 0);
    Dims moved;
    for (int i = 0; i < rank; ++i) {
        inverse[static_cast<int>(order[i])] = i;
        moved.push_back(x.sizes()[static_cast<int>(order[i])]);
        if (!mask[static_cast<unsigned>(order[i])]) flat.push_back(moved.back());
    }
    flat.push_back(reducedCount(a));
    const Tensor others = productsOfOthers(reshape(permute(x, order), flat));
    out[0] = mul(grad, permute(reshape(others, moved), inverse));
}
/// dx_i = the sum of dy_j for j >= i.
void cumsumVjp(const VjpArgs& a, std::span<Tensor> out) {
    if (a.meta(0).sizes.empty()) {
        out[0] = a.grad();
        return;
    }
    const std::int64_t dim = a.attrs.integer(0);
    out[0] = flip(cumsum(flip(a.grad(), {dim}), dim), {dim});
}

}  // namespace

constinit OpDef kSum = takingEveryType(
    reductionRow("sum", TypeRule::AsIs, inferSum<kSum>, sumVjp, false, false, cpu::sum));
constinit OpDef kMean = takingEveryType(reductionRow(
    "mean", TypeRule::FloatingOrComplex, inferReduction<kMean>, meanVjp, false, false, cpu::mean));
constinit OpDef kProd = takingEveryRealType(
    reductionRow("prod", TypeRule::AsIs, inferSum<kProd>, prodVjp, true, true, cpu::prod));
constinit OpDef kCumsum =
    reductionRow("cumsum", TypeRule::AsIs, inferCumsum, cumsumVjp, false, false, cpu::cumsum, kDim);

Tensor sum(const Tensor& x, const Dims& dims, bool keepdim, Site site) {
    return call1(kSum, {&x}, Attrs{dims, keepdim}, site);
}
Tensor mean(const Tensor& x, const Dims& dims, bool keepdim, Site site) {
    return call1(kMean, {&x}, Attrs{dims, keepdim}, site);
}
Tensor prod(const Tensor& x, Site site) { return call1(kProd, {&x}, Attrs{Dims{}, false}, site); }
Tensor prod(const Tensor& x, std::int64_t dim, bool keepdim, Site site) {
    return call1(kProd, {&x}, Attrs{Dims{dim}, keepdim}, site);
}
Tensor cumsum(const Tensor& x, std::int64_t dim, Site site) {
    return call1(kCumsum, {&x}, Attrs{dim}, site);
}

}  // namespace tapescope::engine
