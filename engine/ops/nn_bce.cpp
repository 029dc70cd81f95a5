// SPDX-License-Identifier: Apache-2.0
// Binary cross entropy, of probabilities and of logits.
#include "engine/cpu/copy.h"
#include "engine/cpu/loss.h"
#include "engine/observe/context.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/nn_reduction.h"
#include "engine/ops/nn_rows.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"

#include <array>

namespace tapescope::engine {

namespace {

constexpr std::string_view kPlain = "binary_cross_entropy";
constexpr std::string_view kLogits = "binary_cross_entropy_with_logits";
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The shape of the terms: all inputs broadcast.
Dims termSizes(std::string_view op, const OpArgs& a) {
    Dims sizes = pairSizes(op, a[0].sizes(), a[1].sizes());
    static constexpr std::string_view kExtra[] = {"weight", "pos_weight"};
    for (int i = 2; i < static_cast<int>(a.inputs.size()); ++i) {
        if (!a.has(i)) continue;
        const Dims terms = sizes;
        if (!broadcastShapes(terms, a[i].sizes(), sizes))
            throw ShapeError(message(op, ": ", kExtra[i - 2], " ", a[i].sizes(),
                                     " does not broadcast to the terms ", terms));
    }
    return sizes;
}
void inferFor(std::string_view op, const OpArgs& a, OutputMetas& out) {
    checkRealLoss(op, a[0].dtype(), a[1].dtype());
    const Dims sizes = termSizes(op, a);
    const bool none = reductionAttr(op, a.attrs, 0) == Reduction::None;
    out.add(none ? sizes : Dims{}, a[0].dtype());
}
void inferPlain(const OpArgs& a, OutputMetas& out) { inferFor(kPlain, a, out); }
void inferLogits(const OpArgs& a, OutputMetas& out) { inferFor(kLogits, a, out); }

Tensor cutLog(const Tensor& x) { return clamp(log(x), -100, kInfinity); }
Tensor complement(const Tensor& x) { return sub(Tensor::scalar(1, x.dtype()), x); }

/// -(y log x + (1 - y) log(1 - x))
Tensor plainTerms(const Tensor& x, const Tensor& y) {
    return neg(add(mul(y, cutLog(x)), mul(complement(y), cutLog(complement(x)))));
}
/// log(1 + exp(-x)), the loss of a positive target.
Tensor positiveTerm(const Tensor& x) {
    return binary_cross_entropy_with_logits(x, ones_like(x), Reduction::None);
}
/// 1 + (pos_weight - 1) y; nothing without pos_weight.
Tensor positiveWeight(const Tensor& posWeight, const Tensor& y) {
    return posWeight.defined() ? add(mul(sub(posWeight, 1.0), y), 1.0) : ones_like(y);
}
Tensor logitsTerms(const Tensor& x, const Tensor& y, const Tensor& posWeight) {
    return add(mul(complement(y), x), mul(positiveWeight(posWeight, y), positiveTerm(x)));
}

/// Writes the loss of terms, weighted; called without a graph.
void store(std::string_view op, const OpArgs& a, Tensor terms, const Tensor& out) {
    if (a.has(2)) terms = mul(terms, a[2]);
    const Dims sizes = termSizes(op, a);
    if (terms.sizes() != sizes) terms = expand(terms, sizes);
    cpu::copyTensor(out, reduced(op, terms, reductionAttr(op, a.attrs, 0), Site::none()));
}

void plainKernel(const OpArgs& a, std::span<Tensor> out) {
    const NoGradGuard guard;
    if (all(logical_and(ge(a[0], wrappedNumber(0.0)), le(a[0], wrappedNumber(1.0)))).item() == 0)
        throw Error(message(kPlain, ": input must be between 0 and 1; apply sigmoid first, or use ",
                            kLogits));
    store(kPlain, a, plainTerms(a[0], a[1]), out[0]);
}

void logitsKernel(const OpArgs& a, std::span<Tensor> out) {
    if (a.has(2) || a.has(3)) {
        const NoGradGuard guard;
        return store(kLogits, a, logitsTerms(a[0], a[1], a.has(3) ? a[3] : undefinedTensor()),
                     out[0]);
    }
    const Reduction reduction = reductionAttr(kLogits, a.attrs, 0);
    constexpr auto kKind = cpu::LossKind::BceWithLogits;
    if (reduction == Reduction::None) return cpu::lossTerms(kKind, a[0], a[1], out[0]);
    const Dims sizes = termSizes(kLogits, a);
    cpu::lossSum(kKind, a[0], a[1], sizes, scaleOf(reduction, numelOf(sizes)), out[0]);
}

/// slopes[i]: the derivative of an unweighted term by input i, or the term itself for the weight.
void chain(std::string_view op, const VjpArgs& v, std::span<const Tensor> slopes,
           std::span<Tensor> grads) {
    Dims sizes;
    for (const TensorMeta& meta : v.inputMetas) {
        const Dims before = sizes;
        broadcastShapes(before, meta.sizes, sizes);
    }
    const Reduction reduction = reductionAttr(op, v.attrs, 0);
    const Tensor g =
        reduction == Reduction::Mean ? mul(v.grad(), scaleOf(reduction, numelOf(sizes))) : v.grad();
    const Tensor& weight = v.inputCount() > 2 ? v.input(2) : undefinedTensor();
    for (int i = 0; i < v.inputCount(); ++i) {
        const auto at = static_cast<unsigned>(i);
        if (!v.need(i)) continue;
        Tensor by = mul(slopes[at], g);
        if (i != 2 && weight.defined()) by = mul(by, weight);
        grads[at] = sum_to_size(by.sizes() == sizes ? by : expand(by, sizes), v.meta(i).sizes);
    }
}

void vjpPlain(const VjpArgs& v, std::span<Tensor> grads) {
    const Tensor& x = v.input(0);
    const Tensor& y = v.input(1);
    std::array<Tensor, 3> slopes;
    // 1e-12 as in PyTorch: at 0 and 1 the slope is large, not infinite.
    if (v.need(0)) slopes[0] = div(sub(x, y), clamp(mul(x, complement(x)), 1e-12, kInfinity));
    if (v.need(1)) slopes[1] = sub(cutLog(complement(x)), cutLog(x));
    if (v.inputCount() > 2 && v.need(2)) slopes[2] = plainTerms(x, y);
    chain(kPlain, v, slopes, grads);
}

void vjpLogits(const VjpArgs& v, std::span<Tensor> grads) {
    const Tensor& x = v.input(0);
    const Tensor& y = v.input(1);
    const Tensor& posWeight = v.inputCount() > 3 ? v.input(3) : undefinedTensor();
    std::array<Tensor, 4> slopes;
    if (v.need(0))
        slopes[0] =
            posWeight.defined()
                ? sub(complement(y), mul(positiveWeight(posWeight, y), complement(sigmoid(x))))
                : sub(sigmoid(x), y);
    if (v.need(1))
        slopes[1] =
            posWeight.defined() ? sub(mul(sub(posWeight, 1.0), positiveTerm(x)), x) : neg(x);
    if (v.inputCount() > 2 && v.need(2)) slopes[2] = logitsTerms(x, y, posWeight);
    if (v.inputCount() > 3 && v.need(3)) slopes[3] = mul(y, positiveTerm(x));
    chain(kLogits, v, slopes, grads);
}

constexpr ArgDef kArgs[] = {{"input"},
                            {"target"},
                            {.name = "weight", .optional = true},
                            {.name = "pos_weight", .optional = true}};
constexpr AttrDef kReduction[] = {{"reduction", AttrKind::Int, "1"}};

}  // namespace

constinit OpDef kBinaryCrossEntropy{.name = kPlain,
                                    .family = Family::Nn,
                                    .args = std::span(kArgs).first(3),
                                    .attrs = kReduction,
                                    .types = TypeRule::Promote,
                                    .infer = inferPlain,
                                    .vjp = vjpPlain,
                                    .saveInputs = 0b111,
                                    .kernels = {plainKernel}};
constinit OpDef kBceWithLogits{.name = kLogits,
                               .family = Family::Nn,
                               .args = kArgs,
                               .attrs = kReduction,
                               .types = TypeRule::Promote,
                               .infer = inferLogits,
                               .vjp = vjpLogits,
                               .saveInputs = 0b1111,
                               .kernels = {logitsKernel}};

Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight,
                            Reduction reduction, Site site) {
    return call1(kBinaryCrossEntropy, {&input, &target, &weight}, Attrs(codeOf(reduction)), site);
}
Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target,
                                        Reduction reduction, Site site) {
    return call1(kBceWithLogits, {&logits, &target}, Attrs(codeOf(reduction)), site);
}
Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target,
                                        const Tensor& weight, const Tensor& pos_weight,
                                        Reduction reduction, Site site) {
    return call1(kBceWithLogits, {&logits, &target, &weight, &pos_weight}, Attrs(codeOf(reduction)),
                 site);
}

}  // namespace tapescope::engine
