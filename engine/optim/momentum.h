// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/optim/optimizer.h"

#include <cstdint>

namespace tapescope::engine::optim {

// Variants of Adam and of momentum.

struct NadamOptions {
    double lr = 2e-3;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double eps = 1e-8;
    double weight_decay = 0;
    double momentum_decay = 4e-3;
    bool decoupled_weight_decay = false;  ///< as AdamW
    bool maximize = false;
    static void visit(auto& o, const auto& fn) {
        fn("lr", o.lr);
        fn("beta1", o.beta1);
        fn("beta2", o.beta2);
        fn("eps", o.eps);
        fn("weight_decay", o.weight_decay);
        fn("momentum_decay", o.momentum_decay);
        fn("decoupled_weight_decay", o.decoupled_weight_decay);
        fn("maximize", o.maximize);
    }
};
struct NadamState {
    Tensor exp_avg;
    Tensor exp_avg_sq;
    std::int64_t step = 0;
    double mu_product = 1;
    static void visit(auto& s, const auto& fn) {
        fn("exp_avg", s.exp_avg);
        fn("exp_avg_sq", s.exp_avg_sq);
        fn("step", s.step);
        fn("mu_product", s.mu_product);
    }
};
/// Adam with Nesterov's momentum (Dozat 2016). Source: torch.optim.NAdam.
class NAdam final : public GroupedOptimizer<NadamOptions, NadamState> {
public:
    using Optimizer::step;
    /// Throws Error for options PyTorch refuses.
    explicit NAdam(std::vector<Tensor> params, NadamOptions options = {});
    explicit NAdam(std::vector<ParamGroup<NadamOptions>> groups);
    void step(Site site = {}) override;
};

struct RadamOptions {
    double lr = 1e-3;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double eps = 1e-8;
    double weight_decay = 0;
    bool decoupled_weight_decay = false;  ///< as AdamW
    bool maximize = false;
    static void visit(auto& o, const auto& fn) {
        fn("lr", o.lr);
        fn("beta1", o.beta1);
        fn("beta2", o.beta2);
        fn("eps", o.eps);
        fn("weight_decay", o.weight_decay);
        fn("decoupled_weight_decay", o.decoupled_weight_decay);
        fn("maximize", o.maximize);
    }
};
struct RadamState {
    Tensor exp_avg;
    Tensor exp_avg_sq;
    std::int64_t step = 0;
    static void visit(auto& s, const auto& fn) {
        fn("exp_avg", s.exp_avg);
        fn("exp_avg_sq", s.exp_avg_sq);
        fn("step", s.step);
    }
};
/// Rectified Adam (Liu et al. 2020): plain momentum until the second moment can be trusted. Source:
/// torch.optim.RAdam.
class RAdam final : public GroupedOptimizer<RadamOptions, RadamState> {
public:
    using Optimizer::step;
    /// Throws Error for options PyTorch refuses.
    explicit RAdam(std::vector<Tensor> params, RadamOptions options = {});
    explicit RAdam(std::vector<ParamGroup<RadamOptions>> groups);
    void step(Site site = {}) override;
};

struct LionOptions {
    double lr = 1e-4;
    double beta1 = 0.9;   ///< of the direction
    double beta2 = 0.99;  ///< of the momentum
    double weight_decay = 0;
    bool maximize = false;
    static void visit(auto& o, const auto& fn) {
        fn("lr", o.lr);
        fn("beta1", o.beta1);
        fn("beta2", o.beta2);
        fn("weight_decay", o.weight_decay);
        fn("maximize", o.maximize);
    }
};
struct LionState {
    Tensor exp_avg;
    static void visit(auto& s, const auto& fn) { fn("exp_avg", s.exp_avg); }
};
/// Lion (Chen et al. 2023): steps by the sign of an interpolated momentum; weight decay is
/// decoupled. PyTorch has none; the defaults are the paper's.
class Lion final : public GroupedOptimizer<LionOptions, LionState> {
public:
    using Optimizer::step;
    /// Throws Error for negative numbers and betas outside [0, 1).
    explicit Lion(std::vector<Tensor> params, LionOptions options = {});
    explicit Lion(std::vector<ParamGroup<LionOptions>> groups);
    void step(Site site = {}) override;
};

struct AsgdOptions {
    double lr = 1e-2;
    double lambd = 1e-4;  ///< decay of the parameters
    double alpha = 0.75;  ///< power of the decay of the rate
    double t0 = 1e6;      ///< step at which averaging starts
    double weight_decay = 0;
    bool maximize = false;
    static void visit(auto& o, const auto& fn) {
        fn("lr", o.lr);
        fn("lambd", o.lambd);
        fn("alpha", o.alpha);
        fn("t0", o.t0);
        fn("weight_decay", o.weight_decay);
        fn("maximize", o.maximize);
    }
};
struct AsgdState {
    Tensor ax;
    std::int64_t step = 0;
    double eta = 0;
    double mu = 1;
    static void visit(auto& s, const auto& fn) {
        fn("ax", s.ax);
        fn("step", s.step);
        fn("eta", s.eta);
        fn("mu", s.mu);
    }
};
/// Averaged stochastic gradient descent (Polyak and Juditsky 1992): the average is in the state,
/// `ax`. Source: torch.optim.ASGD.
class ASGD final : public GroupedOptimizer<AsgdOptions, AsgdState> {
public:
    using Optimizer::step;
    /// Throws Error for options PyTorch refuses.
    explicit ASGD(std::vector<Tensor> params, AsgdOptions options = {});
    explicit ASGD(std::vector<ParamGroup<AsgdOptions>> groups);
    void step(Site site = {}) override;
};

}  // namespace tapescope::engine::optim
