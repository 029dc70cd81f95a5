// SPDX-License-Identifier: Apache-2.0
#include "engine/optim/lr_cycle.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tapescope::engine::optim {
namespace {

/// Sets the momentum of every group. Throws Error where the optimiser has none.
void startMomentum(const char* who, Optimizer& optimizer, double momentum) {
    for (std::size_t group = 0; group < optimizer.group_count(); ++group) {
        if (!optimizer.momentum(group)) {
            throw Error(std::string(who) +
                        ": the optimiser has neither momentum nor beta1; pass cycle_momentum = "
                        "false");
        }
        optimizer.set_momentum(group, momentum);
    }
}

void setMomentum(Optimizer& optimizer, double momentum) {
    for (std::size_t group = 0; group < optimizer.group_count(); ++group)
        optimizer.set_momentum(group, momentum);
}

}  // namespace

OneCycleLR::OneCycleLR(Optimizer& optimizer, OneCycleOptions options)
    : LRScheduler(optimizer), m_options(options) {
    if (!(options.max_lr > 0) || options.total_steps < 1)
        throw Error("OneCycleLR: max_lr and total_steps must be above 0");
    if (!(options.pct_start >= 0 && options.pct_start <= 1))
        throw Error("OneCycleLR: pct_start must lie in [0, 1]");
    const double high = options.max_lr;
    const double first = high / options.div_factor;
    const double last = first / options.final_div_factor;
    const double slow = options.max_momentum;
    const double fast = options.base_momentum;
    const auto total = static_cast<double>(options.total_steps);
    const double rise = options.pct_start * total - 1;
    m_phases.push_back({rise, first, high, slow, fast});
    if (options.three_phase) {
        m_phases.push_back({2 * options.pct_start * total - 2, high, first, fast, slow});
        m_phases.push_back({total - 1, first, last, slow, slow});
    } else {
        m_phases.push_back({total - 1, high, last, fast, slow});
    }
    for (std::size_t group = 0; group < groups(); ++group) optimizer.set_initial_lr(group, first);
    if (options.cycle_momentum) startMomentum("OneCycleLR", optimizer, slow);
    start();
}

double OneCycleLR::anneal(double from, double to, double done) const {
    if (m_options.anneal_strategy == Anneal::Linear) return (to - from) * done + from;
    return to + (from - to) / 2 * (std::cos(std::numbers::pi * done) + 1);
}

std::pair<const OneCycleLR::Phase*, double> OneCycleLR::phase() const {
    const auto step = static_cast<double>(last_epoch());
    double begin = 0;
    for (const Phase& phase : m_phases) {
        if (step <= phase.end || &phase == &m_phases.back())
            return {&phase, (step - begin) / (phase.end - begin)};
        begin = phase.end;
    }
    return {&m_phases.back(), 1};
}

void OneCycleLR::advance() {
    if (last_epoch() > m_options.total_steps) {
        throw Error("OneCycleLR: step " + std::to_string(last_epoch()) + " of " +
                    std::to_string(m_options.total_steps) +
                    "; give it the real number of steps as total_steps");
    }
    if (!m_options.cycle_momentum) return;
    const auto [at, done] = phase();
    setMomentum(optimizer(), anneal(at->momentumFrom, at->momentumTo, done));
}

double OneCycleLR::next(std::size_t) const {
    const auto [at, done] = phase();
    return anneal(at->lrFrom, at->lrTo, done);
}

CyclicLR::CyclicLR(Optimizer& optimizer, CyclicOptions options)
    : LRScheduler(optimizer), m_options(options) {
    if (!(options.max_lr > 0) || !(options.base_lr >= 0))
        throw Error("CyclicLR: max_lr must be above 0 and base_lr not negative");
    if (options.step_size_up < 1 || options.step_size_down < 0)
        throw Error("CyclicLR: step_size_up must be at least 1");
    if (options.step_size_down == 0) m_options.step_size_down = options.step_size_up;
    if (options.cycle_momentum) startMomentum("CyclicLR", optimizer, options.max_momentum);
    start();
}

double CyclicLR::height() const {
    const auto up = static_cast<double>(m_options.step_size_up);
    const double total = up + static_cast<double>(m_options.step_size_down);
    const auto count = static_cast<double>(last_epoch());
    const double cycle = std::floor(1 + count / total);
    const double x = 1 + count / total - cycle;
    const double turn = up / total;
    const double scale = x <= turn ? x / turn : (x - 1) / (turn - 1);
    switch (m_options.mode) {
        case CycleMode::Triangular:
            return scale;
        case CycleMode::Triangular2:
            return scale / std::pow(2.0, cycle - 1);
        case CycleMode::ExpRange:
            return scale * std::pow(m_options.gamma, count);
    }
    return scale;
}

void CyclicLR::advance() {
    if (!m_options.cycle_momentum) return;
    const double range = m_options.max_momentum - m_options.base_momentum;
    setMomentum(optimizer(), m_options.max_momentum - range * height());
}

double CyclicLR::next(std::size_t) const {
    return m_options.base_lr + (m_options.max_lr - m_options.base_lr) * height();
}

ReduceLROnPlateau::ReduceLROnPlateau(Optimizer& optimizer, PlateauOptions options)
    : m_optimizer(optimizer),
      m_options(options),
      m_best(options.mode == PlateauMode::Min ? std::numeric_limits<double>::infinity()
                                              : -std::numeric_limits<double>::infinity()) {
    if (!(options.factor < 1)) throw Error("ReduceLROnPlateau: factor must lie below 1");
}

bool ReduceLROnPlateau::better(double metric) const {
    const double threshold = m_options.threshold;
    const bool relative = m_options.threshold_mode == ThresholdMode::Rel;
    if (m_options.mode == PlateauMode::Min)
        return metric < (relative ? m_best * (1 - threshold) : m_best - threshold);
    return metric > (relative ? m_best * (threshold + 1) : m_best + threshold);
}

void ReduceLROnPlateau::step(double metric) {
    ++m_count;
    if (better(metric)) {
        m_best = metric;
        m_bad = 0;
    } else {
        ++m_bad;
    }
    if (m_cooldown > 0) {
        --m_cooldown;
        m_bad = 0;
    }
    if (m_bad <= m_options.patience) return;
    for (std::size_t group = 0; group < m_optimizer.group_count(); ++group) {
        const double old = m_optimizer.lr(group);
        const double rate = std::max(old * m_options.factor, m_options.min_lr);
        if (old - rate > m_options.eps) m_optimizer.set_lr(group, rate);
    }
    m_cooldown = m_options.cooldown;
    m_bad = 0;
}

SchedulerState ReduceLROnPlateau::state_dict() const {
    return {{"best", m_best},
            {"num_bad_epochs", static_cast<double>(m_bad)},
            {"cooldown_counter", static_cast<double>(m_cooldown)},
            {"last_epoch", static_cast<double>(m_count)}};
}

void ReduceLROnPlateau::load_state_dict(const SchedulerState& state) {
    for (const char* key : {"best", "num_bad_epochs", "cooldown_counter", "last_epoch"}) {
        if (!state.contains(key))
            throw Error(std::string("ReduceLROnPlateau: the state to load lacks ") + key);
    }
    m_best = state.at("best");
    m_bad = static_cast<std::int64_t>(state.at("num_bad_epochs"));
    m_cooldown = static_cast<std::int64_t>(state.at("cooldown_counter"));
    m_count = static_cast<std::int64_t>(state.at("last_epoch"));
}

}  // namespace tapescope::engine::optim
