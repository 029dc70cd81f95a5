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
    bool maximize = false;  ///< climb instead of descend
    static void visit(auto& o, const auto& fn) {
        fn("lr", o.lr);
        fn("momentum", o.momentum);
        fn("dampening", o.dampening);
        fn("weight_decay", o.weight_decay);
        fn("nesterov", o.nesterov);
        fn("maximize", o.maximize);
    }
};
struct SgdState {
    Tensor momentum_buffer;
    static void visit(auto& s, const auto& fn) { fn("momentum_buffer", s.momentum_buffer); }
};

/// Stochastic gradient descent. Source: torch.optim.SGD: with momentum, the buffer starts as the
/// first gradient.
class SGD final : public GroupedOptimizer<SgdOptions, SgdState> {
public:
    using Optimizer::step;
    /// Throws Error for options PyTorch refuses (negative numbers, nesterov without momentum or
    /// with dampening).
    SGD(std::vector<Tensor> params, SgdOptions options);
    explicit SGD(std::vector<ParamGroup<SgdOptions>> groups);
    void step(Site site = {}) override;
};

}  // namespace tapescope::engine::optim
