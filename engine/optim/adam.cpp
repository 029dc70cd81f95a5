// SPDX-License-Identifier: Apache-2.0
#include "engine/optim/adam.h"

#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/shape.h"
#include "engine/optim/steps.h"

#include <cmath>
#include <string>

namespace tapescope::engine::optim {
namespace {

void check(const char* name, const AdamOptions& options) {
    const std::string who = name;
    if (!(options.lr >= 0)) throw Error(who + ": lr must not be negative");
    if (!(options.eps >= 0)) throw Error(who + ": eps must not be negative");
    if (!(options.weight_decay >= 0)) throw Error(who + ": weight_decay must not be negative");
    for (const double beta : {options.beta1, options.beta2}) {
        if (!(beta >= 0 && beta < 1)) throw Error(who + ": beta1 and beta2 must lie in [0, 1)");
    }
}

Tensor newState(const Tensor& param, Site site) {
    Tensor state = zeros_like(param, site);
    state.set_role(MemoryRole::OptimizerState);
    return state;
}

using Groups = std::vector<ParamGroup<AdamOptions>>;

}  // namespace

Adam::Adam(const char* name, bool decoupled, Groups groups)
    : GroupedOptimizer(std::move(groups)), m_decoupled(decoupled) {
    for (const auto& group : m_groups) check(name, group.options);
}

Adam::Adam(Groups groups) : Adam("Adam", false, std::move(groups)) {}
Adam::Adam(std::vector<Tensor> params, AdamOptions options)
    : Adam(Groups{{std::move(params), options}}) {}

AdamW::AdamW(Groups groups) : Adam("AdamW", true, std::move(groups)) {}
AdamW::AdamW(std::vector<Tensor> params, AdamOptions options)
    : AdamW(Groups{{std::move(params), options}}) {}

void Adam::step(Site site) {
    const NoGradGuard guard;
    const PhaseScope phase(Phase::Optimizer);
    for (std::size_t g = 0; g < m_groups.size(); ++g) {
        const auto& [params, options] = m_groups[g];
        for (std::size_t i = 0; i < params.size(); ++i) {
            const Tensor grad = params[i].grad();
            if (!grad.defined()) continue;
            AdamState& state = m_states[g][i];
            if (state.step++ == 0) {
                state.exp_avg = newState(params[i], site);
                state.exp_avg_sq = newState(params[i], site);
            }
            const auto step = static_cast<double>(state.step);
            adam_step_(params[i], grad, state.exp_avg, state.exp_avg_sq,
                       {.lr = options.lr,
                        .beta1 = options.beta1,
                        .beta2 = options.beta2,
                        .eps = options.eps,
                        .weight_decay = options.weight_decay,
                        .bias_correction1 = 1 - std::pow(options.beta1, step),
                        .bias_correction2 = 1 - std::pow(options.beta2, step),
                        .decoupled = m_decoupled},
                       site);
        }
    }
}

}  // namespace tapescope::engine::optim
