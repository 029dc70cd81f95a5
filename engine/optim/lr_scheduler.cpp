// SPDX-License-Identifier: Apache-2.0
#include "engine/optim/lr_scheduler.h"

#include "engine/errors.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

namespace tapescope::engine::optim {
namespace {

void checkPositive(const char* who, const char* what, std::int64_t value) {
    if (value > 0) return;
    throw Error(std::string(who) + ": " + what + " must be above 0, but is " +
                std::to_string(value));
}

}  // namespace

LRScheduler::LRScheduler(Optimizer& optimizer) : m_optimizer(optimizer) {
    for (std::size_t group = 0; group < optimizer.group_count(); ++group) {
        m_base.push_back(optimizer.lr(group));
    }
}

void LRScheduler::apply() {
    for (std::size_t group = 0; group < m_base.size(); ++group) {
        m_optimizer.set_lr(group, rate(m_base[group], m_count));
    }
}

void LRScheduler::step() {
    ++m_count;
    apply();
}

StepLR::StepLR(Optimizer& optimizer, std::int64_t step_size, double gamma)
    : LRScheduler(optimizer), m_stepSize(step_size), m_gamma(gamma) {
    checkPositive("StepLR", "step_size", step_size);
    apply();
}

double StepLR::rate(double base, std::int64_t count) const {
    return base * std::pow(m_gamma, static_cast<double>(count / m_stepSize));
}

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, std::int64_t T_max, double eta_min)
    : LRScheduler(optimizer), m_tMax(T_max), m_etaMin(eta_min) {
    checkPositive("CosineAnnealingLR", "T_max", T_max);
    apply();
}

double CosineAnnealingLR::rate(double base, std::int64_t count) const {
    const double turn = std::numbers::pi * static_cast<double>(count) / static_cast<double>(m_tMax);
    return m_etaMin + (base - m_etaMin) * (1 + std::cos(turn)) / 2;
}

LinearLR::LinearLR(Optimizer& optimizer, double start_factor, double end_factor,
                   std::int64_t total_iters)
    : LRScheduler(optimizer), m_start(start_factor), m_end(end_factor), m_total(total_iters) {
    checkPositive("LinearLR", "total_iters", total_iters);
    if (!(start_factor > 0 && start_factor <= 1 && end_factor >= 0 && end_factor <= 1)) {
        throw Error("LinearLR: start_factor must lie in (0, 1] and end_factor in [0, 1]");
    }
    apply();
}

double LinearLR::rate(double base, std::int64_t count) const {
    const double done =
        static_cast<double>(std::min(count, m_total)) / static_cast<double>(m_total);
    return base * (m_start + (m_end - m_start) * done);
}

}  // namespace tapescope::engine::optim
