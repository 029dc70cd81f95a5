// SPDX-License-Identifier: Apache-2.0
#include "engine/amp/autocast.h"
#include "engine/cpu/index_kernels.h"
#include "engine/cpu/loss.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/nn_rows.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"

namespace tapescope::engine {

namespace {

using cpu::LossKind;

// The attribute holds PyTorch's numbers: 0 none, 1 mean, 2 sum.
std::int64_t codeOf(Reduction reduction) { return static_cast<std::int64_t>(reduction); }
Reduction reductionAttr(std::string_view op, const Attrs& attrs, int i) {
    const std::int64_t code = attrs.integer(i);
    if (code < 0 || code > 2)
        throw Error(message(op, ": reduction ", code, " must be 0 (none), 1 (mean) or 2 (sum)"));
    return static_cast<Reduction>(code);
}
/// What the sum of n terms is multiplied by; the mean of nothing is NaN, as in PyTorch.
double scaleOf(Reduction reduction, std::int64_t n) {
    return reduction == Reduction::Mean ? 1.0 / static_cast<double>(n) : 1.0;
}

// --- elementwise losses
// --------------------------------------------------------------------------------------------------

Dims pairSizes(std::string_view op, const Dims& input, const Dims& target) {
    Dims sizes;
    if (!broadcastShapes(input, target, sizes))
        throw ShapeError(
            message(op, ": input ", input, " and target ", target, " do not broadcast"));
    return sizes;
}

constexpr std::string_view nameOf(LossKind kind) {
    switch (kind) {
        case LossKind::Squared:
            return "mse_loss";
        case LossKind::Absolute:
            return "l1_loss";
        case LossKind::BceWithLogits:
            return "binary_cross_entropy_with_logits";
    }
    return "";
}

template <LossKind kind>
void inferLoss(const OpArgs& a, OutputMetas& out) {
    const Dims sizes = pairSizes(nameOf(kind), a[0].sizes(), a[1].sizes());
    const bool none = reductionAttr(nameOf(kind), a.attrs, 0) == Reduction::None;
    out.add(none ? sizes : Dims{}, a[0].dtype());
}

template <LossKind kind>
void lossKernel(const OpArgs& a, std::span<Tensor> out) {
    const Reduction reduction = reductionAttr(nameOf(kind), a.attrs, 0);
    if (reduction == Reduction::None) return cpu::lossTerms(kind, a[0], a[1], out[0]);
    const Dims sizes = pairSizes(nameOf(kind), a[0].sizes(), a[1].sizes());
    cpu::lossSum(kind, a[0], a[1], sizes, scaleOf(reduction, numelOf(sizes)), out[0]);
}

/// The derivative of one term by its input or its target, without the incoming gradient.
Tensor slope(LossKind kind, const Tensor& x, const Tensor& y, bool byTarget) {
    switch (kind) {
        case LossKind::Squared:
            return mul(sub(x, y), byTarget ? -2.0 : 2.0);
        case LossKind::Absolute:
            return byTarget ? sign(sub(y, x)) : sign(sub(x, y));
        case LossKind::BceWithLogits:
            break;
    }
    return byTarget ? neg(x) : sub(sigmoid(x), y);
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

// --- negative log likelihood
// ---------------------------------------------------------------------------------------------

/// PyTorch takes int64 and uint8.
void checkTarget(std::string_view op, const Tensor& target) {
    if (target.dtype() != DType::I64 && target.dtype() != DType::U8)
        throw DTypeError(message(op, ": target must be int64, not ", target.dtype()));
}

void inferNll(const OpArgs& a, OutputMetas& out) {
    checkFloating("nll_loss", "input", a[0]);
    checkRank("nll_loss", "input", a[0], 2, "[N, C]");
    checkTarget("nll_loss", a[1]);
    if (a[1].sizes() != Dims{a[0].sizes()[0]})
        throw ShapeError(message("nll_loss: target ", a[1].sizes(), " must be [", a[0].sizes()[0],
                                 "] for input ", a[0].sizes()));
    const bool none = reductionAttr("nll_loss", a.attrs, 0) == Reduction::None;
    out.add(none ? a[1].sizes() : Dims{}, a[0].dtype());
}

void nllKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::checkIndexRange("nll_loss", a[1], 1, a[0].sizes()[1]);
    const Reduction reduction = reductionAttr("nll_loss", a.attrs, 0);
    if (reduction == Reduction::None) return cpu::nllTerms(a[0], a[1], out[0]);
    cpu::nllSum(a[0], a[1], scaleOf(reduction, a[1].numel()), out[0]);
}

void inferNllBackward(const OpArgs& a, OutputMetas& out) {
    constexpr std::string_view kOp = "nll_loss_backward";
    const Dims& sizes = a.attrs.dims(0);
    checkSizes(kOp, sizes);
    checkFloating(kOp, "grad", a[0]);
    checkTarget(kOp, a[1]);
    if (sizes.size() != 2 || a[1].sizes() != Dims{sizes[0]})
        throw ShapeError(message(kOp, ": target ", a[1].sizes(),
                                 " must be [N] for input sizes [N, C], not ", sizes));
    const bool none = reductionAttr(kOp, a.attrs, 1) == Reduction::None;
    const Dims expected = none ? a[1].sizes() : Dims{};
    if (a[0].sizes() != expected)
        throw ShapeError(message(kOp, ": grad ", a[0].sizes(), " must be ", expected));
    out.add(sizes, a[0].dtype());
}

void nllBackwardKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::checkIndexRange("nll_loss_backward", a[1], 1, a.attrs.dims(0)[1]);
    cpu::nllBackward(a[0], a[1],
                     scaleOf(reductionAttr("nll_loss_backward", a.attrs, 1), a[1].numel()), out[0]);
}

void vjpNll(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = call1(kNllLossBackward, {&v.grad(), &v.input(1)},
                     Attrs(v.meta(0).sizes, v.attrs.integer(0)), Site());
}
void vjpNllBackward(const VjpArgs& v, std::span<Tensor> grads) {
    // nll_loss is linear in its input, and so the adjoint of its adjoint is nll_loss itself.
    grads[0] = call1(kNllLoss, {&v.grad(), &v.input(1)}, Attrs(v.attrs.integer(1)), Site());
}

constexpr ArgDef kPair[] = {{"input"}, {"target"}};
constexpr ArgDef kGradTarget[] = {{"grad"}, {"target"}};
constexpr AttrDef kReduction[] = {{"reduction", AttrKind::Int, "1"}};
constexpr AttrDef kNllBackwardAttrs[] = {{"input_sizes", AttrKind::Dims},
                                         {"reduction", AttrKind::Int, "1"}};

}  // namespace

