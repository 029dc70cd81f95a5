// SPDX-License-Identifier: Apache-2.0
#include "engine/optim/sgd.h"

#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/shape.h"
#include "engine/optim/steps.h"

namespace tapescope::engine::optim {
namespace {

void check(const SgdOptions& options) {
    if (!(options.lr >= 0)) throw Error("SGD: lr must not be negative");
    if (!(options.momentum >= 0)) throw Error("SGD: momentum must not be negative");
    if (!(options.weight_decay >= 0)) throw Error("SGD: weight_decay must not be negative");
    if (options.nesterov && (options.momentum == 0 || options.dampening != 0)) {
        throw Error("SGD: nesterov needs a momentum above 0 and no dampening");
    }
}

}  // namespace

SGD::SGD(std::vector<Tensor> params, SgdOptions options)
    : SGD(std::vector<ParamGroup<SgdOptions>>{{std::move(params), options}}) {}

SGD::SGD(std::vector<ParamGroup<SgdOptions>> groups) : GroupedOptimizer(std::move(groups)) {
    for (const auto& group : m_groups) check(group.options);
}

void SGD::step(Site site) {
    const NoGradGuard guard;
    const PhaseScope phase(Phase::Optimizer);
    for (std::size_t g = 0; g < m_groups.size(); ++g) {
        const auto& [params, options] = m_groups[g];
        for (std::size_t i = 0; i < params.size(); ++i) {
            const Tensor grad = params[i].grad();
            if (!grad.defined()) continue;
            Tensor& buffer = m_states[g][i].momentum_buffer;
            SgdStep step{.lr = options.lr,
                         .momentum = options.momentum,
                         .dampening = options.dampening,
                         .weight_decay = options.weight_decay,
                         .nesterov = options.nesterov};
            if (options.momentum != 0 && !buffer.defined()) {
                buffer = zeros_like(params[i], site);
                buffer.set_role(MemoryRole::OptimizerState);
                step.dampening = 0;  // 0 · momentum + gradient: the buffer starts as the gradient
            }
            sgd_step_(params[i], grad, buffer, step, site);
        }
    }
}

}  // namespace tapescope::engine::optim
