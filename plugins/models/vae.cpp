// SPDX-License-Identifier: Apache-2.0
// A variational autoencoder (Kingma and Welling 2014): digits as a few numbers, and back.
#include "engine/data/loader.h"
#include "engine/nn/nn.h"
#include "engine/observe/context.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "plugins/models/datasets.h"
#include "plugins/models/embedded.h"
#include "plugins/models/images.h"
#include "plugins/models/models.h"
#include "plugins/models/trainer.h"

namespace tapescope::plugins {
namespace {

using namespace engine;

struct Vae : nn::Module {
    Vae(std::int64_t pixels, std::int64_t width, std::int64_t latent) : Module("Vae") {
        encode1 = register_module<nn::Linear>("encode1", pixels, width);
        encode2 = register_module<nn::Linear>("encode2", width, width);
        mean_head = register_module<nn::Linear>("mean", width, latent);
        log_var_head = register_module<nn::Linear>("log_var", width, latent);
        decode1 = register_module<nn::Linear>("decode1", latent, width);
        decode2 = register_module<nn::Linear>("decode2", width, width);
        pixels_head = register_module<nn::Linear>("pixels", width, pixels);
    }

    struct Code {
        Tensor mean, log_var;
    };
    Code encode(const Tensor& x) {
        const Tensor h = relu(encode2(relu(encode1(x))));
        return {mean_head(h), log_var_head(h)};
    }
    Tensor decode(const Tensor& z) { return pixels_head(relu(decode2(relu(decode1(z))))); }
    /// A code near the mean while training, the mean itself else.
    Tensor sample(const Code& code) {
        if (!is_training()) return code.mean;
        const Tensor noise = randn(code.mean.sizes());
        return code.mean + exp(code.log_var * 0.5) * noise;
    }
    Tensor forward(const Tensor& x) override { return decode(sample(encode(x))); }

    nn::ModuleRef<nn::Linear> encode1, encode2, mean_head, log_var_head;
    nn::ModuleRef<nn::Linear> decode1, decode2, pixels_head;
};

class VaeProgram final : public Trainer {
public:
    explicit VaeProgram(const ProgramOptions& options)
        : VaeProgram(options, data::random_split(loadDigitImages(options.dataDir), 0.9)) {}

    nn::Module& model() override { return m_net; }

    void trainStep(std::int64_t step, RunLog& log) override {
        const Tensor x = flatten(m_loader.next().input, 1);
        optimizer().zero_grad();
        const Vae::Code code = m_net.encode(x);
        const Tensor z = m_net.sample(code);
        const Tensor pixels = m_net.decode(z);
        const Tensor rebuilt = rebuildLoss(pixels, x);
        const Tensor distance = kl(code);
        const Tensor loss = rebuilt + distance * set().real("beta");
        loss.backward();
        update();
        report(step, log, loss);
        log.scalar("train/rebuild", step, rebuilt.item());
        log.scalar("train/kl", step, distance.item());
    }

    void validate(std::int64_t step, RunLog& log) override {
        const NoGradGuard no_grad;
        const PhaseScope phase(Phase::Evaluate);
        m_net.eval();
        const Tensor x = flatten(m_heldBack, 1);
        const Vae::Code code = m_net.encode(x);
        const double rebuilt = rebuildLoss(m_net.decode(code.mean), x).item();
        log.scalar("val/rebuild", step, rebuilt);
        log.scalar("val/loss", step, rebuilt + set().real("beta") * kl(code).item());
        m_net.train();
    }

private:
    using Parts = std::pair<data::TensorDataset, data::TensorDataset>;
    VaeProgram(const ProgramOptions& options, const Parts& parts)
        : Trainer(options),
          m_loader(parts.first, {.batch_size = batch(), .shuffle = true, .drop_last = true}),
          m_heldBack(parts.second.input()),
          m_net(m_heldBack.numel() / m_heldBack.size(0), options.settings.integer("width"),
                options.settings.integer("latent")) {
        train(m_net.parameters());
    }

    /// Of one picture, the mean over the batch.
    static Tensor rebuildLoss(const Tensor& pixels, const Tensor& x) {
        const Tensor all = binary_cross_entropy_with_logits(pixels, x, Reduction::Sum);
        return all / x.size(0);
    }
    /// From the code's distribution to the unit normal's.
    static Tensor kl(const Vae::Code& code) {
        const Tensor each = 1 + code.log_var - square(code.mean) - exp(code.log_var);
        return sum(each) * (-0.5 / static_cast<double>(code.mean.size(0)));
    }

    data::DataLoader m_loader;
    Tensor m_heldBack;
    Vae m_net;
};

}  // namespace

ModelEntry vae() {
    return {.name = "vae",
            .summary = "a variational autoencoder of digits (MNIST from --data, or built in)",
            .settings = Trainer::settings(
                2e-3, 64,
                {{"width", std::int64_t{128}, "units of a hidden layer", {}, 1, 4096},
                 {"latent", std::int64_t{8}, "numbers of a code", {}, 1, 256},
                 {"beta", 1.0, "weight of the distance to the normal distribution", {}, 0}}),
            .defaultSteps = 1000,
            .dataHelp = mnistHelp(),
            .sources = {embeddedFile("plugins/models/vae.cpp"),
                        embeddedFile("plugins/models/trainer.cpp")},
            .create = [](const ProgramOptions& options) {
                return std::make_unique<VaeProgram>(options);
            }};
}

}  // namespace tapescope::plugins
