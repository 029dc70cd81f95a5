// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/tensor/tensor.h"

#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tapescope::engine::optim {

/// Evaluates the model anew: zero_grad, forward, backward; returns the loss.
using Closure = std::function<Tensor()>;

/// What an optimiser knows beside its parameters, by PyTorch's numbering: "state.3.exp_avg" of the
/// parameter number 3 (over all groups), "param_groups.0.lr" of a group.
struct OptimizerState {
    std::map<std::string, Tensor> tensors;
    std::map<std::string, double> numbers;
};

/// Base of the optimisers: parameters in groups that may differ in their options. step() runs
/// without a graph, in Phase::Optimizer, and passes over parameters without a gradient. State is
/// made at the first step that needs it.
class Optimizer {
public:
    virtual ~Optimizer() = default;
    Optimizer(const Optimizer&) = delete;
    Optimizer& operator=(const Optimizer&) = delete;

    /// One update from the accumulated gradients. site: the line of the user's training loop.
    virtual void step(Site site = {}) = 0;
    /// Runs closure with gradients recorded, then updates; returns the closure's loss. LBFGS calls
    /// it more than once.
    virtual Tensor step(const Closure& closure, Site site = {});
    /// Drops the gradients, or fills them with zeros.
    void zero_grad(bool set_to_none = true, Site site = {});

    virtual std::size_t group_count() const = 0;
    virtual double lr(std::size_t group = 0) const = 0;
    virtual void set_lr(std::size_t group, double lr) = 0;
    virtual const std::vector<Tensor>& group_params(std::size_t group) const = 0;
    /// The momentum, or Adam's beta1; none where the optimiser has neither. OneCycleLR and CyclicLR
    /// move it.
    virtual std::optional<double> momentum(std::size_t group = 0) const = 0;
    virtual void set_momentum(std::size_t group, double momentum) = 0;

    virtual OptimizerState state_dict() const = 0;
    /// Copies, in the parameters' dtype. Throws Error where groups, parameters or shapes differ;
    /// nothing has changed then.
    virtual void load_state_dict(const OptimizerState& state) = 0;

    /// A group's rate before any scheduler: set by the first scheduler of this optimiser.
    std::optional<double> initial_lr(std::size_t group) const;
    void set_initial_lr(std::size_t group, double lr);

protected:
    Optimizer() = default;

private:
    std::vector<std::optional<double>> m_initialLr;
};

/// Parameters that share options (an aggregate with at least `double lr`).
template <class Options>
struct ParamGroup {
    std::vector<Tensor> params;
    Options options;
};

namespace detail {
/// Throws Error: an undefined parameter, one that is not a leaf, or one that comes twice (also in
/// `before`).
void checkParams(const char* name, const std::vector<const std::vector<Tensor>*>& before,
                 const std::vector<Tensor>& params);
/// zeros like param, marked MemoryRole::OptimizerState.
Tensor zeroState(const Tensor& param, Site site);
Tensor fullState(const Tensor& param, double value, Site site);
/// A copy of a loaded state tensor for param. Throws Error where the shapes differ.
Tensor loadedState(const std::string& key, const Tensor& param, const Tensor& value);
std::string stateKey(std::size_t param, const char* name);
std::string groupKey(std::size_t group, const char* name);
/// Throws Error "Adam: lr must not be negative".
void requireNotNegative(const char* name, const char* what, double value);
/// Throws Error unless low <= value < high.
void requireBelow(const char* name, const char* what, double value, double low, double high);
/// Throws Error where state has other groups than sizes tell, or a key nobody asked for.
void checkGroups(const char* name, const OptimizerState& state,
                 const std::vector<std::size_t>& sizes);
double numberAt(const OptimizerState& state, const std::string& key, double standard);
}  // namespace detail

/// The bookkeeping of groups and per-parameter State (an aggregate of tensors, undefined until
/// first used). Options and State have a static visit(x, fn) that calls fn("name", x.field) for
/// every field.
template <class Options, class State>
class GroupedOptimizer : public Optimizer {
public:
    using Optimizer::step;

    std::size_t group_count() const final { return m_groups.size(); }
    double lr(std::size_t group = 0) const final { return m_groups.at(group).options.lr; }
    void set_lr(std::size_t group, double value) final { m_groups.at(group).options.lr = value; }
    const std::vector<Tensor>& group_params(std::size_t group) const final {
        return m_groups.at(group).params;
    }
    Options& options(std::size_t group = 0) { return m_groups.at(group).options; }

