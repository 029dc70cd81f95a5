// SPDX-License-Identifier: Apache-2.0
#include "engine/optim/adaptive.h"

#include "engine/optim/steps.h"

#include <cmath>

namespace tapescope::engine::optim {
namespace {

using detail::requireBelow;
using detail::requireNotNegative;

void check(const char* name, const RmspropOptions& o) {
    requireNotNegative(name, "lr", o.lr);
    requireNotNegative(name, "eps", o.eps);
    requireNotNegative(name, "momentum", o.momentum);
    requireNotNegative(name, "weight_decay", o.weight_decay);
    requireNotNegative(name, "alpha", o.alpha);
}

void check(const char* name, const AdagradOptions& o) {
    requireNotNegative(name, "lr", o.lr);
    requireNotNegative(name, "lr_decay", o.lr_decay);
    requireNotNegative(name, "weight_decay", o.weight_decay);
    requireNotNegative(name, "initial_accumulator_value", o.initial_accumulator_value);
    requireNotNegative(name, "eps", o.eps);
}

void check(const char* name, const AdadeltaOptions& o) {
    requireNotNegative(name, "lr", o.lr);
    if (!(o.rho >= 0 && o.rho <= 1)) throw Error(std::string(name) + ": rho must lie in [0, 1]");
    requireNotNegative(name, "eps", o.eps);
    requireNotNegative(name, "weight_decay", o.weight_decay);
}

void check(const char* name, const AdamaxOptions& o) {
    requireNotNegative(name, "lr", o.lr);
    requireNotNegative(name, "eps", o.eps);
    requireNotNegative(name, "weight_decay", o.weight_decay);
    requireBelow(name, "beta1", o.beta1, 0, 1);
    requireBelow(name, "beta2", o.beta2, 0, 1);
}

void check(const char* name, const RpropOptions& o) {
    requireNotNegative(name, "lr", o.lr);
    if (!(o.etaminus > 0 && o.etaminus < 1 && o.etaplus > 1)) {
        throw Error(std::string(name) + ": etaminus must lie in (0, 1) and etaplus above 1");
    }
    if (!(o.step_size_min >= 0 && o.step_size_max >= o.step_size_min)) {
        throw Error(std::string(name) + ": step_size_min must lie in [0, step_size_max]");
    }
}

template <class Options>
std::vector<ParamGroup<Options>> oneGroup(std::vector<Tensor> params, const Options& options) {
    return {{std::move(params), options}};
}

}  // namespace

RMSprop::RMSprop(std::vector<Tensor> params, RmspropOptions options)
    : RMSprop(oneGroup(std::move(params), options)) {}
RMSprop::RMSprop(std::vector<ParamGroup<RmspropOptions>> groups)
    : GroupedOptimizer("RMSprop", std::move(groups), check) {}

void RMSprop::step(Site site) {
    eachParameter(
        [&](const Tensor& param, const Tensor& grad, const RmspropOptions& o, RmspropState& state) {
            if (!state.square_avg.defined()) state.square_avg = detail::zeroState(param, site);
            if (o.momentum > 0 && !state.momentum_buffer.defined())
                state.momentum_buffer = detail::zeroState(param, site);
            if (o.centered && !state.grad_avg.defined())
                state.grad_avg = detail::zeroState(param, site);
            rmsprop_step_(param, grad, state.square_avg,
                          o.momentum > 0 ? state.momentum_buffer : Tensor(),
                          o.centered ? state.grad_avg : Tensor(),
                          {.lr = o.lr,
                           .alpha = o.alpha,
                           .eps = o.eps,
                           .weight_decay = o.weight_decay,
                           .momentum = o.momentum,
                           .maximize = o.maximize},
                          site);
        });
}

Adagrad::Adagrad(std::vector<Tensor> params, AdagradOptions options)
    : Adagrad(oneGroup(std::move(params), options)) {}
Adagrad::Adagrad(std::vector<ParamGroup<AdagradOptions>> groups)
    : GroupedOptimizer("Adagrad", std::move(groups), check) {}

void Adagrad::step(Site site) {
    eachParameter(
        [&](const Tensor& param, const Tensor& grad, const AdagradOptions& o, AdagradState& state) {
            if (state.step++ == 0)
                state.sum = detail::fullState(param, o.initial_accumulator_value, site);
            adagrad_step_(param, grad, state.sum,
                          {.lr = o.lr / (1 + static_cast<double>(state.step - 1) * o.lr_decay),
                           .weight_decay = o.weight_decay,
                           .eps = o.eps,
                           .maximize = o.maximize},
                          site);
        });
}

Adadelta::Adadelta(std::vector<Tensor> params, AdadeltaOptions options)
    : Adadelta(oneGroup(std::move(params), options)) {}
Adadelta::Adadelta(std::vector<ParamGroup<AdadeltaOptions>> groups)
    : GroupedOptimizer("Adadelta", std::move(groups), check) {}

void Adadelta::step(Site site) {
    eachParameter([&](const Tensor& param, const Tensor& grad, const AdadeltaOptions& o,
                      AdadeltaState& state) {
        if (!state.square_avg.defined()) {
            state.square_avg = detail::zeroState(param, site);
            state.acc_delta = detail::zeroState(param, site);
        }
        adadelta_step_(param, grad, state.square_avg, state.acc_delta,
                       {.lr = o.lr,
                        .rho = o.rho,
                        .eps = o.eps,
                        .weight_decay = o.weight_decay,
                        .maximize = o.maximize},
                       site);
    });
}

Adamax::Adamax(std::vector<Tensor> params, AdamaxOptions options)
    : Adamax(oneGroup(std::move(params), options)) {}
Adamax::Adamax(std::vector<ParamGroup<AdamaxOptions>> groups)
    : GroupedOptimizer("Adamax", std::move(groups), check) {}

void Adamax::step(Site site) {
    eachParameter(
        [&](const Tensor& param, const Tensor& grad, const AdamaxOptions& o, AdamaxState& state) {
            if (state.step++ == 0) {
                state.exp_avg = detail::zeroState(param, site);
                state.exp_inf = detail::zeroState(param, site);
            }
            const double bias_correction = 1 - std::pow(o.beta1, static_cast<double>(state.step));
            adamax_step_(param, grad, state.exp_avg, state.exp_inf,
                         {.step_size = o.lr / bias_correction,
                          .beta1 = o.beta1,
                          .beta2 = o.beta2,
                          .eps = o.eps,
                          .weight_decay = o.weight_decay,
                          .maximize = o.maximize},
                         site);
        });
}

Rprop::Rprop(std::vector<Tensor> params, RpropOptions options)
    : Rprop(oneGroup(std::move(params), options)) {}
Rprop::Rprop(std::vector<ParamGroup<RpropOptions>> groups)
    : GroupedOptimizer("Rprop", std::move(groups), check) {}

void Rprop::step(Site site) {
    eachParameter(
        [&](const Tensor& param, const Tensor& grad, const RpropOptions& o, RpropState& state) {
            if (!state.prev.defined()) {
                state.prev = detail::zeroState(param, site);
                state.step_size = detail::fullState(param, o.lr, site);
            }
            rprop_step_(param, grad, state.prev, state.step_size,
                        {.etaminus = o.etaminus,
                         .etaplus = o.etaplus,
                         .step_size_min = o.step_size_min,
                         .step_size_max = o.step_size_max,
                         .maximize = o.maximize},
                        site);
        });
}

}  // namespace tapescope::engine::optim
