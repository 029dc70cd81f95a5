// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/optim/lr_scheduler.h"

#include <limits>

namespace tapescope::engine::optim {

enum class Anneal : std::uint8_t { Cosine, Linear };

struct OneCycleOptions {
    double max_lr = 0;
    std::int64_t total_steps = 0;
    double pct_start = 0.3;  ///< share of the steps in which the rate rises
    Anneal anneal_strategy = Anneal::Cosine;
    bool cycle_momentum = true;
    double base_momentum = 0.85;
    double max_momentum = 0.95;
    double div_factor = 25;         ///< max_lr over the first rate
    double final_div_factor = 1e4;  ///< the first rate over the last
    bool three_phase = false;
};

/// One rise to max_lr and one fall far below the start, the momentum against it (Smith and Topin
/// 2018). Source: torch.optim.lr_scheduler.OneCycleLR.
class OneCycleLR final : public LRScheduler {
public:
    /// Throws Error for a missing max_lr or total_steps, pct_start outside [0, 1], or
    /// cycle_momentum without a momentum.
    OneCycleLR(Optimizer& optimizer, OneCycleOptions options);

private:
    double next(std::size_t group) const override;
    void advance() override;
    double anneal(double start, double end, double done) const;
    struct Phase {
        double end;  // step at which it ends
        double lrFrom, lrTo, momentumFrom, momentumTo;
    };
    /// The phase of this step and how much of it is done.
    std::pair<const Phase*, double> phase() const;

    OneCycleOptions m_options;
    std::vector<Phase> m_phases;
};

enum class CycleMode : std::uint8_t { Triangular, Triangular2, ExpRange };

struct CyclicOptions {
    double base_lr = 0;
    double max_lr = 0;
    std::int64_t step_size_up = 2000;
    std::int64_t step_size_down = 0;  ///< 0: as many as up
    CycleMode mode = CycleMode::Triangular;
    double gamma = 1;
    bool cycle_momentum = true;
    double base_momentum = 0.8;
    double max_momentum = 0.9;
};

/// The rate goes up and down between base_lr and max_lr (Smith 2017). Source:
/// torch.optim.lr_scheduler.CyclicLR.
class CyclicLR final : public LRScheduler {
public:
    /// Throws Error for a missing max_lr, sizes below 1, or cycle_momentum without a momentum.
    CyclicLR(Optimizer& optimizer, CyclicOptions options);

private:
    double next(std::size_t group) const override;
    void advance() override;
    /// How high the cycle stands, 0 to 1.
    double height() const;
    CyclicOptions m_options;
};

enum class PlateauMode : std::uint8_t { Min, Max };
enum class ThresholdMode : std::uint8_t { Rel, Abs };

struct PlateauOptions {
    PlateauMode mode = PlateauMode::Min;
    double factor = 0.1;
    std::int64_t patience = 10;
    double threshold = 1e-4;
    ThresholdMode threshold_mode = ThresholdMode::Rel;
    std::int64_t cooldown = 0;
    double min_lr = 0;
    double eps = 1e-8;
};

/// Lowers the rate when a metric has not improved for `patience` steps. Source:
/// torch.optim.lr_scheduler.ReduceLROnPlateau.
class ReduceLROnPlateau final {
public:
    /// Throws Error unless factor lies below 1.
    ReduceLROnPlateau(Optimizer& optimizer, PlateauOptions options = {});
    void step(double metric);
    double best() const { return m_best; }
    std::int64_t num_bad_epochs() const { return m_bad; }
    SchedulerState state_dict() const;
    void load_state_dict(const SchedulerState& state);

private:
    bool better(double metric) const;
    Optimizer& m_optimizer;
    PlateauOptions m_options;
    double m_best;
    std::int64_t m_bad = 0;
    std::int64_t m_cooldown = 0;
    std::int64_t m_count = 0;
};

}  // namespace tapescope::engine::optim
