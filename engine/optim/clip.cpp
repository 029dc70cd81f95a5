// SPDX-License-Identifier: Apache-2.0
#include "engine/optim/clip.h"

#include "engine/debug/tensor_stats.h"
#include "engine/errors.h"
#include "engine/nn/number_text.h"
#include "engine/observe/context.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

#include <algorithm>
#include <cmath>

namespace tapescope::engine::optim {
namespace {

/// The p-norm of all elements. Source: torch.linalg.vector_norm.
Tensor vectorNorm(const Tensor& x, double p, Site site) {
    if (p == 2) return norm(x, site);
    const Tensor size = abs(x, site);
    if (std::isinf(p)) return p > 0 ? amax(size, {}, false, site) : amin(size, {}, false, site);
    if (p == 0) return sum(to(ne(x, wrappedNumber(0.0), site), x.dtype(), site), {}, false, site);
    if (p == 1) return sum(size, {}, false, site);
    return pow(sum(pow(size, p, site), {}, false, site), 1 / p, site);
}

std::vector<Tensor> gradientsOf(const std::vector<Tensor>& params) {
    std::vector<Tensor> grads;
    for (const Tensor& param : params) {
        Tensor grad = param.grad();
        if (grad.defined()) grads.push_back(std::move(grad));
    }
    return grads;
}

}  // namespace

Tensor get_total_norm(const std::vector<Tensor>& params, double norm_type, bool error_if_nonfinite,
                      Site site) {
    if (std::isnan(norm_type))
        throw Error("get_total_norm: norm_type is NaN" + placeSuffix("", site));
    const NoGradGuard guard;
    const PhaseScope phase(Phase::Optimizer);
    const std::vector<Tensor> grads = gradientsOf(params);
    if (grads.empty()) return zeros({}, {}, site);
    std::vector<Tensor> norms;
    norms.reserve(grads.size());
    for (const Tensor& grad : grads) norms.push_back(vectorNorm(grad, norm_type, site));
    Tensor total = vectorNorm(stack(norms, 0, site), norm_type, site);
    if (error_if_nonfinite && !std::isfinite(total.item())) {
        throw Error("get_total_norm: the norm of the gradients is " + nn::numberText(total.item()) +
                    ", so they cannot be clipped; look for NaN or Inf in the loss, or pass "
                    "error_if_nonfinite=false" +
                    placeSuffix("", site));
    }
    return total;
}

void clip_grads_with_norm_(const std::vector<Tensor>& params, double max_norm,
                           const Tensor& total_norm, Site site) {
    if (!(max_norm > 0)) {
        throw Error("clip_grad_norm_: max_norm must be above 0, but is " +
                    nn::numberText(max_norm) + placeSuffix("", site));
    }
    const NoGradGuard guard;
    const PhaseScope phase(Phase::Optimizer);
    // The 1e-6 is PyTorch's: no division by 0 when every gradient is 0.
    const Tensor scale =
        clamp(div(wrappedNumber(max_norm), add(total_norm, 1e-6, site), site), 0, 1, site);
    for (const Tensor& grad : gradientsOf(params)) mul_(grad, scale, site);
}

Tensor clip_grad_norm_(const std::vector<Tensor>& params, double max_norm, double norm_type,
                       bool error_if_nonfinite, Site site) {
    Tensor total = get_total_norm(params, norm_type, error_if_nonfinite, site);
    clip_grads_with_norm_(params, max_norm, total, site);
    return total;
}

void clip_grad_value_(const std::vector<Tensor>& params, double clip_value, Site site) {
    if (!(clip_value >= 0)) {
        throw Error("clip_grad_value_: clip_value must not be negative, but is " +
                    nn::numberText(clip_value) + placeSuffix("", site));
    }
    const NoGradGuard guard;
    const PhaseScope phase(Phase::Optimizer);
    for (const Tensor& grad : gradientsOf(params)) {
        copy_(grad, clamp(grad, -clip_value, clip_value, site), site);
    }
}

std::string GradientNorm::sentence() const {
    switch (verdict) {
        case Verdict::Finite:
            return {};
        case Verdict::Overflow:
            return "overflow of the norm: every gradient is finite and their norm is " +
                   nn::numberText(wideNorm) +
                   ", but its square is beyond float32, so clipping makes every gradient 0 and "
                   "the step is lost; lower the learning rate, or scale the loss down";
        case Verdict::NonFinite:
            break;
    }
    std::string names;
    constexpr std::size_t kShown = 3;
    for (std::size_t i = 0; i < std::min(kShown, nonFinite.size()); ++i)
        names += (i == 0 ? "" : ", ") + nonFinite[i];
    if (nonFinite.size() > kShown)
        names += " and " + std::to_string(nonFinite.size() - kShown) + " more";
    return "non-finite gradient in " + names +
           ": clipping makes every gradient NaN; break on the backward of what made it, or turn "
           "anomaly mode on";
}

GradientNorm explain_gradient_norm(std::span<const std::pair<std::string, Tensor>> params) {
    GradientNorm result;
    std::vector<Tensor> tensors;
    for (const auto& [name, param] : params) {
        tensors.push_back(param);
        if (!param.grad().defined()) continue;
        const debug::TensorStats stats = debug::tensorStats(param.grad());
        if (stats.nanCount + stats.infCount > 0) {
            result.nonFinite.push_back(name);
        } else if (stats.numel > 0) {
            // A gradient's root of its sum of squares; hypot squares nothing that could overflow.
            const double own =
                std::sqrt(static_cast<double>(stats.numel)) * std::hypot(stats.std, stats.mean);
            result.wideNorm = std::hypot(result.wideNorm, own);
        }
    }
    result.norm = get_total_norm(tensors).item();
    if (!result.nonFinite.empty()) {
        result.wideNorm = result.norm;
        result.verdict = GradientNorm::Verdict::NonFinite;
    } else if (!std::isfinite(result.norm)) {
        result.verdict = GradientNorm::Verdict::Overflow;
    }
    return result;
}

}  // namespace tapescope::engine::optim
