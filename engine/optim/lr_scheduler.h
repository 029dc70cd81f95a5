// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/optim/optimizer.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tapescope::engine::optim {

using SchedulerState = std::map<std::string, double>;

/// Sets the learning rates of an optimiser from the number of step() calls. The rates that the
/// optimiser had before its first scheduler are the base; construction already applies the rule for
/// 0. Rules work on the current rate, as PyTorch's do, so that several schedulers of one optimiser
/// act together. The optimiser must outlive it.
class LRScheduler {
public:
    virtual ~LRScheduler() = default;
    LRScheduler(const LRScheduler&) = delete;
    LRScheduler& operator=(const LRScheduler&) = delete;
    /// After the optimiser's step.
    virtual void step();
    /// Calls of step() so far.
    std::int64_t last_epoch() const { return m_count; }
    std::vector<double> get_last_lr() const;
    Optimizer& optimizer() const { return m_optimizer; }

    /// Where it stands: "last_epoch" and what a rule remembers. The rates are in the optimiser's
    /// own state.
    virtual SchedulerState state_dict() const;
    virtual void load_state_dict(const SchedulerState& state);

protected:
    explicit LRScheduler(Optimizer& optimizer);
    /// The rate of a group after last_epoch() steps, from its rate now.
    virtual double next(std::size_t group) const = 0;
    /// The same from the base alone, where there is a formula.
    virtual std::optional<double> closedForm(std::size_t group) const;
    /// Before next() is asked, for rules that keep a position or move the momentum.
    virtual void advance() {}
    /// To be called at the end of a subclass's constructor.
    void start();

    double base(std::size_t group) const { return m_base[group]; }
    double current(std::size_t group) const { return m_optimizer.lr(group); }
    std::size_t groups() const { return m_base.size(); }
    /// The rule for 0, as construction applies it.
    bool initial() const { return m_initial; }

private:
    friend class SequentialLR;
    void apply();
    /// Back to before construction; then to 0 by the closed form where there is one.
    virtual void undo();
    virtual void restart();

    Optimizer& m_optimizer;
    std::vector<double> m_base;
    std::int64_t m_count = -1;
    bool m_initial = false;
};

/// base · gamma^⌊count / step_size⌋. Source: torch.optim.lr_scheduler.StepLR.
class StepLR final : public LRScheduler {
public:
    /// Throws Error unless step_size > 0.
    StepLR(Optimizer& optimizer, std::int64_t step_size, double gamma = 0.1);

private:
    double next(std::size_t group) const override;
    std::optional<double> closedForm(std::size_t group) const override;
    std::int64_t m_stepSize;
    double m_gamma;
};

/// Times gamma at every milestone (one that comes twice counts twice).
class MultiStepLR final : public LRScheduler {
public:
    MultiStepLR(Optimizer& optimizer, std::vector<std::int64_t> milestones, double gamma = 0.1);

private:
    double next(std::size_t group) const override;
    std::optional<double> closedForm(std::size_t group) const override;
    std::vector<std::int64_t> m_milestones;
    double m_gamma;
};

/// Times factor from the start until total_iters.
class ConstantLR final : public LRScheduler {
public:
    /// Throws Error unless factor lies in [0, 1].
    ConstantLR(Optimizer& optimizer, double factor = 1.0 / 3, std::int64_t total_iters = 5);

private:
    double next(std::size_t group) const override;
    std::optional<double> closedForm(std::size_t group) const override;
    double m_factor;
    std::int64_t m_total;
};

/// A straight line from base · start_factor to base · end_factor over total_iters steps, then
/// constant: a warm-up. Source: torch.optim.lr_scheduler.LinearLR.
class LinearLR final : public LRScheduler {
public:
    /// Throws Error unless total_iters > 0 and start_factor lies in (0, 1], end_factor in [0, 1].
    LinearLR(Optimizer& optimizer, double start_factor = 1.0 / 3, double end_factor = 1,
             std::int64_t total_iters = 5);

private:
    double next(std::size_t group) const override;
    std::optional<double> closedForm(std::size_t group) const override;
    double m_start;
    double m_end;
    std::int64_t m_total;
};

