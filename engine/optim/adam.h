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
};
struct AdamState {
    Tensor exp_avg;
    Tensor exp_avg_sq;
    std::int64_t step = 0;
};

/// Adam (Kingma and Ba 2015); weight_decay is added to the gradient. Source: torch.optim.Adam.
class Adam : public GroupedOptimizer<AdamOptions, AdamState> {
public:
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
