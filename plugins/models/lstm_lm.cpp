// SPDX-License-Identifier: Apache-2.0
// An LSTM language model: reads words letter by letter, one step of the recurrence at a time.
#include "engine/errors.h"
#include "engine/nn/nn.h"
#include "engine/observe/context.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"
#include "plugins/models/embedded.h"
#include "plugins/models/models.h"
#include "plugins/models/text_data.h"
#include "plugins/models/trainer.h"

#include <cmath>
#include <tuple>

namespace tapescope::plugins {
namespace {

using namespace engine;

/// One layer over a whole sequence. x: f32[T, N, in] → f32[T, N, width].
struct LstmLayer : nn::Module {
    LstmLayer(std::int64_t in, std::int64_t width) : Module("LstmLayer"), m_width(width) {
        input = register_module<nn::Linear>("input", in, 4 * width);
        state = register_module<nn::Linear>("state", width, 4 * width, false);
        // A forget gate that starts open keeps gradients alive over long words.
        const NoGradGuard no_grad;
        nn::init::ones_(narrow(input->bias.detach(), 0, width, width));
    }

    Tensor forward(const Tensor& x) override {
        const Tensor driven = input(x);  // all steps at once
        Tensor h = zeros({x.size(1), m_width});
        Tensor c = zeros({x.size(1), m_width});
        std::vector<Tensor> outputs;
        for (std::int64_t t = 0; t < x.size(0); ++t) {
            const Tensor gates = select(driven, 0, t) + state(h);
            const std::vector<Tensor> parts = chunk(gates, 4, 1);
            const Tensor in = sigmoid(parts[0]);
            const Tensor forget = sigmoid(parts[1]);
            const Tensor fresh = tanh(parts[2]);
            const Tensor out = sigmoid(parts[3]);
            c = forget * c + in * fresh;
            h = out * tanh(c);
            outputs.push_back(h);
        }
        return stack(outputs, 0);
    }

    std::string details() const override { return std::to_string(m_width) + " wide"; }

    std::int64_t m_width;
    nn::ModuleRef<nn::Linear> input, state;
};

struct LstmLm : nn::Module {
    explicit LstmLm(const Settings& set) : Module("LstmLm") {
        const std::int64_t width = set.integer("width");
        embedding = register_module<nn::Embedding>("embedding", CharText::kVocabulary, width / 2);
        layers = register_module<nn::Sequential>("layers");
        for (std::int64_t i = 0; i < set.integer("layers"); ++i) {
            layers->push_back(nn::make<LstmLayer>(i == 0 ? width / 2 : width, width));
            if (set.real("dropout") > 0)
                layers->push_back(nn::make<nn::Dropout>(set.real("dropout")));
        }
        head = register_module<nn::Linear>("head", width, CharText::kVocabulary);
    }

    Tensor forward(const Tensor& text) override {  // i64[N, T] → f32[T, N, 27]
        Tensor x = embedding(transpose(text, 0, 1));
        x = layers(x);
        return head(x);
    }

    nn::ModuleRef<nn::Embedding> embedding;
    nn::ModuleRef<nn::Sequential> layers;
    nn::ModuleRef<nn::Linear> head;
};

class LstmProgram final : public Trainer {
public:
    explicit LstmProgram(const ProgramOptions& options)
        : Trainer(options),
          m_length(options.settings.integer("length")),
          m_text(CharText::load(options.dataDir, Context::current().generator())),
          m_net(options.settings) {
        train(m_net.parameters());
    }

    nn::Module& model() override { return m_net; }

    void trainStep(std::int64_t step, RunLog& log) override {
        const auto [input, target] =
            m_text.training(batch(), m_length, Context::current().generator());
        optimizer().zero_grad();
        const Tensor logits = m_net(input);
        const Tensor loss = lossOf(logits, target);
        loss.backward();
        update();
        report(step, log, loss);
        log.scalar("train/perplexity", step, std::exp(loss.item()));
    }

    void validate(std::int64_t step, RunLog& log) override {
        const NoGradGuard no_grad;
        const PhaseScope phase(Phase::Evaluate);
        m_net.eval();
        const auto [input, target] = m_text.heldBack(batch(), m_length);
        const double loss = lossOf(m_net(input), target).item();
        log.scalar("val/loss", step, loss);
        log.scalar("val/perplexity", step, std::exp(loss));
        m_net.train();
    }

private:
    /// The model's time comes first, the target's samples do.
    static Tensor lossOf(const Tensor& logits, const Tensor& target) {
        return cross_entropy(reshape(logits, {-1, CharText::kVocabulary}),
                             reshape(transpose(target, 0, 1), {-1}));
    }

    std::int64_t m_length;
    CharText m_text;
    LstmLm m_net;
};

}  // namespace

ModelEntry lstmLm() {
    return {.name = "lstm-lm",
            .summary = "an LSTM that predicts the next letter (words from --data, or made up)",
            .settings = Trainer::settings(
                4e-3, 32,
                {{"layers", std::int64_t{1}, "LSTM layers", {}, 1, 8},
                 {"width", std::int64_t{128}, "numbers of the state", {}, 2, 4096},
                 {"length", std::int64_t{32}, "letters of a sample", {}, 2, 512},
                 {"dropout", 0.0, "share of activations dropped between layers", {}, 0, 1}}),
            .defaultSteps = 500,
            .dataHelp = wordsHelp(),
            .sources = {embeddedFile("plugins/models/lstm_lm.cpp"),
                        embeddedFile("plugins/models/trainer.cpp")},
            .create = [](const ProgramOptions& options) {
                return std::make_unique<LstmProgram>(options);
            }};
}

}  // namespace tapescope::plugins
