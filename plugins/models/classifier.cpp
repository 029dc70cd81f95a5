// SPDX-License-Identifier: Apache-2.0
#include "plugins/models/classifier.h"

#include "engine/observe/context.h"
#include "engine/ops/nn_functional.h"
#include "engine/optim/adam.h"
#include "engine/optim/sgd.h"

#include <algorithm>

namespace tapescope::plugins {

using namespace engine;

namespace {

constexpr double kTrainFraction = 0.8;
constexpr std::int64_t kValidationBatch = 256;

/// How many rows of logits have their largest value at the label. Read on the host: no operator of
/// the model's graph.
std::int64_t countCorrect(const Tensor& logits, const Tensor& labels) {
    const std::vector<float> scores = logits.detach().to_vector<float>();
    const std::vector<std::int64_t> wanted = labels.to_vector<std::int64_t>();
    const auto classes = static_cast<std::ptrdiff_t>(logits.size(1));
    std::int64_t correct = 0;
    auto row = scores.begin();
    for (const std::int64_t label : wanted) {
        correct += std::max_element(row, row + classes) - row == label ? 1 : 0;
        row += classes;
    }
    return correct;
}

/// The batch size, if the training part fills at least one. Throws DataError.
std::int64_t batchThatFits(const ProgramOptions& options, std::int64_t samples) {
    const std::int64_t batch = options.settings.integer("batch");
    if (samples >= batch) return batch;
    throw DataError(options.dataDir.value_or("the built-in data") + ": " + std::to_string(samples) +
                    " samples are left to train on, fewer than a batch of " +
                    std::to_string(batch) + "; give more data, or a smaller batch (--set batch=" +
                    std::to_string(std::max<std::int64_t>(samples, 1)) + ")");
}

}  // namespace

std::vector<Setting> Classifier::settings(double lr, std::int64_t width, double dropout) {
    return {
        {"lr", lr, "learning rate at the start", {}, 0},
        {"batch", std::int64_t{64}, "samples a training step", {}, 1, 1024},
        {"optimizer", std::string("adam"), "adam, adamw or sgd", {"adam", "adamw", "sgd"}},
        {"schedule",
         std::string("cosine"),
         "learning rate over the run: cosine (to 0) or constant",
         {"cosine", "constant"}},
        {"momentum", 0.9, "of sgd", {}, 0, 1},
        {"weight_decay", 0.0, "pull of the weights towards 0", {}, 0},
        {"dropout", dropout, "share of activations dropped before the last layer", {}, 0, 1},
        {"width", width, "channels (or units) of the first layer", {}, 1, 4096},
    };
}

Classifier::Classifier(const data::TensorDataset& samples, const ProgramOptions& options)
    : Classifier(data::random_split(samples, kTrainFraction), options) {}

Classifier::Classifier(std::pair<data::TensorDataset, data::TensorDataset> parts,
                       const ProgramOptions& options)
    : m_options(options),
      m_batch(batchThatFits(options, parts.first.size())),
      m_loader(parts.first, {.batch_size = m_batch, .shuffle = true, .drop_last = true}),
      m_validation(parts.second, {.batch_size = kValidationBatch}) {}

void Classifier::train(const std::vector<Tensor>& parameters) {
    const Settings& set = m_options.settings;
    const double lr = set.real("lr");
    const double decay = set.real("weight_decay");
    const std::string& kind = set.text("optimizer");
    if (kind == "sgd") {
        m_optimizer = std::make_unique<optim::SGD>(
            parameters,
            optim::SgdOptions{.lr = lr, .momentum = set.real("momentum"), .weight_decay = decay});
    } else if (kind == "adamw") {
        m_optimizer = std::make_unique<optim::AdamW>(
            parameters, optim::AdamOptions{.lr = lr, .weight_decay = decay});
    } else {
        m_optimizer = std::make_unique<optim::Adam>(
            parameters, optim::AdamOptions{.lr = lr, .weight_decay = decay});
    }
    if (set.text("schedule") == "cosine") {
        m_schedule = std::make_unique<optim::CosineAnnealingLR>(
            *m_optimizer, std::max<std::int64_t>(1, m_options.steps));
    }
}

void Classifier::advanceSchedule() {
    if (m_schedule) m_schedule->step();
}

void Classifier::report(std::int64_t step, RunLog& log, const Tensor& logits, const Tensor& labels,
                        const Tensor& loss) {
    const auto rows = static_cast<double>(labels.size(0));
    log.scalar("train/loss", step, loss.item());
    log.scalar("train/accuracy", step, static_cast<double>(countCorrect(logits, labels)) / rows);
    log.scalar("lr", step, m_optimizer->lr());
    if (!log.wantsHistograms(step)) return;
    for (const auto& [name, parameter] : model().named_parameters()) {
        log.histogram("param/" + name, step, parameter);
        if (parameter.grad().defined()) log.histogram("grad/" + name, step, parameter.grad());
    }
}

bool Classifier::validationDue(std::int64_t step) const {
    return (step + 1) % m_loader.size() == 0;
}

void Classifier::validate(std::int64_t step, RunLog& log) {
    const NoGradGuard no_grad;
    const PhaseScope phase(Phase::Evaluate);
    model().eval();
    double loss = 0;
    std::int64_t correct = 0;
    for (const auto& [images, labels] : m_validation) {
        const Tensor logits = model()(images);
        loss += cross_entropy(logits, labels, Reduction::Sum).item();
        correct += countCorrect(logits, labels);
    }
    model().train();
    const auto samples = static_cast<double>(m_validation.dataset().size());
    log.scalar("val/loss", step, loss / samples);
    log.scalar("val/accuracy", step, static_cast<double>(correct) / samples);
}

}  // namespace tapescope::plugins
