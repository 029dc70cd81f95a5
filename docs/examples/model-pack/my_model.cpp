// SPDX-License-Identifier: Apache-2.0
// A small model of your own: tells the two half moons apart that a point in the plane may lie on.
#include "engine/engine.h"
#include "plugins/api/pack.h"

#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

namespace {

using namespace tapescope::engine;
using namespace tapescope::plugins;

// The network: layers are members, forward says how data flows. Breakpoints name "fc1", "fc2" …
struct Net : nn::Module {
    explicit Net(std::int64_t width) : Module("Net") {
        fc1 = register_module<nn::Linear>("fc1", 2, width);
        fc2 = register_module<nn::Linear>("fc2", width, width);
        fc3 = register_module<nn::Linear>("fc3", width, 2);
    }
    Tensor forward(const Tensor& points) override {
        Tensor x = relu(fc1(points));
        x = relu(fc2(x));
        return fc3(x);
    }
    nn::ModuleRef<nn::Linear> fc1, fc2, fc3;
};

// The data. Random numbers come from the run's generator, so that --seed decides them.
data::TensorDataset twoMoons(std::int64_t count, double noise) {
    const std::vector<double> random = randn({count, 2}, {.dtype = DType::F64}).to_vector();
    std::vector<float> points;
    std::vector<std::int64_t> labels;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t moon = i % 2;
        const double angle =
            std::numbers::pi * static_cast<double>(i / 2) / (static_cast<double>(count) / 2);
        const double x = moon == 0 ? std::cos(angle) : 1 - std::cos(angle);
        const double y = moon == 0 ? std::sin(angle) : 0.5 - std::sin(angle);
        const auto at = static_cast<std::size_t>(2 * i);
        points.push_back(static_cast<float>(x + noise * random[at]));
        points.push_back(static_cast<float>(y + noise * random[at + 1]));
        labels.push_back(moon);
    }
    return {Tensor::from(std::span<const float>(points), {count, 2}),
            Tensor::from(std::span<const std::int64_t>(labels), {count})};
}

// Model, data, loss and optimiser together: what `tapescope run` trains, step by step.
class TwoMoons final : public Program {
public:
    explicit TwoMoons(const ProgramOptions& options)
        : m_batch(options.settings.integer("batch")),
          m_loader(twoMoons(1000, options.settings.real("noise")),
                   {.batch_size = m_batch, .shuffle = true, .drop_last = true}),
          m_net(options.settings.integer("width")),
          m_optimizer(m_net.parameters(), {.lr = options.settings.real("lr")}) {}

    nn::Module& model() override { return m_net; }
    std::int64_t samplesPerStep() const override { return m_batch; }

    void trainStep(std::int64_t step, RunLog& log) override {
        const auto [points, labels] = m_loader.next();
        m_optimizer.zero_grad();
        const Tensor logits = m_net(points);
        const Tensor loss = cross_entropy(logits, labels);
        loss.backward();
        m_optimizer.step();
        log.scalar("train/loss", step, loss.item());
        log.scalar("lr", step, m_optimizer.lr());
    }

    bool validationDue(std::int64_t step) const override { return (step + 1) % 100 == 0; }

    void validate(std::int64_t step, RunLog& log) override {
        const NoGradGuard no_grad;
        const auto& all = m_loader.dataset();
        const Tensor found = argmax(m_net(all.input()), 1);
        const Tensor right = to(eq(found, all.target()), DType::F32);
        log.scalar("val/accuracy", step, mean(right).item());
    }

private:
    std::int64_t m_batch;
    data::DataLoader m_loader;
    Net m_net;
    optim::Adam m_optimizer;
};

}  // namespace

TAPESCOPE_MODEL_PACK(registry) {
    registry.add({.name = "two-moons",
                  .summary = "three linear layers that tell two half moons apart",
                  .settings = {{"lr", 0.01, "learning rate", {}, 0},
                               {"batch", std::int64_t{50}, "points a step", {}, 1, 1000},
                               {"width", std::int64_t{32}, "units of a hidden layer", {}, 1, 4096},
                               {"noise", 0.1, "spread of the points", {}, 0}},
                  .defaultSteps = 300,
                  .create = [](const ProgramOptions& options) {
                      return std::make_unique<TwoMoons>(options);
                  }});
}
