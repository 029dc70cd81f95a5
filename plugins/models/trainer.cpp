// SPDX-License-Identifier: Apache-2.0
#include "plugins/models/trainer.h"

#include "engine/optim/adam.h"
#include "engine/optim/clip.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tapescope::plugins {

using namespace engine;

std::vector<Setting> Trainer::settings(double lr, std::int64_t batch, std::vector<Setting> more) {
    std::vector<Setting> all{
        {"lr", lr, "largest learning rate", {}, 0},
        {"batch", batch, "samples a training step", {}, 1, 4096},
        {"weight_decay", 0.01, "pull of the weights towards 0", {}, 0},
        {"warmup", 0.05, "share of the run in which the learning rate rises", {}, 0, 1},
        {"clip", 1.0, "largest norm of the gradient; 0: no limit", {}, 0},
    };
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

Trainer::Trainer(const ProgramOptions& options)
    : m_options(options), m_batch(options.settings.integer("batch")) {}

void Trainer::train(const std::vector<Tensor>& parameters) {
    m_parameters = parameters;
    m_optimizer = std::make_unique<optim::AdamW>(
        parameters,
        optim::AdamOptions{.lr = set().real("lr"), .weight_decay = set().real("weight_decay")});
    const auto steps = static_cast<double>(std::max<std::int64_t>(1, m_options.steps));
    const double warm = std::max(1.0, set().real("warmup") * steps);
    // A line up, then half a cosine down to a tenth.
    m_schedule = std::make_unique<optim::LambdaLR>(*m_optimizer, [=](std::int64_t count) {
        const auto at = static_cast<double>(count);
        if (at < warm) return (at + 1) / warm;
        const double done = std::min(1.0, (at - warm) / std::max(1.0, steps - warm));
        return 0.1 + 0.45 * (1 + std::cos(std::numbers::pi * done));
    });
}

void Trainer::update() {
    const double limit = set().real("clip");
    if (limit > 0) {
        const Tensor norm = optim::get_total_norm(m_parameters);
        m_norm = norm.item();
        m_lost.clear();
        if (!std::isfinite(m_norm)) {
            ++m_lostSteps;
            m_lost = optim::explain_gradient_norm(model().named_parameters()).sentence();
        }
        optim::clip_grads_with_norm_(m_parameters, limit, norm);
    }
    m_rate = m_optimizer->lr();
    m_optimizer->step();
    m_schedule->step();
}

void Trainer::report(std::int64_t step, RunLog& log, const Tensor& loss) {
    log.scalar("train/loss", step, loss.item());
    log.scalar("lr", step, m_rate);
    if (set().real("clip") > 0) log.scalar("train/grad_norm", step, m_norm);
    if (!m_lost.empty()) {
        log.scalar("train/steps_lost_by_clipping", step, static_cast<double>(m_lostSteps));
        log.text("step " + std::to_string(step) + ": " + m_lost);
    }
    logHistograms(step, log, model());
}

bool Trainer::validationDue(std::int64_t step) const {
    return (step + 1) % std::max<std::int64_t>(1, m_options.steps / 10) == 0;
}

void logHistograms(std::int64_t step, RunLog& log, const nn::Module& model) {
    if (!log.wantsHistograms(step)) return;
    for (const auto& [name, parameter] : model.named_parameters()) {
        log.histogram("param/" + name, step, parameter);
        if (parameter.grad().defined()) log.histogram("grad/" + name, step, parameter.grad());
    }
}

}  // namespace tapescope::plugins
