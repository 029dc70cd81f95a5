// SPDX-License-Identifier: Apache-2.0
// Negative log likelihood and what is built on it.
#include "engine/amp/autocast.h"
#include "engine/cpu/nll.h"
#include "engine/ops/checks.h"
#include "engine/ops/composite.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/nn_reduction.h"
#include "engine/ops/nn_rows.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"

#include <algorithm>

namespace tapescope::engine {

namespace {

using cpu::NllArgs;

/// What targets for an input of these sizes look like.
Dims targetSizes(const Dims& input) {
    Dims sizes = input;
    sizes.erase(sizes.size() == 1 ? 0 : 1);
    return sizes;
}

/// Checks targets and weights for log-probabilities of `sizes`.
NllArgs nllArgs(std::string_view op, const Dims& sizes, DType dtype, const Tensor& target,
                const Tensor& weight, std::int64_t ignoreIndex) {
    if (target.dtype() != DType::I64 && target.dtype() != DType::U8)  // what PyTorch takes
        throw DTypeError(message(op, ": target must be int64, not ", target.dtype()));
    if (target.sizes() != targetSizes(sizes))
        throw ShapeError(message(op, ": target ", target.sizes(), " must be ", targetSizes(sizes),
                                 " for input ", sizes));
    NllArgs args;
    const int rank = sizes.size();
    args.batch = rank == 1 ? 1 : sizes[0];
    args.classes = sizes[rank == 1 ? 0 : 1];
    for (int i = 2; i < rank; ++i) args.plane *= sizes[i];
    args.ignoreIndex = ignoreIndex;
    args.target = target;
    args.weight = weight;
    if (weight.defined()) {
        if (weight.sizes() != Dims{args.classes})
            throw ShapeError(message(op, ": weight ", weight.sizes(), " must be [", args.classes,
                                     "], one number a class"));
        if (weight.dtype() != dtype)
            throw DTypeError(message(op, ": weight is ", weight.dtype(), " but the input is ",
                                     dtype, "; convert one of them with to()"));
    }
    return args;
}
const Tensor& weightOf(const OpArgs& a) { return a.has(2) ? a[2] : undefinedTensor(); }

NllArgs forwardArgs(const OpArgs& a) {
    checkFloating("nll_loss", "input", a[0]);
    if (a[0].dim() < 1)
        throw ShapeError(
            "nll_loss: input [] must have at least 1 dimension: [N, C], [N, C, ...] "
            "or [C]");
    return nllArgs("nll_loss", a[0].sizes(), a[0].dtype(), a[1], weightOf(a), a.attrs.integer(1));
}

void inferNll(const OpArgs& a, OutputMetas& out) {
    forwardArgs(a);
    const bool none = reductionAttr("nll_loss", a.attrs, 0) == Reduction::None;
    out.add(none ? a[1].sizes() : Dims{}, a[0].dtype());
}

void nllKernel(const OpArgs& a, std::span<Tensor> out) {
    const NllArgs args = forwardArgs(a);
    cpu::nllCheck("nll_loss", args);
    const Reduction reduction = reductionAttr("nll_loss", a.attrs, 0);
    if (reduction == Reduction::None) return cpu::nllTerms(args, a[0], out[0]);
    cpu::nllSum(args, a[0], reduction == Reduction::Mean, out[0]);
}

// nll_loss_backward: grad, target, weight?; input_sizes, reduction, ignore_index
constexpr std::string_view kBackward = "nll_loss_backward";

NllArgs backwardArgs(const OpArgs& a) {
    const Dims& sizes = a.attrs.dims(0);
    checkSizes(kBackward, sizes);
    checkFloating(kBackward, "grad", a[0]);
    if (sizes.empty())
        throw ShapeError(message(kBackward, ": input_sizes must have at least 1 dimension"));
    return nllArgs(kBackward, sizes, a[0].dtype(), a[1], weightOf(a), a.attrs.integer(2));
}

void inferNllBackward(const OpArgs& a, OutputMetas& out) {
    backwardArgs(a);
    const bool none = reductionAttr(kBackward, a.attrs, 1) == Reduction::None;
    const Dims expected = none ? a[1].sizes() : Dims{};
    if (a[0].sizes() != expected)
        throw ShapeError(message(kBackward, ": grad ", a[0].sizes(), " must be ", expected));
    out.add(a.attrs.dims(0), a[0].dtype());
}

void nllBackwardKernel(const OpArgs& a, std::span<Tensor> out) {
    const NllArgs args = backwardArgs(a);
    cpu::nllCheck(kBackward, args);
    cpu::nllBackward(args, a[0], reductionAttr(kBackward, a.attrs, 1) == Reduction::Mean, out[0]);
}

const Tensor& weightOf(const VjpArgs& v) {
    return v.inputCount() > 2 ? v.input(2) : undefinedTensor();
}
void vjpNll(const VjpArgs& v, std::span<Tensor> grads) {
    if (v.need(0))
        grads[0] = call1(kNllLossBackward, {&v.grad(), &v.input(1), &weightOf(v)},
                         Attrs(v.meta(0).sizes, v.attrs.integer(0), v.attrs.integer(1)), Site());
}
void vjpNllBackward(const VjpArgs& v, std::span<Tensor> grads) {
    // nll_loss is linear in its input, and so the adjoint of its adjoint is nll_loss itself.
    if (v.need(0))
        grads[0] = call1(kNllLoss, {&v.grad(), &v.input(1), &weightOf(v)},
                         Attrs(v.attrs.integer(1), v.attrs.integer(2)), Site());
}

Tensor nll(const Tensor& x, const Tensor& target, const NllLossOptions& o, Site site) {
    return call1(kNllLoss, {&x, &target, &o.weight}, Attrs(codeOf(o.reduction), o.ignore_index),
                 site);
}

/// weight [C] along the classes of an input.
Tensor alongClasses(const Tensor& weight, int rank) {
    if (rank < 2) return weight;
    Dims sizes = Dims::filled(rank, 1);
    sizes[1] = weight.numel();
    return reshape(weight, sizes);
}

/// target: a probability for each logit.
Tensor crossEntropyOfProbabilities(const Tensor& logits, const Tensor& target,
                                   const CrossEntropyOptions& o, Site site) {
    const int classAt = logits.dim() == 1 ? 0 : 1;
    const std::int64_t classes = logits.size(classAt);
    Tensor wanted = target;
    if (o.label_smoothing > 0)
        wanted = add(mul(target, 1 - o.label_smoothing, site),
                     o.label_smoothing / static_cast<double>(classes), site);
    Tensor terms = mul(log_softmax(logits, classAt, site), wanted, site);
    if (o.weight.defined()) terms = mul(terms, alongClasses(o.weight, logits.dim()), site);
    if (o.reduction == Reduction::None) return neg(sum(terms, {classAt}, false, site), site);
    const Tensor total = neg(sum(terms, {}, false, site), site);
    if (reductionFrom("cross_entropy", codeOf(o.reduction)) == Reduction::Sum) return total;
    // One term for every set of probabilities, whatever their weights.
    return div(total, static_cast<double>(logits.numel()) / static_cast<double>(classes), site);
}

/// The loss against equal probabilities for all classes, over the targets that count.
Tensor smoothPart(const Tensor& logProbabilities, const Tensor& target,
                  const CrossEntropyOptions& o, Site site) {
    const int classAt = logProbabilities.dim() == 1 ? 0 : 1;
    const Tensor weighted =
        o.weight.defined()
            ? mul(logProbabilities, alongClasses(o.weight, logProbabilities.dim()), site)
            : logProbabilities;
    const Tensor ignored = eq(target, wrappedNumber(o.ignore_index), site);
    const Tensor terms =
        masked_fill(neg(sum(weighted, {classAt}, false, site), site), ignored, 0, site);
    if (o.reduction != Reduction::Mean) return reduced("cross_entropy", terms, o.reduction, site);
    Tensor counted = to(logical_not(ignored, site), logProbabilities.dtype(), site);
    if (o.weight.defined()) {
        const Tensor classOf = masked_fill(target, ignored, 0, site);
        const Tensor weights =
            index_select(o.weight, 0, reshape(classOf, {target.numel()}, site), site);
        counted = mul(counted, reshape(weights, target.sizes(), site), site);
    }
    return div(sum(terms, {}, false, site), sum(counted, {}, false, site), site);
}

Tensor crossEntropyComposite(const OpArgs& a, Site site) {
    return cross_entropy(a[0], a[1],
                         {.weight = a.has(2) ? a[2] : Tensor(),
                          .ignore_index = a.attrs.integer(1),
                          .reduction = reductionAttr("cross_entropy", a.attrs, 0),
                          .label_smoothing = a.attrs.real(2)},
                         site);
}

constexpr ArgDef kArgs[] = {{"input"}, {"target"}, {.name = "weight", .optional = true}};
constexpr ArgDef kBackwardArgs[] = {{"grad"}, {"target"}, {.name = "weight", .optional = true}};
constexpr AttrDef kAttrs[] = {{"reduction", AttrKind::Int, "1"},
                              {"ignore_index", AttrKind::Int, "-100"}};
constexpr AttrDef kBackwardAttrs[] = {{"input_sizes", AttrKind::Dims}, kAttrs[0], kAttrs[1]};
constexpr AttrDef kCrossEntropyAttrs[] = {
    kAttrs[0], kAttrs[1], {"label_smoothing", AttrKind::Float, "0"}};

}  // namespace

constinit OpDef kNllLoss{.name = "nll_loss",
                         .family = Family::Nn,
                         .args = kArgs,
                         .attrs = kAttrs,
                         .infer = inferNll,
                         .vjp = vjpNll,
                         .saveInputs = 0b110,
                         .kernels = {nllKernel}};
constinit OpDef kNllLossBackward{.name = kBackward,
                                 .family = Family::Nn,
                                 .args = kBackwardArgs,
                                 .attrs = kBackwardAttrs,
                                 .infer = inferNllBackward,
                                 .vjp = vjpNllBackward,
                                 .saveInputs = 0b110,
                                 .kernels = {nllBackwardKernel}};
constinit OpDef kCrossEntropyLoss{.name = "cross_entropy",
                                  .family = Family::Nn,
                                  .args = kArgs,
                                  .attrs = kCrossEntropyAttrs,
                                  .composite = composeOne<crossEntropyComposite>};

Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, Reduction reduction,
                Site site) {
    return nll(log_probabilities, target, {.reduction = reduction}, site);
}
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target,
                const NllLossOptions& options, Site site) {
    return nll(log_probabilities, target, options, site);
}

