// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/data/loader.h"
#include "engine/optim/lr_scheduler.h"
#include "engine/optim/optimizer.h"
#include "plugins/api/model.h"

#include <memory>
#include <vector>

namespace tapescope::plugins {

/// What the classifiers of this pack share: a fifth of the data held back for validation, the
/// optimiser and schedule that the settings ask for, and what is logged. A model adds its network
/// and writes its training step out.
class Classifier : public Program {
public:
    bool validationDue(std::int64_t step) const override;  ///< after each epoch
    void validate(std::int64_t step, RunLog& log) override;
    std::int64_t samplesPerStep() const override { return m_batch; }

    /// lr, batch, optimizer, schedule, momentum, weight_decay, dropout, width.
    static std::vector<Setting> settings(double lr, std::int64_t width, double dropout);

protected:
    Classifier(const engine::data::TensorDataset& samples, const ProgramOptions& options);

    /// From the settings, for a network's parameters; once, in the model's constructor.
    void train(const std::vector<engine::Tensor>& parameters);
    /// train/loss, train/accuracy, lr, and histograms when they are due.
    void report(std::int64_t step, RunLog& log, const engine::Tensor& logits,
                const engine::Tensor& labels, const engine::Tensor& loss);

    engine::data::DataLoader& loader() { return m_loader; }
    engine::optim::Optimizer& optimizer() { return *m_optimizer; }
    /// The next step's learning rate.
    void advanceSchedule();

private:
    Classifier(std::pair<engine::data::TensorDataset, engine::data::TensorDataset> parts,
               const ProgramOptions& options);

    ProgramOptions m_options;
    std::int64_t m_batch;
    engine::data::DataLoader m_loader;
    engine::data::DataLoader m_validation;
    std::unique_ptr<engine::optim::Optimizer> m_optimizer;
    std::unique_ptr<engine::optim::LRScheduler> m_schedule;
};

}  // namespace tapescope::plugins
