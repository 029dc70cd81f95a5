// SPDX-License-Identifier: Apache-2.0
#include "engine/optim/optimizer.h"

#include "engine/nn/number_text.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"

#include <unordered_set>

namespace tapescope::engine::optim {

Tensor Optimizer::step(const Closure& closure, Site site) {
    Tensor loss;
    {
        const GradModeGuard recorded(true);
        loss = closure();
    }
    step(site);
    return loss;
}

void Optimizer::zero_grad(bool set_to_none, Site site) {
    const NoGradGuard guard;
    const PhaseScope phase(Phase::Optimizer);
    for (std::size_t group = 0; group < group_count(); ++group) {
        for (const Tensor& param : group_params(group)) {
            if (set_to_none || !param.grad().defined()) {
                param.set_grad({});
            } else {
                param.set_grad(zeros_like(param.grad(), site));
            }
        }
    }
}

std::optional<double> Optimizer::initial_lr(std::size_t group) const {
    return group < m_initialLr.size() ? m_initialLr[group] : std::nullopt;
}

void Optimizer::set_initial_lr(std::size_t group, double lr) {
    if (group >= m_initialLr.size()) m_initialLr.resize(group + 1);
    m_initialLr[group] = lr;
}

namespace detail {

void checkParams(const char* name, const std::vector<const std::vector<Tensor>*>& before,
                 const std::vector<Tensor>& params) {
    std::unordered_set<const TensorImpl*> seen;
    for (const auto* list : before) {
        for (const Tensor& param : *list) seen.insert(param.impl());
    }
    for (std::size_t i = 0; i < params.size(); ++i) {
        const std::string who = std::string(name) + ": parameter " + std::to_string(i);
        if (!params[i].defined()) throw Error(who + " is an undefined tensor; leave it out");
        if (!params[i].is_leaf()) {
            throw Error(who + ", " + params[i].meta().toString() +
                        ", is the result of an operator; an optimiser takes leaves, as "
                        "model.parameters() gives them");
        }
        if (!seen.insert(params[i].impl()).second) {
            throw Error(who + ", " + params[i].meta().toString() +
                        ", comes twice; put every parameter into one group, once");
        }
    }
}

Tensor zeroState(const Tensor& param, Site site) {
    Tensor state = zeros_like(param, site);
    state.set_role(MemoryRole::OptimizerState);
    return state;
}

Tensor fullState(const Tensor& param, double value, Site site) {
    Tensor state = full(param.sizes(), value, {.dtype = param.dtype()}, site);
    state.set_role(MemoryRole::OptimizerState);
    return state;
}

Tensor loadedState(const std::string& key, const Tensor& param, const Tensor& value) {
    if (value.sizes() != param.sizes()) {
        throw Error("load_state_dict: " + key + " is " + value.meta().toString() +
                    ", but its parameter is " + param.meta().toString() +
                    "; load the state of the same model");
    }
    const NoGradGuard guard;
    Tensor copy = Tensor::empty(param.sizes(), param.dtype(), MemoryRole::OptimizerState);
    copy_(copy, value, Site::none());
    return copy;
}

std::string stateKey(std::size_t param, const char* name) {
    return "state." + std::to_string(param) + "." + name;
}

std::string groupKey(std::size_t group, const char* name) {
    return "param_groups." + std::to_string(group) + "." + name;
}

void requireNotNegative(const char* name, const char* what, double value) {
    if (value >= 0) return;
    throw Error(std::string(name) + ": " + what + " must not be negative, but is " +
                nn::numberText(value));
}

void requireBelow(const char* name, const char* what, double value, double low, double high) {
    if (value >= low && value < high) return;
    throw Error(std::string(name) + ": " + what + " must lie in [" + nn::numberText(low) + ", " +
                nn::numberText(high) + "), but is " + nn::numberText(value));
}

void checkGroups(const char* name, const OptimizerState& state,
                 const std::vector<std::size_t>& sizes) {
    std::size_t groups = 0;
    while (state.numbers.contains(groupKey(groups, "size"))) ++groups;
    if (groups != sizes.size()) {
        throw Error(std::string(name) + ": the state to load has " + std::to_string(groups) +
                    " parameter groups, this optimiser has " + std::to_string(sizes.size()));
    }
    for (std::size_t g = 0; g < groups; ++g) {
        const double size = state.numbers.at(groupKey(g, "size"));
        if (size == static_cast<double>(sizes[g])) continue;
        throw Error(std::string(name) + ": group " + std::to_string(g) + " of the state to load " +
                    "has " + nn::numberText(size) + " parameters, this optimiser's has " +
                    std::to_string(sizes[g]));
    }
}

double numberAt(const OptimizerState& state, const std::string& key, double standard) {
    const auto at = state.numbers.find(key);
    return at == state.numbers.end() ? standard : at->second;
}

}  // namespace detail
}  // namespace tapescope::engine::optim
