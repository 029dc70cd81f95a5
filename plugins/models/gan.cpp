// SPDX-License-Identifier: Apache-2.0
// A generative adversarial network (Goodfellow et al. 2014): one network draws digits, another one
// tells them from real ones, each with its own optimiser.
#include "engine/data/loader.h"
#include "engine/nn/nn.h"
#include "engine/observe/context.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "engine/optim/adam.h"
#include "plugins/models/datasets.h"
#include "plugins/models/embedded.h"
#include "plugins/models/images.h"
#include "plugins/models/models.h"
#include "plugins/models/trainer.h"

namespace tapescope::plugins {
namespace {

using namespace engine;

struct Gan : nn::Module {
    Gan(std::int64_t pixels, std::int64_t width, std::int64_t noise) : Module("Gan") {
        generator = register_module<nn::Sequential>(
            "generator", nn::make<nn::Linear>(noise, width), nn::make<nn::BatchNorm1d>(width),
            nn::make<nn::ReLU>(), nn::make<nn::Linear>(width, width),
            nn::make<nn::BatchNorm1d>(width), nn::make<nn::ReLU>(),
            nn::make<nn::Linear>(width, pixels), nn::make<nn::Sigmoid>());
        discriminator = register_module<nn::Sequential>(
            "discriminator", nn::make<nn::Linear>(pixels, width), nn::make<nn::LeakyReLU>(0.2),
            nn::make<nn::Dropout>(0.3), nn::make<nn::Linear>(width, width),
            nn::make<nn::LeakyReLU>(0.2), nn::make<nn::Dropout>(0.3),
            nn::make<nn::Linear>(width, 1));
    }
    Tensor forward(const Tensor& noise) override { return generator(noise); }

    nn::ModuleRef<nn::Sequential> generator, discriminator;
};

class GanProgram final : public Program {
public:
    explicit GanProgram(const ProgramOptions& options)
        : m_batch(options.settings.integer("batch")),
          m_noise(options.settings.integer("noise")),
          m_steps(options.steps),
          m_loader(loadDigitImages(options.dataDir),
                   {.batch_size = m_batch, .shuffle = true, .drop_last = true}),
          m_net(m_loader.dataset().input().numel() / m_loader.dataset().size(),
                options.settings.integer("width"), m_noise),
          m_generator(m_net.generator->parameters(), adam(options.settings)),
          m_discriminator(m_net.discriminator->parameters(), adam(options.settings)) {}

    nn::Module& model() override { return m_net; }
    std::int64_t samplesPerStep() const override { return m_batch; }

    void trainStep(std::int64_t step, RunLog& log) override {
        const Tensor real = flatten(m_loader.next().input, 1);
        const Tensor yes =
            full({m_batch, 1}, 0.9);  // not 1: a judge that is too sure teaches little
        const Tensor no = zeros({m_batch, 1});

        // The judge learns from real pictures and from drawn ones, which are cut from their graph.
        m_discriminator.zero_grad();
        const Tensor noise = randn({m_batch, m_noise});
        const Tensor drawn = m_net(noise);
        const Tensor ofReal = m_net.discriminator(real);
        const Tensor ofDrawn = m_net.discriminator(drawn.detach());
        const Tensor lossReal = binary_cross_entropy_with_logits(ofReal, yes);
        const Tensor lossDrawn = binary_cross_entropy_with_logits(ofDrawn, no);
        const Tensor lossD = lossReal + lossDrawn;
        lossD.backward();
        m_discriminator.step();

        // The drawer learns to be taken for real.
        m_generator.zero_grad();
        const Tensor judged = m_net.discriminator(drawn);
        const Tensor lossG = binary_cross_entropy_with_logits(judged, ones({m_batch, 1}));
        lossG.backward();
        m_generator.step();

        log.scalar("train/loss", step, lossG.item());
        log.scalar("train/loss_discriminator", step, lossD.item());
        log.scalar("train/real_score", step, mean(sigmoid(ofReal.detach())).item());
        log.scalar("train/drawn_score", step, mean(sigmoid(ofDrawn.detach())).item());
        log.scalar("lr", step, m_generator.lr());
        logHistograms(step, log, m_net);
    }

    bool validationDue(std::int64_t step) const override {
        return (step + 1) % std::max<std::int64_t>(1, m_steps / 10) == 0;
    }

    /// How far the drawn pictures' mean lies from the real ones', and how much they vary.
    void validate(std::int64_t step, RunLog& log) override {
        const NoGradGuard no_grad;
        const PhaseScope phase(Phase::Evaluate);
        Context& context = Context::current();
        const Generator::State saved = context.generator().state();
        context.generator().manual_seed(1);  // the same noise every time
        m_net.eval();
        const Tensor drawn = m_net(randn({256, m_noise}));
        m_net.train();
        context.generator().setState(saved);
        const Tensor real = flatten(m_loader.dataset().input(), 1);
        const Tensor apart = mean(drawn, {0}) - mean(real, {0});
        log.scalar("val/mean_distance", step, norm(apart).item());
        log.scalar("val/variety", step, mean(engine::std(drawn, {0})).item());
        log.scalar("val/variety_of_real", step, mean(engine::std(real, {0})).item());
    }

private:
    static optim::AdamOptions adam(const Settings& set) {
        return {.lr = set.real("lr"), .beta1 = 0.5};
    }

    std::int64_t m_batch;
    std::int64_t m_noise;
    std::int64_t m_steps;
    data::DataLoader m_loader;
    Gan m_net;
    optim::Adam m_generator;
    optim::Adam m_discriminator;
};

}  // namespace

ModelEntry gan() {
    return {
        .name = "gan",
        .summary = "two networks against each other draw digits (MNIST from --data, or built in)",
        .settings = {{"lr", 5e-4, "learning rate of both optimisers", {}, 0},
                     {"batch", std::int64_t{64}, "samples a training step", {}, 2, 4096},
                     {"width", std::int64_t{128}, "units of a hidden layer", {}, 1, 4096},
                     {"noise", std::int64_t{16}, "random numbers of a picture", {}, 1, 1024}},
        .defaultSteps = 1500,
        .dataHelp = mnistHelp(),
        .sources = {embeddedFile("plugins/models/gan.cpp")},
        .create = [](const ProgramOptions& options) {
            return std::make_unique<GanProgram>(options);
        }};
}

}  // namespace tapescope::plugins
