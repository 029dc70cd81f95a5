// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/copy.h"
#include "engine/cpu/loss.h"
#include "engine/observe/context.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/nn_reduction.h"
#include "engine/ops/nn_rows.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"

namespace tapescope::engine {

namespace {

using cpu::LossKind;

constexpr std::string_view nameOf(LossKind kind) {
    switch (kind) {
        case LossKind::Squared:
            return "mse_loss";
        case LossKind::Absolute:
            return "l1_loss";
        case LossKind::BceWithLogits:
            break;
    }
    return "";
}

template <LossKind kind>
void inferLoss(const OpArgs& a, OutputMetas& out) {
    const Dims sizes = pairSizes(nameOf(kind), a[0].sizes(), a[1].sizes());
    const Reduction reduction = reductionAttr(nameOf(kind), a.attrs, 0);
    const bool none = reduction == Reduction::None;
    const DType dtype = a[0].dtype();
    if (isFloating(dtype)) return out.add(none ? sizes : Dims{}, dtype);
    // Differences of integers are integers, and their mean is none.
    if (kind == LossKind::Squared || reduction == Reduction::Mean || dtype == DType::Bool)
        checkRealLoss(nameOf(kind), dtype, dtype);
    out.add(none ? sizes : Dims{}, none ? dtype : DType::I64);
}

template <LossKind kind>
void lossKernel(const OpArgs& a, std::span<Tensor> out) {
    const Reduction reduction = reductionAttr(nameOf(kind), a.attrs, 0);
    if (!isFloating(a[0].dtype())) {
        const NoGradGuard guard;
        const Tensor terms = abs(sub(a[0], a[1]));
        return cpu::copyTensor(out[0], reduction == Reduction::None ? terms : sum(terms));
    }
    if (reduction == Reduction::None) return cpu::lossTerms(kind, a[0], a[1], out[0]);
    const Dims sizes = pairSizes(nameOf(kind), a[0].sizes(), a[1].sizes());
    cpu::lossSum(kind, a[0], a[1], sizes, scaleOf(reduction, numelOf(sizes)), out[0]);
}

/// The derivative of one term by its input or its target, without the incoming gradient.
Tensor slope(LossKind kind, const Tensor& x, const Tensor& y, bool byTarget) {
    if (kind == LossKind::Squared) return mul(sub(x, y), byTarget ? -2.0 : 2.0);
    return byTarget ? sign(sub(y, x)) : sign(sub(x, y));
}

template <LossKind kind>
void vjpLoss(const VjpArgs& v, std::span<Tensor> grads) {
    const Dims sizes = pairSizes(nameOf(kind), v.meta(0).sizes, v.meta(1).sizes);
    const Reduction reduction = reductionAttr(nameOf(kind), v.attrs, 0);
    const Tensor g =
        reduction == Reduction::Mean ? mul(v.grad(), scaleOf(reduction, numelOf(sizes))) : v.grad();
    for (const int i : {0, 1}) {
        if (!v.need(i)) continue;
        const Tensor by = mul(slope(kind, v.input(0), v.input(1), i == 1), g);
        // The slope by the target may be of the input's shape alone.
        grads[static_cast<unsigned>(i)] =
            sum_to_size(by.sizes() == sizes ? by : expand(by, sizes), v.meta(i).sizes);
    }
}

constexpr ArgDef kPair[] = {{"input"}, {"target"}};
constexpr AttrDef kReduction[] = {{"reduction", AttrKind::Int, "1"}};

}  // namespace

constinit OpDef kMseLoss{.name = nameOf(LossKind::Squared),
                         .family = Family::Nn,
                         .args = kPair,
                         .attrs = kReduction,
                         .types = TypeRule::Promote,
                         .infer = inferLoss<LossKind::Squared>,
                         .vjp = vjpLoss<LossKind::Squared>,
                         .saveInputs = 0b11,
                         .kernels = {lossKernel<LossKind::Squared>}};
constinit OpDef kL1Loss{.name = nameOf(LossKind::Absolute),
                        .family = Family::Nn,
                        .args = kPair,
                        .attrs = kReduction,
                        .types = TypeRule::Promote,
                        .infer = inferLoss<LossKind::Absolute>,
                        .vjp = vjpLoss<LossKind::Absolute>,
                        .saveInputs = 0b11,
                        .native = kEveryRealType & ~(dtypeBit(DType::F16) | dtypeBit(DType::BF16)),
                        .kernels = {lossKernel<LossKind::Absolute>}};

Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction, Site site) {
    return call1(kMseLoss, {&input, &target}, Attrs(codeOf(reduction)), site);
}
Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction, Site site) {
    return call1(kL1Loss, {&input, &target}, Attrs(codeOf(reduction)), site);
}

}  // namespace tapescope::engine
