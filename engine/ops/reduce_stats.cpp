// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/reduce_kernels.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/reduce_rows.h"

#include <limits>

namespace tapescope::engine {
namespace {

constexpr AttrDef kVarAttrs[] = {{"dim", AttrKind::Dims, "[]"},
                                 {"correction", AttrKind::Int, "1"},
                                 {"keepdim", AttrKind::Bool, "false"}};

template <const OpDef& row>
void inferVar(const OpArgs& args, OutputMetas& out) {
    out.add(
        reducedSizes(row.name, args[0].sizes(), dimsAttr(args.attrs), keepdimAttr(args.attrs, 2)),
        args[0].dtype());
}

/// grad: of the variance, with its dimensions restored. dx = 2 (x - mean) / (n - correction).
Tensor varGrad(const VjpArgs& a, const Tensor& grad) {
    const Tensor& x = a.input(0);
    // In doubles: a correction may be any number.
    const auto correction = static_cast<double>(a.attrs.has(1) ? a.attrs.integer(1) : 1);
    const double freedom = static_cast<double>(reducedCount(a)) - correction;
    const Tensor centre = mean(x, dimsAttr(a.attrs), true);
    if (freedom <= 0) {
        const Tensor nan = wrappedNumber(std::numeric_limits<double>::quiet_NaN());
        const Tensor infinity = wrappedNumber(std::numeric_limits<double>::infinity());
        return mul(grad, where(eq(x, centre), nan, infinity));
    }
    return mul(mul(grad, 2.0 / freedom), sub(x, centre));
}
void varVjp(const VjpArgs& a, std::span<Tensor> out) {
    out[0] = varGrad(a, restoreDims(a, a.grad()));
}
/// Through the variance; 0 where nothing varies.
void stdVjp(const VjpArgs& a, std::span<Tensor> out) {
    const Tensor deviation = restoreDims(a, a.output(0));
    const Tensor grad = div(restoreDims(a, a.grad()), mul(deviation, 2.0));
    out[0] = varGrad(a, masked_fill(grad, eq(deviation, wrappedNumber(0.0)), 0.0));
}
/// Softmax over the reduced dimensions.
void logsumexpVjp(const VjpArgs& a, std::span<Tensor> out) {
    out[0] = mul(restoreDims(a, a.grad()), exp(sub(a.input(0), restoreDims(a, a.output(0)))));
}

}  // namespace

constinit OpDef kVar = takingEveryRealType(reductionRow("var", TypeRule::Floating, inferVar<kVar>,
                                                        varVjp, true, false, cpu::var, kVarAttrs));
constinit OpDef kStd =
    takingEveryRealType(reductionRow("std", TypeRule::Floating, inferVar<kStd>, stdVjp, true, true,
                                     cpu::standardDeviation, kVarAttrs));
constinit OpDef kLogsumexp = takingEveryRealType(
    reductionRow("logsumexp", TypeRule::PromoteFloat, inferReduction<kLogsumexp>, logsumexpVjp,
                 true, true, cpu::logsumexp));

Tensor var(const Tensor& x, const Dims& dims, std::int64_t correction, bool keepdim, Site site) {
    return call1(kVar, {&x}, Attrs{dims, correction, keepdim}, site);
}
Tensor std(const Tensor& x, const Dims& dims, std::int64_t correction, bool keepdim, Site site) {
    return call1(kStd, {&x}, Attrs{dims, correction, keepdim}, site);
}
Tensor logsumexp(const Tensor& x, const Dims& dims, bool keepdim, Site site) {
    return call1(kLogsumexp, {&x}, Attrs{dims, keepdim}, site);
}

}  // namespace tapescope::engine
