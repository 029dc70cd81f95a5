// SPDX-License-Identifier: Apache-2.0
#include "engine/optim/lr_scheduler.h"

#include "engine/nn/number_text.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tapescope::engine::optim {
namespace {

void checkPositive(const char* who, const char* what, std::int64_t value) {
    if (value > 0) return;
    throw Error(std::string(who) + ": " + what + " must be above 0, but is " +
                std::to_string(value));
}

double ratio(std::int64_t part, std::int64_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
}

/// 1 + cos of the part of a half turn.
double cosineHeight(std::int64_t part, std::int64_t whole) {
    return 1 + std::cos(std::numbers::pi * static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace

LRScheduler::LRScheduler(Optimizer& optimizer) : m_optimizer(optimizer) {
    for (std::size_t group = 0; group < optimizer.group_count(); ++group) {
        if (!optimizer.initial_lr(group)) optimizer.set_initial_lr(group, optimizer.lr(group));
        m_base.push_back(*optimizer.initial_lr(group));
    }
}

std::optional<double> LRScheduler::closedForm(std::size_t) const { return std::nullopt; }

void LRScheduler::apply() {
    advance();
    std::vector<double> rates;
    for (std::size_t group = 0; group < groups(); ++group) rates.push_back(next(group));
    for (std::size_t group = 0; group < groups(); ++group) m_optimizer.set_lr(group, rates[group]);
}

void LRScheduler::start() {
    m_initial = true;
    ++m_count;
    apply();
    m_initial = false;
}

void LRScheduler::step() {
    ++m_count;
    apply();
}

void LRScheduler::undo() { --m_count; }

void LRScheduler::restart() {
    m_count = 0;
    for (std::size_t group = 0; group < groups(); ++group) {
        m_optimizer.set_lr(group, closedForm(group).value_or(next(group)));
    }
}

std::vector<double> LRScheduler::get_last_lr() const {
    std::vector<double> rates;
    for (std::size_t group = 0; group < groups(); ++group) rates.push_back(current(group));
    return rates;
}

SchedulerState LRScheduler::state_dict() const {
    SchedulerState state{{"last_epoch", static_cast<double>(m_count)}};
    for (std::size_t group = 0; group < groups(); ++group)
        state["base_lr." + std::to_string(group)] = base(group);
    return state;
}

void LRScheduler::load_state_dict(const SchedulerState& state) {
    const auto count = state.find("last_epoch");
    if (count == state.end())
        throw Error("load_state_dict: the scheduler's state lacks last_epoch; load a whole state");
    std::vector<double> rates;
    for (std::size_t group = 0; group < groups(); ++group) {
        const auto rate = state.find("base_lr." + std::to_string(group));
        if (rate == state.end()) {
            throw Error("load_state_dict: the scheduler's state has no base_lr of group " +
                        std::to_string(group) + "; load the state of the same optimiser");
        }
        rates.push_back(rate->second);
    }
    m_count = static_cast<std::int64_t>(count->second);
    m_base = std::move(rates);
}

StepLR::StepLR(Optimizer& optimizer, std::int64_t step_size, double gamma)
    : LRScheduler(optimizer), m_stepSize(step_size), m_gamma(gamma) {
    checkPositive("StepLR", "step_size", step_size);
    start();
}

double StepLR::next(std::size_t group) const {
    const bool due = !initial() && last_epoch() != 0 && last_epoch() % m_stepSize == 0;
    return due ? current(group) * m_gamma : current(group);
}

std::optional<double> StepLR::closedForm(std::size_t group) const {
    return base(group) * std::pow(m_gamma, static_cast<double>(last_epoch() / m_stepSize));
}

MultiStepLR::MultiStepLR(Optimizer& optimizer, std::vector<std::int64_t> milestones, double gamma)
    : LRScheduler(optimizer), m_milestones(std::move(milestones)), m_gamma(gamma) {
    std::sort(m_milestones.begin(), m_milestones.end());
    start();
}

double MultiStepLR::next(std::size_t group) const {
    if (initial()) return current(group);
    const auto times = std::count(m_milestones.begin(), m_milestones.end(), last_epoch());
    return times == 0 ? current(group)
                      : current(group) * std::pow(m_gamma, static_cast<double>(times));
}

std::optional<double> MultiStepLR::closedForm(std::size_t group) const {
    const auto passed = std::upper_bound(m_milestones.begin(), m_milestones.end(), last_epoch()) -
                        m_milestones.begin();
    return base(group) * std::pow(m_gamma, static_cast<double>(passed));
}

ConstantLR::ConstantLR(Optimizer& optimizer, double factor, std::int64_t total_iters)
    : LRScheduler(optimizer), m_factor(factor), m_total(total_iters) {
    if (!(factor >= 0 && factor <= 1))
        throw Error("ConstantLR: factor must lie in [0, 1], but is " + nn::numberText(factor));
    start();
}

double ConstantLR::next(std::size_t group) const {
    if (last_epoch() == 0) return current(group) * m_factor;
    return last_epoch() == m_total ? current(group) * (1 / m_factor) : current(group);
}

std::optional<double> ConstantLR::closedForm(std::size_t group) const {
    return base(group) * (last_epoch() >= m_total ? 1 : m_factor);
}

LinearLR::LinearLR(Optimizer& optimizer, double start_factor, double end_factor,
                   std::int64_t total_iters)
    : LRScheduler(optimizer), m_start(start_factor), m_end(end_factor), m_total(total_iters) {
    checkPositive("LinearLR", "total_iters", total_iters);
    if (!(start_factor > 0 && start_factor <= 1 && end_factor >= 0 && end_factor <= 1)) {
        throw Error("LinearLR: start_factor must lie in (0, 1] and end_factor in [0, 1]");
    }
    start();
}

double LinearLR::next(std::size_t group) const {
    if (last_epoch() == 0) return current(group) * m_start;
    if (initial() || last_epoch() > m_total) return current(group);
    const double total = static_cast<double>(m_total);
    const double done = static_cast<double>(last_epoch() - 1);
    return current(group) * (1 + (m_end - m_start) / (total * m_start + done * (m_end - m_start)));
}

std::optional<double> LinearLR::closedForm(std::size_t group) const {
    return base(group) *
           (m_start + (m_end - m_start) * ratio(std::min(last_epoch(), m_total), m_total));
}

ExponentialLR::ExponentialLR(Optimizer& optimizer, double gamma)
    : LRScheduler(optimizer), m_gamma(gamma) {
    start();
}

double ExponentialLR::next(std::size_t group) const {
    return initial() ? current(group) : current(group) * m_gamma;
}

std::optional<double> ExponentialLR::closedForm(std::size_t group) const {
    return base(group) * std::pow(m_gamma, static_cast<double>(last_epoch()));
}

PolynomialLR::PolynomialLR(Optimizer& optimizer, std::int64_t total_iters, double power)
    : LRScheduler(optimizer), m_total(total_iters), m_power(power) {
    checkPositive("PolynomialLR", "total_iters", total_iters);
    start();
}

double PolynomialLR::next(std::size_t group) const {
    if (initial() || last_epoch() > m_total) return current(group);
    const double decay =
        (1 - ratio(last_epoch(), m_total)) / (1 - ratio(last_epoch() - 1, m_total));
    return current(group) * std::pow(decay, m_power);
}

std::optional<double> PolynomialLR::closedForm(std::size_t group) const {
    return base(group) * std::pow(1 - ratio(std::min(m_total, last_epoch()), m_total), m_power);
}

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, std::int64_t T_max, double eta_min)
    : LRScheduler(optimizer), m_tMax(T_max), m_etaMin(eta_min) {
    checkPositive("CosineAnnealingLR", "T_max", T_max);
    start();
}

double CosineAnnealingLR::next(std::size_t group) const {
    if (initial()) return current(group);
    // Just past the bottom the ratio below would divide by 0.
    if ((last_epoch() - 1 - m_tMax) % (2 * m_tMax) == 0) {
        const double rise = 1 - std::cos(std::numbers::pi / static_cast<double>(m_tMax));
        return current(group) + (base(group) - m_etaMin) * rise / 2;
    }
    return cosineHeight(last_epoch(), m_tMax) / cosineHeight(last_epoch() - 1, m_tMax) *
               (current(group) - m_etaMin) +
           m_etaMin;
}

std::optional<double> CosineAnnealingLR::closedForm(std::size_t group) const {
    return m_etaMin + (base(group) - m_etaMin) * cosineHeight(last_epoch(), m_tMax) / 2;
}

CosineAnnealingWarmRestarts::CosineAnnealingWarmRestarts(Optimizer& optimizer, std::int64_t T_0,
                                                         std::int64_t T_mult, double eta_min)
    : LRScheduler(optimizer), m_period(T_0), m_mult(T_mult), m_etaMin(eta_min) {
    checkPositive("CosineAnnealingWarmRestarts", "T_0", T_0);
    checkPositive("CosineAnnealingWarmRestarts", "T_mult", T_mult);
    start();
}

void CosineAnnealingWarmRestarts::advance() {
    if (++m_current < m_period) return;
    m_current %= m_period;
    m_period *= m_mult;
}

double CosineAnnealingWarmRestarts::next(std::size_t group) const {
    return m_etaMin + (base(group) - m_etaMin) * cosineHeight(m_current, m_period) / 2;
}

SchedulerState CosineAnnealingWarmRestarts::state_dict() const {
    SchedulerState state = LRScheduler::state_dict();
    state["T_cur"] = static_cast<double>(m_current);
    state["T_i"] = static_cast<double>(m_period);
    return state;
}

void CosineAnnealingWarmRestarts::load_state_dict(const SchedulerState& state) {
    if (!state.contains("T_cur") || !state.contains("T_i"))
        throw Error("CosineAnnealingWarmRestarts: the state to load lacks T_cur or T_i");
    LRScheduler::load_state_dict(state);
    m_current = static_cast<std::int64_t>(state.at("T_cur"));
    m_period = static_cast<std::int64_t>(state.at("T_i"));
}

LambdaLR::LambdaLR(Optimizer& optimizer, Factor factor)
    : LambdaLR(optimizer, std::vector<Factor>(optimizer.group_count(), std::move(factor))) {}

LambdaLR::LambdaLR(Optimizer& optimizer, std::vector<Factor> factors)
    : LRScheduler(optimizer), m_factors(std::move(factors)) {
    if (m_factors.size() != groups()) {
        throw Error("LambdaLR: " + std::to_string(m_factors.size()) + " functions for " +
                    std::to_string(groups()) + " parameter groups; give one a group");
    }
    start();
}

double LambdaLR::next(std::size_t group) const {
    return base(group) * m_factors[group](last_epoch());
}

MultiplicativeLR::MultiplicativeLR(Optimizer& optimizer, Factor factor)
    : LRScheduler(optimizer), m_factor(std::move(factor)) {
    start();
}

double MultiplicativeLR::next(std::size_t group) const {
    return initial() ? current(group) : current(group) * m_factor(last_epoch());
}

}  // namespace tapescope::engine::optim