/// Times gamma every step.
class ExponentialLR final : public LRScheduler {
public:
    ExponentialLR(Optimizer& optimizer, double gamma);

private:
    double next(std::size_t group) const override;
    std::optional<double> closedForm(std::size_t group) const override;
    double m_gamma;
};

/// base · (1 - count / total_iters)^power, then constant.
class PolynomialLR final : public LRScheduler {
public:
    /// Throws Error unless total_iters > 0.
    explicit PolynomialLR(Optimizer& optimizer, std::int64_t total_iters = 5, double power = 1);

private:
    double next(std::size_t group) const override;
    std::optional<double> closedForm(std::size_t group) const override;
    std::int64_t m_total;
    double m_power;
};

/// Half a cosine from base down to eta_min over T_max steps (and up again after them). Source:
/// torch.optim.lr_scheduler.CosineAnnealingLR.
class CosineAnnealingLR final : public LRScheduler {
public:
    /// Throws Error unless T_max > 0.
    CosineAnnealingLR(Optimizer& optimizer, std::int64_t T_max, double eta_min = 0);

private:
    double next(std::size_t group) const override;
    std::optional<double> closedForm(std::size_t group) const override;
    std::int64_t m_tMax;
    double m_etaMin;
};

/// Half cosines from base to eta_min, the first over T_0 steps, each T_mult times as long as the
/// one before.
class CosineAnnealingWarmRestarts final : public LRScheduler {
public:
    /// Throws Error unless T_0 and T_mult are at least 1.
    CosineAnnealingWarmRestarts(Optimizer& optimizer, std::int64_t T_0, std::int64_t T_mult = 1,
                                double eta_min = 0);
    SchedulerState state_dict() const override;
    void load_state_dict(const SchedulerState& state) override;

private:
    double next(std::size_t group) const override;
    void advance() override;
    std::int64_t m_current = -1;  // steps since the last restart
    std::int64_t m_period;
    std::int64_t m_mult;
    double m_etaMin;
};

/// base · factor(count).
class LambdaLR final : public LRScheduler {
public:
    using Factor = std::function<double(std::int64_t count)>;
    LambdaLR(Optimizer& optimizer, Factor factor);
    /// One a group. Throws Error if their number differs.
    LambdaLR(Optimizer& optimizer, std::vector<Factor> factors);

private:
    double next(std::size_t group) const override;
    std::vector<Factor> m_factors;
};

/// The current rate · factor(count), every step.
class MultiplicativeLR final : public LRScheduler {
public:
    using Factor = std::function<double(std::int64_t count)>;
    MultiplicativeLR(Optimizer& optimizer, Factor factor);

private:
    double next(std::size_t group) const override;
    Factor m_factor;
};

/// Several schedulers of one optimiser, stepped together. They must outlive it.
class ChainedScheduler final {
public:
    /// Throws Error for an empty list or schedulers of different optimisers.
    explicit ChainedScheduler(std::vector<LRScheduler*> schedulers);
    void step();
    std::vector<double> get_last_lr() const { return m_schedulers.front()->get_last_lr(); }

private:
    std::vector<LRScheduler*> m_schedulers;
};

/// One scheduler after the other: the next takes over at each milestone and starts at its 0. They
/// must outlive it. Source: torch.optim.lr_scheduler.SequentialLR.
class SequentialLR final : public LRScheduler {
public:
    /// Throws Error unless there is one milestone less than schedulers, milestones ascend and all
    /// schedulers are the optimiser's.
    SequentialLR(Optimizer& optimizer, std::vector<LRScheduler*> schedulers,
                 std::vector<std::int64_t> milestones);
    void step() override;

private:
    double next(std::size_t group) const override { return current(group); }
    void undo() override;
    std::size_t running() const;
    std::vector<LRScheduler*> m_schedulers;
    std::vector<std::int64_t> m_milestones;
};

}  // namespace tapescope::engine::optim
