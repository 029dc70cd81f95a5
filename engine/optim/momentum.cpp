// SPDX-License-Identifier: Apache-2.0
#include "engine/optim/momentum.h"

#include "engine/optim/steps.h"

#include <algorithm>
#include <cmath>

namespace tapescope::engine::optim {
namespace {

using detail::requireBelow;
using detail::requireNotNegative;

template <class Options>
void checkMoments(const char* name, const Options& o) {
    requireNotNegative(name, "lr", o.lr);
    requireNotNegative(name, "weight_decay", o.weight_decay);
    requireBelow(name, "beta1", o.beta1, 0, 1);
    requireBelow(name, "beta2", o.beta2, 0, 1);
}

void check(const char* name, const NadamOptions& o) {
    checkMoments(name, o);
    requireNotNegative(name, "eps", o.eps);
    requireNotNegative(name, "momentum_decay", o.momentum_decay);
}
void check(const char* name, const RadamOptions& o) {
    checkMoments(name, o);
    requireNotNegative(name, "eps", o.eps);
}
void check(const char* name, const LionOptions& o) { checkMoments(name, o); }
void check(const char* name, const AsgdOptions& o) {
    requireNotNegative(name, "lr", o.lr);
    requireNotNegative(name, "weight_decay", o.weight_decay);
}

template <class Options>
std::vector<ParamGroup<Options>> oneGroup(std::vector<Tensor> params, const Options& options) {
    return {{std::move(params), options}};
}

/// lr / bc1, times √bc2 · rectification where the variance of the adaptive rate is finite.
RadamStep radamStep(const RadamOptions& o, double step) {
    const double bc1 = 1 - std::pow(o.beta1, step);
    const double power2 = std::pow(o.beta2, step);
    const double bc2 = 1 - power2;
    const double limit = 2 / (1 - o.beta2) - 1;  // of the length of the moving average
    const double length = limit - 2 * step * power2 / bc2;
    RadamStep out{.step_size = o.lr / bc1,
                  .beta1 = o.beta1,
                  .beta2 = o.beta2,
                  .eps = o.eps,
                  .weight_decay = o.decoupled_weight_decay ? 0 : o.weight_decay,
                  .shrink = o.decoupled_weight_decay ? 1 - o.lr * o.weight_decay : 1,
                  .rectified = length > 5,
                  .maximize = o.maximize};
    if (out.rectified) {
        out.step_size *= std::sqrt(bc2) * std::sqrt((length - 4) * (length - 2) * limit /
                                                    ((limit - 4) * (limit - 2) * length));
    }
    return out;
}

}  // namespace

NAdam::NAdam(std::vector<Tensor> params, NadamOptions options)
    : NAdam(oneGroup(std::move(params), options)) {}
NAdam::NAdam(std::vector<ParamGroup<NadamOptions>> groups)
    : GroupedOptimizer("NAdam", std::move(groups), check) {}

void NAdam::step(Site site) {
    eachParameter(
        [&](const Tensor& param, const Tensor& grad, const NadamOptions& o, NadamState& state) {
            if (state.step++ == 0) {
                state.exp_avg = detail::zeroState(param, site);
                state.exp_avg_sq = detail::zeroState(param, site);
            }
            const auto step = static_cast<double>(state.step);
            const auto mu = [&](double at) {
                return o.beta1 * (1 - 0.5 * std::pow(0.96, at * o.momentum_decay));
            };
            state.mu_product *= mu(step);
            const double next = mu(step + 1);
            nadam_step_(param, grad, state.exp_avg, state.exp_avg_sq,
                        {.grad_rate = o.lr * (1 - mu(step)) / (1 - state.mu_product),
                         .momentum_rate = o.lr * next / (1 - state.mu_product * next),
                         .beta1 = o.beta1,
                         .beta2 = o.beta2,
                         .eps = o.eps,
                         .weight_decay = o.decoupled_weight_decay ? 0 : o.weight_decay,
                         .shrink = o.decoupled_weight_decay ? 1 - o.lr * o.weight_decay : 1,
                         .bias_correction2 = 1 - std::pow(o.beta2, step),
                         .maximize = o.maximize},
                        site);
        });
}

RAdam::RAdam(std::vector<Tensor> params, RadamOptions options)
    : RAdam(oneGroup(std::move(params), options)) {}
RAdam::RAdam(std::vector<ParamGroup<RadamOptions>> groups)
    : GroupedOptimizer("RAdam", std::move(groups), check) {}

void RAdam::step(Site site) {
    eachParameter(
        [&](const Tensor& param, const Tensor& grad, const RadamOptions& o, RadamState& state) {
            if (state.step++ == 0) {
                state.exp_avg = detail::zeroState(param, site);
                state.exp_avg_sq = detail::zeroState(param, site);
            }
            radam_step_(param, grad, state.exp_avg, state.exp_avg_sq,
                        radamStep(o, static_cast<double>(state.step)), site);
        });
}

Lion::Lion(std::vector<Tensor> params, LionOptions options)
    : Lion(oneGroup(std::move(params), options)) {}
Lion::Lion(std::vector<ParamGroup<LionOptions>> groups)
    : GroupedOptimizer("Lion", std::move(groups), check) {}

void Lion::step(Site site) {
    eachParameter(
        [&](const Tensor& param, const Tensor& grad, const LionOptions& o, LionState& state) {
            if (!state.exp_avg.defined()) state.exp_avg = detail::zeroState(param, site);
            lion_step_(param, grad, state.exp_avg,
                       {.lr = o.lr,
                        .beta1 = o.beta1,
                        .beta2 = o.beta2,
                        .shrink = 1 - o.lr * o.weight_decay,
                        .maximize = o.maximize},
                       site);
        });
}

ASGD::ASGD(std::vector<Tensor> params, AsgdOptions options)
    : ASGD(oneGroup(std::move(params), options)) {}
ASGD::ASGD(std::vector<ParamGroup<AsgdOptions>> groups)
    : GroupedOptimizer("ASGD", std::move(groups), check) {}

void ASGD::step(Site site) {
    eachParameter(
        [&](const Tensor& param, const Tensor& grad, const AsgdOptions& o, AsgdState& state) {
            if (state.step++ == 0) {
                state.ax = detail::zeroState(param, site);
                state.eta = o.lr;
            }
            asgd_step_(param, grad, state.ax,
                       {.eta = state.eta,
                        .lambd = o.lambd,
                        .mu = state.mu,
                        .weight_decay = o.weight_decay,
                        .maximize = o.maximize},
                       site);
            const auto step = static_cast<double>(state.step);
            state.eta = o.lr / std::pow(1 + o.lambd * o.lr * step, o.alpha);
            state.mu = 1 / std::max(1.0, step - o.t0);
        });
}

}  // namespace tapescope::engine::optim
