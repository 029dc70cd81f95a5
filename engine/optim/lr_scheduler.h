// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/optim/optimizer.h"

#include <cstdint>
#include <vector>

namespace tapescope::engine::optim {

/// Sets the learning rates of an optimiser from the number of step() calls. The rates it finds at
/// construction are the base; construction already applies the rule for 0. One scheduler an
/// optimiser; the optimiser must outlive it.
class LRScheduler {
public:
    virtual ~LRScheduler() = default;
    LRScheduler(const LRScheduler&) = delete;
    LRScheduler& operator=(const LRScheduler&) = delete;
    /// After the optimiser's step.
    void step();
    /// Calls of step() so far.
    std::int64_t last_epoch() const { return m_count; }

protected:
    explicit LRScheduler(Optimizer& optimizer);
    /// The rate after `count` steps, from a group's base rate.
    virtual double rate(double base, std::int64_t count) const = 0;
    /// To be called at the end of a subclass's constructor.
    void apply();

private:
    Optimizer& m_optimizer;
    std::vector<double> m_base;
    std::int64_t m_count = 0;
};

/// base · gamma^⌊count / step_size⌋. Source: torch.optim.lr_scheduler.StepLR.
class StepLR final : public LRScheduler {
public:
    /// Throws Error unless step_size > 0.
    StepLR(Optimizer& optimizer, std::int64_t step_size, double gamma = 0.1);

private:
    double rate(double base, std::int64_t count) const override;
    std::int64_t m_stepSize;
    double m_gamma;
};

/// Half a cosine from base down to eta_min over T_max steps (and up again after them). Source: the
/// closed form of torch.optim.lr_scheduler.CosineAnnealingLR.
class CosineAnnealingLR final : public LRScheduler {
public:
    /// Throws Error unless T_max > 0.
    CosineAnnealingLR(Optimizer& optimizer, std::int64_t T_max, double eta_min = 0);

private:
    double rate(double base, std::int64_t count) const override;
    std::int64_t m_tMax;
    double m_etaMin;
};

/// A straight line from base · start_factor to base · end_factor over total_iters steps, then
/// constant: a warm-up. Source: torch.optim.lr_scheduler.LinearLR.
class LinearLR final : public LRScheduler {
public:
    /// Throws Error unless total_iters > 0 and start_factor lies in (0, 1], end_factor in [0, 1].
    LinearLR(Optimizer& optimizer, double start_factor = 1.0 / 3, double end_factor = 1,
             std::int64_t total_iters = 5);

private:
    double rate(double base, std::int64_t count) const override;
    double m_start;
    double m_end;
    std::int64_t m_total;
};

}  // namespace tapescope::engine::optim
