// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/optim/optimizer.h"

namespace tapescope::engine::optim {

struct SgdOptions {
    double lr = 1e-3;
    double momentum = 0;
    double dampening = 0;
    double weight_decay = 0;
    bool nesterov = false;
};
struct SgdState {
    Tensor momentum_buffer;
};

/// Stochastic gradient descent. Source: torch.optim.SGD: with momentum, the buffer starts as the
/// first gradient.
class SGD final : public GroupedOptimizer<SgdOptions, SgdState> {
public:
    /// Throws Error for options PyTorch refuses (negative numbers, nesterov without momentum or
    /// with dampening).
    SGD(std::vector<Tensor> params, SgdOptions options);
    explicit SGD(std::vector<ParamGroup<SgdOptions>> groups);
    void step(Site site = {}) override;
};

}  // namespace tapescope::engine::optim
