// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/vector_norm.h"
#include "engine/observe/context.h"
#include "engine/ops/checks.h"
#include "engine/ops/composite.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/reduce_rows.h"
#include "engine/ops/shape.h"
#include "engine/ops/statistics.h"

#include <cmath>

namespace tapescope::engine {
namespace {

constexpr ArgDef kTwo[] = {{"input"}, {"other"}};
constexpr AttrDef kNormAttrs[] = {{"p", AttrKind::Float, "2"},
                                  {"dim", AttrKind::Dims, "[]"},
                                  {"keepdim", AttrKind::Bool, "false"}};
constexpr AttrDef kVectorAttrs[] = {{"ord", AttrKind::Float, "2"},
                                    {"dim", AttrKind::Dims, "[]"},
                                    {"keepdim", AttrKind::Bool, "false"}};
constexpr AttrDef kDistAttrs[] = {{"p", AttrKind::Float, "2"}};
constexpr AttrDef kRenormAttrs[] = {
    {"p", AttrKind::Float}, {"dim", AttrKind::Int}, {"maxnorm", AttrKind::Float}};

void inferNorm(const OpArgs& a, OutputMetas& out) {
    const Dims& sizes = a[0].sizes();
    const Dims kept = reducedSizes("norm", sizes, a.attrs.dims(1), a.attrs.flag(2));
    const double p = a.attrs.real(0);
    if (std::isnan(p)) throw Error("norm: p must be a number, not NaN");
    if ((p < 0 || std::isinf(p)) && a[0].numel() == 0 && numelOf(kept) > 0)
        throw ShapeError(message("norm: ", sizes, " is empty over the dimensions ", a.attrs.dims(1),
                                 " and has no norm of order ", std::to_string(p)));
    out.add(kept, a[0].dtype());
}

/// Source: the definitions, differentiated; 0 where a norm of 0 has no direction.
void normVjp(const VjpArgs& v, std::span<Tensor> grads) {
    const double p = v.attrs.real(0);
    const Dims& dims = v.attrs.dims(1);
    const Dims full = reducedSizes("norm", v.meta(0).sizes, dims, true);
    const Tensor& x = v.input(0);
    const Tensor g = reshape(v.grad(), full);
    const Tensor n = reshape(v.output(0), full);
    const Tensor zero = wrappedNumber(0.0);
    if (p == 0) {
        grads[0] = zeros_like(x);
    } else if (p == 1) {
        grads[0] = mul(g, sign(x));
    } else if (p == 2) {
        grads[0] = mul(x, masked_fill(div(g, n), eq(n, zero), 0.0));
    } else if (std::isinf(p)) {
        Tensor winners;
        {
            const NoGradGuard guard;
            const Tensor size = abs(x);
            winners = to(logical_or(eq(size, n), logical_and(isnan(size), isnan(n))), x.dtype());
            winners = div(winners, sum(winners, dims, true));
        }
        grads[0] = mul(mul(sign(x), g), winners);
    } else if (p < 1) {
        const Tensor slope = masked_fill(mul(sign(x), pow(abs(x), p - 1)), eq(x, zero), 0.0);
        grads[0] = mul(slope, mul(g, pow(n, 1 - p)));
    } else {
        const Tensor slope = p < 2 ? mul(sign(x), pow(abs(x), p - 1)) : mul(x, pow(abs(x), p - 2));
        grads[0] = mul(slope, masked_fill(div(g, pow(n, p - 1)), eq(n, zero), 0.0));
    }
}

Tensor vectorNormOf(const OpArgs& a, Site site) {
    return norm(a[0], a.attrs.real(0), a.attrs.dims(1), a.attrs.flag(2), site);
}
Tensor distOf(const OpArgs& a, Site site) {
    return norm(sub(a[0], a[1], site), a.attrs.real(0), {}, false, site);
}
/// Slices along dim whose norm exceeds maxnorm are scaled down to it.
Tensor renormOf(const OpArgs& a, Site site) {
    const Tensor& x = a[0];
    const double p = a.attrs.real(0);
    const double most = a.attrs.real(2);
    if (!(p > 0)) throw Error(message("renorm: p must be positive, not ", std::to_string(p)));
    if (!(most >= 0))
        throw Error(message("renorm: maxnorm must not be negative, not ", std::to_string(most)));
    if (x.dim() < 2)
        throw ShapeError(message("renorm: input ", x.sizes(), " must have at least 2 dimensions"));
    const int dim = wrapDim("renorm", a.attrs.integer(1), x.dim());
    Dims others;
    for (int d = 0; d < x.dim(); ++d)
        if (d != dim) others.push_back(d);
    const Tensor norms = norm(x, p, others, true, site);
    const Tensor limit = wrappedNumber(most);
    const Tensor factor = mul(reciprocal(add(norms, 1e-7, site), site), most, site);
    const Tensor one = full(norms.sizes(), 1, {.dtype = x.dtype()}, site);
    return mul(x, where(gt(norms, limit, site), factor, one, site), site);
}

}  // namespace

constinit OpDef kNorm{.name = "norm",
                      .family = Family::Reduction,
                      .args = kReduceInput,
                      .attrs = kNormAttrs,
                      .types = TypeRule::Floating,
                      .infer = inferNorm,
                      .vjp = normVjp,
                      .saveInputs = 1,
                      .saveOutputs = 1,
                      .kernels = {cpu::vectorNorm}};
constinit OpDef kVectorNorm =
    compositeRow("vector_norm", Family::Reduction, kReduceInput, kVectorAttrs,
                 composeOne<vectorNormOf>, TypeRule::Floating);
constinit OpDef kDist = compositeRow("dist", Family::Reduction, kTwo, kDistAttrs,
                                     composeOne<distOf>, TypeRule::Promote);
constinit OpDef kRenorm = compositeRow("renorm", Family::Reduction, kReduceInput, kRenormAttrs,
                                       composeOne<renormOf>, TypeRule::Floating);

Tensor norm(const Tensor& x, Site site) {
    return call1(kNorm, {&x}, Attrs{2.0, Dims{}, false}, site);
}
Tensor norm(const Tensor& x, double p, const Dims& dims, bool keepdim, Site site) {
    return call1(kNorm, {&x}, Attrs{p, dims, keepdim}, site);
}
Tensor vector_norm(const Tensor& x, double ord, const Dims& dims, bool keepdim, Site site) {
    return call1(kVectorNorm, {&x}, Attrs{ord, dims, keepdim}, site);
}
Tensor dist(const Tensor& x, const Tensor& other, double p, Site site) {
    return call1(kDist, {&x, &other}, Attrs{p}, site);
}
Tensor renorm(const Tensor& x, double p, std::int64_t dim, double maxnorm, Site site) {
    return call1(kRenorm, {&x}, Attrs{p, dim, maxnorm}, site);
}

}  // namespace tapescope::engine
