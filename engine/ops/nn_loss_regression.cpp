// SPDX-License-Identifier: Apache-2.0
// Regression losses and losses of distributions, composed of operators.
#include "engine/observe/context.h"
#include "engine/ops/checks.h"
#include "engine/ops/composite.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/nn_reduction.h"
#include "engine/ops/nn_rows.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"

#include <cmath>
#include <numbers>

namespace tapescope::engine {

namespace {

/// low where |d| < bound, else high.
Tensor byDistance(const Tensor& distance, double bound, const Tensor& low, const Tensor& high,
                  Site site) {
    return where(lt(distance, wrappedNumber(bound), site), low, high, site);
}

Tensor smoothL1(const OpArgs& a, Site site) {
    return smooth_l1_loss(a[0], a[1], reductionAttr("smooth_l1_loss", a.attrs, 0), a.attrs.real(1),
                          site);
}
Tensor huber(const OpArgs& a, Site site) {
    return huber_loss(a[0], a[1], reductionAttr("huber_loss", a.attrs, 0), a.attrs.real(1), site);
}
Tensor klDiv(const OpArgs& a, Site site) {
    return kl_div(a[0], a[1], static_cast<Reduction>(a.attrs.integer(0)), a.attrs.flag(1), site);
}
Tensor poissonNll(const OpArgs& a, Site site) {
    return poisson_nll_loss(a[0], a[1], a.attrs.flag(0), a.attrs.flag(1), a.attrs.real(2),
                            reductionAttr("poisson_nll_loss", a.attrs, 3), site);
}
Tensor gaussianNll(const OpArgs& a, Site site) {
    return gaussian_nll_loss(a[0], a[1], a[2], a.attrs.flag(0), a.attrs.real(1),
                             reductionAttr("gaussian_nll_loss", a.attrs, 2), site);
}

constexpr ArgDef kPair[] = {{"input"}, {"target"}};
constexpr ArgDef kWithVar[] = {{"input"}, {"target"}, {"var"}};
constexpr AttrDef kReduction{"reduction", AttrKind::Int, "1"};
constexpr AttrDef kSmoothAttrs[] = {kReduction, {"beta", AttrKind::Float, "1"}};
constexpr AttrDef kHuberAttrs[] = {kReduction, {"delta", AttrKind::Float, "1"}};
constexpr AttrDef kKlAttrs[] = {kReduction, {"log_target", AttrKind::Bool, "false"}};
constexpr AttrDef kPoissonAttrs[] = {{"log_input", AttrKind::Bool, "true"},
                                     {"full", AttrKind::Bool, "false"},
                                     {"eps", AttrKind::Float, "1e-08"},
                                     kReduction};
constexpr AttrDef kGaussianAttrs[] = {
    {"full", AttrKind::Bool, "false"}, {"eps", AttrKind::Float, "1e-06"}, kReduction};

constexpr OpDef row(std::string_view name, std::span<const ArgDef> args,
                    std::span<const AttrDef> attrs, CompositeFn composite) {
    return {
        .name = name, .family = Family::Nn, .args = args, .attrs = attrs, .composite = composite};
}

}  // namespace

constinit OpDef kSmoothL1Loss = row("smooth_l1_loss", kPair, kSmoothAttrs, composeOne<smoothL1>);
constinit OpDef kHuberLoss = row("huber_loss", kPair, kHuberAttrs, composeOne<huber>);
constinit OpDef kKlDiv = row("kl_div", kPair, kKlAttrs, composeOne<klDiv>);
constinit OpDef kPoissonNllLoss =
    row("poisson_nll_loss", kPair, kPoissonAttrs, composeOne<poissonNll>);
constinit OpDef kGaussianNllLoss =
    row("gaussian_nll_loss", kWithVar, kGaussianAttrs, composeOne<gaussianNll>);

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, Reduction reduction, double beta,
                      Site site) try {
    if (!(beta >= 0))
        throw Error("smooth_l1_loss: beta " + std::to_string(beta) + " must not be negative");
    pairSizes("smooth_l1_loss", input.sizes(), target.sizes());
    checkRealLoss("smooth_l1_loss", input.dtype(), target.dtype());
    if (beta == 0) return l1_loss(input, target, reduction, site);
    const Tensor distance = abs(sub(input, target, site), site);
    const Tensor terms = byDistance(distance, beta, mul(square(distance, site), 0.5 / beta, site),
                                    sub(distance, 0.5 * beta, site), site);
    return reduced("smooth_l1_loss", terms, reduction, site);
} catch (const Error&) {
    rethrowPlaced(site);
}

