// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/number_text.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "engine/optim/optimizer.h"

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

Tensor clip_grad_norm_(const std::vector<Tensor>& params, double max_norm, double norm_type,
                       bool error_if_nonfinite, Site site) {
    if (!(max_norm > 0)) {
        throw Error("clip_grad_norm_: max_norm must be above 0, but is " +
                    nn::numberText(max_norm) + placeSuffix("", site));
    }
    if (std::isnan(norm_type))
        throw Error("clip_grad_norm_: norm_type is NaN" + placeSuffix("", site));
    const NoGradGuard guard;
    const PhaseScope phase(Phase::Optimizer);
    const std::vector<Tensor> grads = gradientsOf(params);
    if (grads.empty()) return zeros({}, {}, site);
    std::vector<Tensor> norms;
    norms.reserve(grads.size());
    for (const Tensor& grad : grads) norms.push_back(vectorNorm(grad, norm_type, site));
    Tensor total = vectorNorm(stack(norms, 0, site), norm_type, site);
    if (error_if_nonfinite && !std::isfinite(total.item())) {
        throw Error("clip_grad_norm_: the norm of the gradients is " +
                    nn::numberText(total.item()) +
                    ", so they cannot be clipped; look for NaN or Inf in the loss, or pass "
                    "error_if_nonfinite=false" +
                    placeSuffix("", site));
    }
    // The 1e-6 is PyTorch's: no division by 0 when every gradient is 0.
    const Tensor scale =
        clamp(div(wrappedNumber(max_norm), add(total, 1e-6, site), site), 0, 1, site);
    for (const Tensor& grad : grads) mul_(grad, scale, site);
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

}  // namespace tapescope::engine::optim
