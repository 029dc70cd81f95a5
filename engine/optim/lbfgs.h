// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/optim/optimizer.h"

#include <cstdint>
#include <deque>

namespace tapescope::engine::optim {

enum class LineSearch : std::uint8_t { None, StrongWolfe };

struct LbfgsOptions {
    double lr = 1;
    std::int64_t max_iter = 20;
    std::int64_t max_eval = 0;  ///< calls of the closure a step; 0: max_iter · 5/4
    double tolerance_grad = 1e-7;
    double tolerance_change = 1e-9;
    std::int64_t history_size = 100;
    LineSearch line_search_fn = LineSearch::None;
    bool maximize = false;
};

/// L-BFGS (Nocedal and Wright 2006, algorithms 7.4 and 3.5) over all parameters as one vector; it
/// keeps history_size pairs of such vectors. One group. Source: torch.optim.LBFGS.
class LBFGS final : public Optimizer {
public:
    /// Throws Error for negative numbers or no parameters.
    explicit LBFGS(std::vector<Tensor> params, LbfgsOptions options = {});
    /// Throws Error: LBFGS evaluates the model more than once, so it needs the closure.
    void step(Site site = {}) override;
    /// Up to max_iter iterations. Returns the loss before them.
    Tensor step(const Closure& closure, Site site = {}) override;

    std::size_t group_count() const override { return 1; }
    double lr(std::size_t group = 0) const override;
    void set_lr(std::size_t group, double value) override;
    const std::vector<Tensor>& group_params(std::size_t group) const override;
    std::optional<double> momentum(std::size_t) const override { return std::nullopt; }
    void set_momentum(std::size_t group, double value) override;
    OptimizerState state_dict() const override;
    void load_state_dict(const OptimizerState& state) override;

    std::int64_t iterations() const { return m_state.iterations; }
    std::int64_t function_evaluations() const { return m_state.evaluations; }

private:
    struct Pair {
        Tensor y;  ///< change of the gradient
        Tensor s;  ///< change of the parameters
        double rho = 0;
    };
    struct State {
        std::int64_t evaluations = 0;
        std::int64_t iterations = 0;
        Tensor direction;
        double t = 0;
        std::deque<Pair> history;
        double scale = 1;  ///< of the first guess of the inverse Hessian
        Tensor gradient;   ///< of the iteration before
        double loss = 0;
    };

    Tensor flatGradient(Site site) const;
    void move(double t, const Tensor& direction, Site site) const;
    void updateDirection(const Tensor& gradient, Site site);
    double evaluate(const Closure& closure) const;

    std::vector<Tensor> m_params;
    LbfgsOptions m_options;
    State m_state;
};

}  // namespace tapescope::engine::optim