constinit OpDef kMseLoss{.name = nameOf(LossKind::Squared),
                         .family = Family::Nn,
                         .args = kPair,
                         .attrs = kReduction,
                         .types = TypeRule::PromoteFloat,
                         .infer = inferLoss<LossKind::Squared>,
                         .vjp = vjpLoss<LossKind::Squared>,
                         .saveInputs = 0b11,
                         .kernels = {lossKernel<LossKind::Squared>}};
constinit OpDef kL1Loss{.name = nameOf(LossKind::Absolute),
                        .family = Family::Nn,
                        .args = kPair,
                        .attrs = kReduction,
                        .types = TypeRule::PromoteFloat,
                        .infer = inferLoss<LossKind::Absolute>,
                        .vjp = vjpLoss<LossKind::Absolute>,
                        .saveInputs = 0b11,
                        .kernels = {lossKernel<LossKind::Absolute>}};
constinit OpDef kBceWithLogits{.name = nameOf(LossKind::BceWithLogits),
                               .family = Family::Nn,
                               .args = kPair,
                               .attrs = kReduction,
                               .types = TypeRule::PromoteFloat,
                               .infer = inferLoss<LossKind::BceWithLogits>,
                               .vjp = vjpLoss<LossKind::BceWithLogits>,
                               .saveInputs = 0b11,
                               .kernels = {lossKernel<LossKind::BceWithLogits>}};
constinit OpDef kNllLoss{.name = "nll_loss",
                         .family = Family::Nn,
                         .args = kPair,
                         .attrs = kReduction,
                         .infer = inferNll,
                         .vjp = vjpNll,
                         .saveInputs = 0b10,
                         .kernels = {nllKernel}};
constinit OpDef kNllLossBackward{.name = "nll_loss_backward",
                                 .family = Family::Nn,
                                 .args = kGradTarget,
                                 .attrs = kNllBackwardAttrs,
                                 .infer = inferNllBackward,
                                 .vjp = vjpNllBackward,
                                 .saveInputs = 0b10,
                                 .kernels = {nllBackwardKernel}};

Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, Reduction reduction,
                Site site) {
    return call1(kNllLoss, {&log_probabilities, &target}, Attrs(codeOf(reduction)), site);
}
Tensor cross_entropy(const Tensor& logits, const Tensor& target, Reduction reduction, Site site) {
    const Tensor wide = amp::float32_in_autocast(logits, site);
    return nll_loss(log_softmax(wide, -1, site), target, reduction, site);
}
Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction, Site site) {
    return call1(kMseLoss, {&input, &target}, Attrs(codeOf(reduction)), site);
}
Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction, Site site) {
    return call1(kL1Loss, {&input, &target}, Attrs(codeOf(reduction)), site);
}
Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target,
                                        Reduction reduction, Site site) {
    return call1(kBceWithLogits, {&logits, &target}, Attrs(codeOf(reduction)), site);
}

}  // namespace tapescope::engine
