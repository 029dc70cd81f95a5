// SPDX-License-Identifier: Apache-2.0
#include "engine/optim/adam.h"

#include "engine/optim/steps.h"

#include <cmath>

namespace tapescope::engine::optim {
namespace {

void check(const char* name, const AdamOptions& options) {
    detail::requireNotNegative(name, "lr", options.lr);
    detail::requireNotNegative(name, "eps", options.eps);
    detail::requireNotNegative(name, "weight_decay", options.weight_decay);
    detail::requireBelow(name, "beta1", options.beta1, 0, 1);
    detail::requireBelow(name, "beta2", options.beta2, 0, 1);
}

using Groups = std::vector<ParamGroup<AdamOptions>>;

}  // namespace

Adam::Adam(const char* name, bool decoupled, Groups groups)
    : GroupedOptimizer(name, std::move(groups), check), m_decoupled(decoupled) {}

Adam::Adam(Groups groups) : Adam("Adam", false, std::move(groups)) {}
Adam::Adam(std::vector<Tensor> params, AdamOptions options)
    : Adam(Groups{{std::move(params), options}}) {}

AdamW::AdamW(Groups groups) : Adam("AdamW", true, std::move(groups)) {}
AdamW::AdamW(std::vector<Tensor> params, AdamOptions options)
    : AdamW(Groups{{std::move(params), options}}) {}

void Adam::step(Site site) {
    eachParameter(
        [&](const Tensor& param, const Tensor& grad, const AdamOptions& options, AdamState& state) {
            if (state.step++ == 0) {
                state.exp_avg = detail::zeroState(param, site);
                state.exp_avg_sq = detail::zeroState(param, site);
            }
            if (options.amsgrad && !state.max_exp_avg_sq.defined())
                state.max_exp_avg_sq = detail::zeroState(param, site);
            const auto step = static_cast<double>(state.step);
            adam_step_(param, grad, state.exp_avg, state.exp_avg_sq,
                       options.amsgrad ? state.max_exp_avg_sq : Tensor(),
                       {.lr = options.lr,
                        .beta1 = options.beta1,
                        .beta2 = options.beta2,
                        .eps = options.eps,
                        .weight_decay = options.weight_decay,
                        .bias_correction1 = 1 - std::pow(options.beta1, step),
                        .bias_correction2 = 1 - std::pow(options.beta2, step),
                        .decoupled = m_decoupled,
                        .maximize = options.maximize},
                       site);
        });
}

}  // namespace tapescope::engine::optim
