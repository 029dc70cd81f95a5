// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/optim/optimizer.h"

#include <cstdint>

namespace tapescope::engine::optim {

struct AdamOptions {
    double lr = 1e-3;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double eps = 1e-8;
    double weight_decay = 0;
    bool amsgrad = false;   ///< divide by the largest second moment so far
    bool maximize = false;  ///< climb instead of descend
    static void visit(auto& o, const auto& fn) {
        fn("lr", o.lr);
        fn("beta1", o.beta1);
        fn("beta2", o.beta2);
        fn("eps", o.eps);
        fn("weight_decay", o.weight_decay);
        fn("amsgrad", o.amsgrad);
        fn("maximize", o.maximize);
    }
};
struct AdamState {
    Tensor exp_avg;
    Tensor exp_avg_sq;
    Tensor max_exp_avg_sq;  ///< of amsgrad
    std::int64_t step = 0;
    static void visit(auto& s, const auto& fn) {
        fn("exp_avg", s.exp_avg);
        fn("exp_avg_sq", s.exp_avg_sq);
        fn("max_exp_avg_sq", s.max_exp_avg_sq);
        fn("step", s.step);
    }
};

/// Adam (Kingma and Ba 2015); weight_decay is added to the gradient. Source: torch.optim.Adam.
class Adam : public GroupedOptimizer<AdamOptions, AdamState> {
public:
    using Optimizer::step;
    /// Throws Error for options PyTorch refuses (negative numbers, betas outside [0, 1)).
    Adam(std::vector<Tensor> params, AdamOptions options);
    explicit Adam(std::vector<ParamGroup<AdamOptions>> groups);
    void step(Site site = {}) final;

protected:
    Adam(const char* name, bool decoupled, std::vector<ParamGroup<AdamOptions>> groups);

private:
    bool m_decoupled;
};

/// Adam with decoupled weight decay (Loshchilov and Hutter 2019): parameters shrink by lr ·
/// weight_decay first. Source: torch.optim.AdamW.
class AdamW final : public Adam {
public:
    /// PyTorch's default for weight_decay is 0.01 here.
    static constexpr AdamOptions kDefaults{.weight_decay = 0.01};
    explicit AdamW(std::vector<Tensor> params, AdamOptions options = kDefaults);
    explicit AdamW(std::vector<ParamGroup<AdamOptions>> groups);
};

}  // namespace tapescope::engine::optim