    std::optional<double> momentum(std::size_t group = 0) const final {
        const Options& options = m_groups.at(group).options;
        if constexpr (requires { options.momentum; }) return options.momentum;
        if constexpr (requires { options.beta1; }) return options.beta1;
        return std::nullopt;
    }
    void set_momentum(std::size_t group, double value) final {
        Options& options = m_groups.at(group).options;
        if constexpr (requires { options.momentum; }) {
            options.momentum = value;
        } else if constexpr (requires { options.beta1; }) {
            options.beta1 = value;
        } else {
            throw Error(std::string(m_name) + ": it has no momentum that could be set to " +
                        std::to_string(value));
        }
    }

    /// Throws Error: options that the constructor refuses, or a parameter that is already there.
    void add_param_group(ParamGroup<Options> group) {
        std::vector<const std::vector<Tensor>*> before;
        for (const auto& known : m_groups) before.push_back(&known.params);
        detail::checkParams(m_name, before, group.params);
        m_check(m_name, group.options);
        m_states.emplace_back(group.params.size());
        m_groups.push_back(std::move(group));
    }

    OptimizerState state_dict() const final {
        OptimizerState out;
        std::size_t number = 0;
        for (std::size_t g = 0; g < m_groups.size(); ++g) {
            out.numbers[detail::groupKey(g, "size")] =
                static_cast<double>(m_groups[g].params.size());
            Options::visit(m_groups[g].options, [&](const char* name, const auto& value) {
                out.numbers[detail::groupKey(g, name)] = static_cast<double>(value);
            });
            for (const State& state : m_states[g]) {
                State::visit(state, [&](const char* name, const auto& value) {
                    const std::string key = detail::stateKey(number, name);
                    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Tensor>) {
                        if (value.defined()) out.tensors[key] = value;
                    } else {
                        out.numbers[key] = static_cast<double>(value);
                    }
                });
                ++number;
            }
        }
        return out;
    }

    void load_state_dict(const OptimizerState& given) final {
        std::vector<std::size_t> sizes;
        for (const auto& group : m_groups) sizes.push_back(group.params.size());
        detail::checkGroups(m_name, given, sizes);
        std::vector<Options> options;
        std::vector<std::vector<State>> states;
        std::size_t number = 0;
        for (std::size_t g = 0; g < m_groups.size(); ++g) {
            Options& loaded = options.emplace_back(m_groups[g].options);
            Options::visit(loaded, [&](const char* name, auto& value) {
                using Value = std::decay_t<decltype(value)>;
                const std::string key = detail::groupKey(g, name);
                value =
                    static_cast<Value>(detail::numberAt(given, key, static_cast<double>(value)));
            });
            m_check(m_name, loaded);
            std::vector<State>& list = states.emplace_back(m_groups[g].params.size());
            for (std::size_t i = 0; i < list.size(); ++i, ++number) {
                State::visit(list[i], [&](const char* name, auto& value) {
                    using Value = std::decay_t<decltype(value)>;
                    const std::string key = detail::stateKey(number, name);
                    if constexpr (std::is_same_v<Value, Tensor>) {
                        const auto at = given.tensors.find(key);
                        if (at != given.tensors.end()) {
                            value = detail::loadedState(key, m_groups[g].params[i], at->second);
                        }
                    } else {
                        value = static_cast<Value>(
                            detail::numberAt(given, key, static_cast<double>(value)));
                    }
                });
            }
        }
        for (std::size_t g = 0; g < m_groups.size(); ++g) m_groups[g].options = options[g];
        m_states = std::move(states);
    }

protected:
    using Check = void (*)(const char* name, const Options&);
    GroupedOptimizer(const char* name, std::vector<ParamGroup<Options>> groups, Check check)
        : m_name(name), m_check(check) {
        if (groups.empty() || (groups.size() == 1 && groups[0].params.empty()))
            throw Error(std::string(name) + ": it got no parameters; give it model.parameters()");
        for (auto& group : groups) add_param_group(std::move(group));
    }

    /// fn(param, gradient, options, state) for every parameter that has a gradient: without a
    /// graph, in Phase::Optimizer.
    template <class Fn>
    void eachParameter(const Fn& fn) {
        const NoGradGuard guard;
        const PhaseScope phase(Phase::Optimizer);
        for (std::size_t g = 0; g < m_groups.size(); ++g) {
            const auto& [params, options] = m_groups[g];
            for (std::size_t i = 0; i < params.size(); ++i) {
                const Tensor grad = params[i].grad();
                if (grad.defined()) fn(params[i], grad, options, m_states[g][i]);
            }
        }
    }

    const char* m_name;
    Check m_check;
    std::vector<ParamGroup<Options>> m_groups;
    std::vector<std::vector<State>> m_states;  // [group][parameter]
};

}  // namespace tapescope::engine::optim
