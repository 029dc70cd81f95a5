// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/optim/optimizer.h"

#include <cstdint>

namespace tapescope::engine::optim {

// Optimisers that scale each element's step by its own gradients.

struct RmspropOptions {
    double lr = 1e-2;
    double alpha = 0.99;  ///< smoothing of the mean square
    double eps = 1e-8;
    double weight_decay = 0;
    double momentum = 0;
    bool centered = false;  ///< subtract the square of the mean gradient
    bool maximize = false;
    static void visit(auto& o, const auto& fn) {
        fn("lr", o.lr);
        fn("alpha", o.alpha);
        fn("eps", o.eps);
        fn("weight_decay", o.weight_decay);
        fn("momentum", o.momentum);
        fn("centered", o.centered);
        fn("maximize", o.maximize);
    }
};
struct RmspropState {
    Tensor square_avg;
    Tensor momentum_buffer;
    Tensor grad_avg;
    static void visit(auto& s, const auto& fn) {
        fn("square_avg", s.square_avg);
        fn("momentum_buffer", s.momentum_buffer);
        fn("grad_avg", s.grad_avg);
    }
};
/// RMSprop (Hinton 2012): the gradient over a running root mean square, centred if asked for, with
/// momentum if asked for. Source: torch.optim.RMSprop.
class RMSprop final : public GroupedOptimizer<RmspropOptions, RmspropState> {
public:
    using Optimizer::step;
    /// Throws Error for options PyTorch refuses.
    explicit RMSprop(std::vector<Tensor> params, RmspropOptions options = {});
    explicit RMSprop(std::vector<ParamGroup<RmspropOptions>> groups);
    void step(Site site = {}) override;
};

struct AdagradOptions {
    double lr = 1e-2;
    double lr_decay = 0;  ///< lr / (1 + (t - 1) · lr_decay)
    double weight_decay = 0;
    double initial_accumulator_value = 0;
    double eps = 1e-10;
    bool maximize = false;
    static void visit(auto& o, const auto& fn) {
        fn("lr", o.lr);
        fn("lr_decay", o.lr_decay);
        fn("weight_decay", o.weight_decay);
        fn("initial_accumulator_value", o.initial_accumulator_value);
        fn("eps", o.eps);
        fn("maximize", o.maximize);
    }
};
struct AdagradState {
    Tensor sum;
    std::int64_t step = 0;
    static void visit(auto& s, const auto& fn) {
        fn("sum", s.sum);
        fn("step", s.step);
    }
};
/// Adagrad (Duchi et al. 2011): the gradient over the root of the sum of its squares. Source:
/// torch.optim.Adagrad.
class Adagrad final : public GroupedOptimizer<AdagradOptions, AdagradState> {
public:
    using Optimizer::step;
    /// Throws Error for options PyTorch refuses.
    explicit Adagrad(std::vector<Tensor> params, AdagradOptions options = {});
    explicit Adagrad(std::vector<ParamGroup<AdagradOptions>> groups);
    void step(Site site = {}) override;
};

struct AdadeltaOptions {
    double lr = 1;
    double rho = 0.9;  ///< smoothing of both mean squares
    double eps = 1e-6;
    double weight_decay = 0;
    bool maximize = false;
    static void visit(auto& o, const auto& fn) {
        fn("lr", o.lr);
        fn("rho", o.rho);
        fn("eps", o.eps);
        fn("weight_decay", o.weight_decay);
        fn("maximize", o.maximize);
    }
};
struct AdadeltaState {
    Tensor square_avg;
    Tensor acc_delta;
    static void visit(auto& s, const auto& fn) {
        fn("square_avg", s.square_avg);
        fn("acc_delta", s.acc_delta);
    }
};
/// Adadelta (Zeiler 2012): the step's unit comes from the steps before. Source:
/// torch.optim.Adadelta.
class Adadelta final : public GroupedOptimizer<AdadeltaOptions, AdadeltaState> {
public:
    using Optimizer::step;
    /// Throws Error for options PyTorch refuses.
    explicit Adadelta(std::vector<Tensor> params, AdadeltaOptions options = {});
    explicit Adadelta(std::vector<ParamGroup<AdadeltaOptions>> groups);
    void step(Site site = {}) override;
};

struct AdamaxOptions {
    double lr = 2e-3;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double eps = 1e-8;
    double weight_decay = 0;
    bool maximize = false;
    static void visit(auto& o, const auto& fn) {
        fn("lr", o.lr);
        fn("beta1", o.beta1);
        fn("beta2", o.beta2);
        fn("eps", o.eps);
        fn("weight_decay", o.weight_decay);
        fn("maximize", o.maximize);
    }
};
struct AdamaxState {
    Tensor exp_avg;
    Tensor exp_inf;
    std::int64_t step = 0;
    static void visit(auto& s, const auto& fn) {
        fn("exp_avg", s.exp_avg);
        fn("exp_inf", s.exp_inf);
        fn("step", s.step);
    }
};
/// Adamax (Kingma and Ba 2015): Adam with the infinity norm. Source: torch.optim.Adamax.
class Adamax final : public GroupedOptimizer<AdamaxOptions, AdamaxState> {
public:
    using Optimizer::step;
    /// Throws Error for options PyTorch refuses.
    explicit Adamax(std::vector<Tensor> params, AdamaxOptions options = {});
    explicit Adamax(std::vector<ParamGroup<AdamaxOptions>> groups);
    void step(Site site = {}) override;
};

struct RpropOptions {
    double lr = 1e-2;  ///< the first step size
    double etaminus = 0.5;
    double etaplus = 1.2;
    double step_size_min = 1e-6;
    double step_size_max = 50;
    bool maximize = false;
    static void visit(auto& o, const auto& fn) {
        fn("lr", o.lr);
        fn("etaminus", o.etaminus);
        fn("etaplus", o.etaplus);
        fn("step_size_min", o.step_size_min);
        fn("step_size_max", o.step_size_max);
        fn("maximize", o.maximize);
    }
};
struct RpropState {
    Tensor prev;
    Tensor step_size;
    static void visit(auto& s, const auto& fn) {
        fn("prev", s.prev);
        fn("step_size", s.step_size);
    }
};
/// Resilient backpropagation (Riedmiller and Braun 1993): a step size for every element, moved by
/// the sign of its gradient. For whole batches. Source: torch.optim.Rprop.
class Rprop final : public GroupedOptimizer<RpropOptions, RpropState> {
public:
    using Optimizer::step;
    /// Throws Error for options PyTorch refuses.
    explicit Rprop(std::vector<Tensor> params, RpropOptions options = {});
    explicit Rprop(std::vector<ParamGroup<RpropOptions>> groups);
    void step(Site site = {}) override;
};

}  // namespace tapescope::engine::optim
