// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/optim/lr_scheduler.h"
#include "engine/optim/optimizer.h"
#include "plugins/api/model.h"

#include <memory>
#include <string_view>
#include <vector>

namespace tapescope::plugins {

/// What the models of this pack share that are no Classifier: AdamW with a warm-up and a cosine, a
/// limit for the gradient's norm, and what is logged. A model adds its network and data and writes
/// its training step out.
class Trainer : public Program {
public:
    bool validationDue(std::int64_t step) const override;  ///< ten times a run
    std::int64_t samplesPerStep() const override { return m_batch; }

    /// lr, batch, weight_decay, warmup, clip, and more.
    static std::vector<Setting> settings(double lr, std::int64_t batch,
                                         std::vector<Setting> more = {});

protected:
    explicit Trainer(const ProgramOptions& options);
    /// From the settings, for a network's parameters; once, in the model's constructor.
    void train(const std::vector<engine::Tensor>& parameters);
    /// Limits the gradient's norm, steps, and moves the learning rate on. A norm that is not finite
    /// is explained in the log by report().
    void update();
    /// train/loss, lr, train/grad_norm of the last update(), and histograms when they are due.
    void report(std::int64_t step, RunLog& log, const engine::Tensor& loss);

    std::int64_t batch() const { return m_batch; }
    const Settings& set() const { return m_options.settings; }
    engine::optim::Optimizer& optimizer() { return *m_optimizer; }

private:
    ProgramOptions m_options;
    std::int64_t m_batch;
    std::vector<engine::Tensor> m_parameters;
    std::unique_ptr<engine::optim::Optimizer> m_optimizer;
    std::unique_ptr<engine::optim::LRScheduler> m_schedule;
    double m_rate = 0;
    double m_norm = 0;
    std::int64_t m_lostSteps = 0;  // clipped by a norm that is not finite
    std::string m_lost;            // why the last one was; empty if it was not
};

/// Histograms of a model's parameters and gradients, where they are due.
void logHistograms(std::int64_t step, RunLog& log, const engine::nn::Module& model);

}  // namespace tapescope::plugins
