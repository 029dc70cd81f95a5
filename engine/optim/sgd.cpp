// SPDX-License-Identifier: Apache-2.0
#include "engine/optim/sgd.h"

#include "engine/optim/steps.h"

namespace tapescope::engine::optim {
namespace {

void check(const char* name, const SgdOptions& options) {
    detail::requireNotNegative(name, "lr", options.lr);
    detail::requireNotNegative(name, "momentum", options.momentum);
    detail::requireNotNegative(name, "weight_decay", options.weight_decay);
    if (options.nesterov && (options.momentum == 0 || options.dampening != 0)) {
        throw Error(std::string(name) + ": nesterov needs a momentum above 0 and no dampening");
    }
}

}  // namespace

SGD::SGD(std::vector<Tensor> params, SgdOptions options)
    : SGD(std::vector<ParamGroup<SgdOptions>>{{std::move(params), options}}) {}

SGD::SGD(std::vector<ParamGroup<SgdOptions>> groups)
    : GroupedOptimizer("SGD", std::move(groups), check) {}

void SGD::step(Site site) {
    eachParameter(
        [&](const Tensor& param, const Tensor& grad, const SgdOptions& options, SgdState& state) {
            Tensor& buffer = state.momentum_buffer;
            SgdStep step{.lr = options.lr,
                         .momentum = options.momentum,
                         .dampening = options.dampening,
                         .weight_decay = options.weight_decay,
                         .nesterov = options.nesterov,
                         .maximize = options.maximize};
            if (options.momentum != 0 && !buffer.defined()) {
                buffer = detail::zeroState(param, site);
                step.dampening = 0;  // 0 · momentum + gradient: the buffer starts as the gradient
            }
            sgd_step_(param, grad, options.momentum != 0 ? buffer : Tensor(), step, site);
        });
}

}  // namespace tapescope::engine::optim