Tensor huber_loss(const Tensor& input, const Tensor& target, Reduction reduction, double delta,
                  Site site) try {
    if (!(delta > 0))
        throw Error("huber_loss: delta " + std::to_string(delta) + " must be greater than 0");
    pairSizes("huber_loss", input.sizes(), target.sizes());
    checkRealLoss("huber_loss", input.dtype(), target.dtype());
    const Tensor distance = abs(sub(input, target, site), site);
    const Tensor terms = byDistance(distance, delta, mul(square(distance, site), 0.5, site),
                                    mul(sub(distance, 0.5 * delta, site), delta, site), site);
    return reduced("huber_loss", terms, reduction, site);
} catch (const Error&) {
    rethrowPlaced(site);
}

Tensor kl_div(const Tensor& input, const Tensor& target, Reduction reduction, bool log_target,
              Site site) try {
    pairSizes("kl_div", input.sizes(), target.sizes());
    checkRealLoss("kl_div", input.dtype(), target.dtype());
    Tensor terms;
    if (log_target) {
        terms = mul(exp(target, site), sub(target, input, site), site);
    } else {
        // 0 log 0 is 0, and its gradient must not be NaN.
        const Tensor positive = gt(target, wrappedNumber(0.0), site);
        const Tensor safe = where(positive, target, ones_like(target, site), site);
        terms = sub(mul(target, log(safe, site), site), mul(target, input, site), site);
    }
    if (reduction != Reduction::BatchMean) return reduced("kl_div", terms, reduction, site);
    if (terms.dim() == 0) return terms;
    return div(sum(terms, {}, false, site), static_cast<double>(input.size(0)), site);
} catch (const Error&) {
    rethrowPlaced(site);
}

Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input, bool full,
                        double eps, Reduction reduction, Site site) try {
    pairSizes("poisson_nll_loss", input.sizes(), target.sizes());
    Tensor terms = log_input
                       ? sub(exp(input, site), mul(target, input, site), site)
                       : sub(input, mul(target, log(add(input, eps, site), site), site), site);
    if (full) {
        // Stirling: log n! for n > 1.
        const Tensor large = gt(target, wrappedNumber(1.0), site);
        const Tensor safe = where(large, target, ones_like(target, site), site);
        const Tensor stirling =
            add(sub(mul(safe, log(safe, site), site), safe, site),
                mul(log(mul(safe, 2 * std::numbers::pi, site), site), 0.5, site), site);
        terms = add(terms, masked_fill(stirling, logical_not(large, site), 0, site), site);
    }
    return reduced("poisson_nll_loss", terms, reduction, site);
} catch (const Error&) {
    rethrowPlaced(site);
}

Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var, bool full,
                         double eps, Reduction reduction, Site site) try {
    constexpr std::string_view kOp = "gaussian_nll_loss";
    pairSizes(kOp, input.sizes(), target.sizes());
    checkRealLoss(kOp, promoteTypes(input.dtype(), target.dtype()), var.dtype());
    Tensor spread = var;
    if (var.sizes() != input.sizes()) {
        Dims lead = input.sizes();
        if (!lead.empty()) lead.resize(lead.size() - 1);
        Dims single = lead;
        single.push_back(1);
        if (var.sizes() == lead && !input.sizes().empty()) {
            spread = unsqueeze(var, -1, site);
        } else if (var.sizes() != single) {
            throw ShapeError(message(kOp, ": var ", var.sizes(), " must be ", input.sizes(),
                                     ", or without the last dimension, or with 1 there"));
        }
    }
    Tensor lifted;
    {
        const NoGradGuard guard;
        if (any(lt(spread, wrappedNumber(0.0))).item() != 0)
            throw Error(message(kOp, ": var has a negative element; it must be a variance"));
        // Not differentiated, as in PyTorch: the gradient goes to var where it was lifted too.
        lifted = sub(clamp(spread, eps, std::numeric_limits<double>::infinity()), spread);
    }
    spread = add(spread, lifted, site);
    const Tensor distance = div(square(sub(input, target, site), site), spread, site);
    Tensor terms = mul(add(log(spread, site), distance, site), 0.5, site);
    if (full) terms = add(terms, 0.5 * std::log(2 * std::numbers::pi), site);
    return reduced(kOp, terms, reduction, site);
} catch (const Error&) {
    rethrowPlaced(site);
}

}  // namespace tapescope::engine