Tensor cross_entropy(const Tensor& logits, const Tensor& target, Reduction reduction, Site site) {
    return cross_entropy(logits, target, CrossEntropyOptions{.reduction = reduction}, site);
}
Tensor cross_entropy(const Tensor& logits, const Tensor& target, const CrossEntropyOptions& options,
                     Site site) try {
    if (!(options.label_smoothing >= 0 && options.label_smoothing <= 1))
        throw Error("cross_entropy: label_smoothing " + std::to_string(options.label_smoothing) +
                    " must be between 0 and 1");
    if (logits.dim() < 1)
        throw ShapeError(
            "cross_entropy: logits [] must have at least 1 dimension: [N, C], "
            "[N, C, ...] or [C]");
    const Tensor wide = amp::float32_in_autocast(logits, site);
    if (isFloating(target.dtype()) && target.sizes() == logits.sizes())
        return crossEntropyOfProbabilities(wide, target, options, site);
    const Tensor logProbabilities = log_softmax(wide, logits.dim() == 1 ? 0 : 1, site);
    const Tensor hard = nll(logProbabilities, target,
                            {options.weight, options.ignore_index, options.reduction}, site);
    if (options.label_smoothing == 0) return hard;
    const Tensor smooth = smoothPart(logProbabilities, target, options, site);
    const auto classes = static_cast<double>(logits.size(logits.dim() == 1 ? 0 : 1));
    return add(mul(hard, 1 - options.label_smoothing, site),
               mul(smooth, options.label_smoothing / classes, site), site);
} catch (const Error&) {
    rethrowPlaced(site);
}

}  // namespace tapescope::engine
