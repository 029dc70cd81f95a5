// SPDX-License-Identifier: Apache-2.0
#include "engine/optim/optimizer.h"

#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

namespace tapescope::engine::optim {

void Optimizer::zero_grad() {
    for (std::size_t group = 0; group < group_count(); ++group) {
        for (const Tensor& param : group_params(group)) param.set_grad({});
    }
}

Tensor clip_grad_norm_(const std::vector<Tensor>& params, double max_norm, Site site) {
    if (!(max_norm > 0))
        throw Error("clip_grad_norm_: max_norm must be above 0" + placeSuffix("", site));
    const NoGradGuard guard;
    const PhaseScope phase(Phase::Optimizer);
    std::vector<Tensor> grads;
    std::vector<Tensor> norms;
    for (const Tensor& param : params) {
        Tensor grad = param.grad();
        if (!grad.defined()) continue;
        norms.push_back(norm(grad, site));
        grads.push_back(std::move(grad));
    }
    if (grads.empty()) return zeros({}, {}, site);
    Tensor total = norm(stack(norms, 0, site), site);
    // The 1e-6 is PyTorch's: no division by 0 when every gradient is 0.
    const Tensor scale =
        clamp(div(wrappedNumber(max_norm), add(total, 1e-6, site), site), 0, 1, site);
    for (const Tensor& grad : grads) mul_(grad, scale, site);
    return total;
}

}  // namespace tapescope::engine::optim
