// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <cstddef>
#include <vector>

namespace tapescope::engine::optim {

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
    /// Drops the gradients (set_to_none).
    void zero_grad();

    virtual std::size_t group_count() const = 0;
    virtual double lr(std::size_t group = 0) const = 0;
    virtual void set_lr(std::size_t group, double lr) = 0;
    virtual const std::vector<Tensor>& group_params(std::size_t group) const = 0;

protected:
    Optimizer() = default;
};

/// Parameters that share options (an aggregate with at least `double lr`).
template <class Options>
struct ParamGroup {
    std::vector<Tensor> params;
    Options options;
};

/// The bookkeeping of groups and per-parameter State (an aggregate of tensors, undefined until
/// first used).
template <class Options, class State>
class GroupedOptimizer : public Optimizer {
public:
    std::size_t group_count() const final { return m_groups.size(); }
    double lr(std::size_t group = 0) const final { return m_groups.at(group).options.lr; }
    void set_lr(std::size_t group, double value) final { m_groups.at(group).options.lr = value; }
    const std::vector<Tensor>& group_params(std::size_t group) const final {
        return m_groups.at(group).params;
    }
    Options& options(std::size_t group = 0) { return m_groups.at(group).options; }

protected:
    explicit GroupedOptimizer(std::vector<ParamGroup<Options>> groups)
        : m_groups(std::move(groups)) {
        m_states.reserve(m_groups.size());
        for (const auto& group : m_groups) m_states.emplace_back(group.params.size());
    }

    std::vector<ParamGroup<Options>> m_groups;
    std::vector<std::vector<State>> m_states;  // [group][parameter]
};

/// Scales the gradients so that their joint Euclidean norm is at most max_norm; returns the norm
/// before. Parameters without a gradient count as 0. Source: torch.nn.utils.clip_grad_norm_.
Tensor clip_grad_norm_(const std::vector<Tensor>& params, double max_norm, Site site = {});

}  // namespace tapescope::engine::optim
