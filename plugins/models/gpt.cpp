// SPDX-License-Identifier: Apache-2.0
// A small GPT: predicts the next letter of words, and writes some of its own.
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
#include "plugins/models/transformer.h"

#include <cmath>

namespace tapescope::plugins {
namespace {

using namespace engine;

struct Gpt : nn::Module {
    explicit Gpt(const Settings& set) : Module("Gpt") {
        const std::int64_t width = set.integer("width");
        const std::int64_t context = set.integer("context");
        tokens = register_module<nn::Embedding>("tokens", CharText::kVocabulary, width);
        places = register_module<nn::Embedding>("places", context, width);
        blocks = register_module<nn::Sequential>("blocks");
        for (std::int64_t i = 0; i < set.integer("layers"); ++i) {
            blocks->push_back(nn::make<TransformerBlock>(width, set.integer("heads"), context,
                                                         set.real("dropout"), true));
        }
        norm = register_module<nn::LayerNorm>("norm", Dims{width});
        head = register_module<nn::Linear>("head", width, CharText::kVocabulary, false);
        initTransformer(*this);
    }

    Tensor forward(const Tensor& text) override {  // i64[N, T] → f32[N, T, 27]
        const Tensor place = arange(0, static_cast<double>(text.size(1)));
        Tensor x = tokens(text) + places(place);
        x = blocks(x);
        x = norm(x);
        return head(x);
    }

    nn::ModuleRef<nn::Embedding> tokens, places;
    nn::ModuleRef<nn::Sequential> blocks;
    nn::ModuleRef<nn::LayerNorm> norm;
    nn::ModuleRef<nn::Linear> head;
};

class GptProgram final : public Trainer {
public:
    explicit GptProgram(const ProgramOptions& options)
        : Trainer(options),
          m_context(options.settings.integer("context")),
          m_text(CharText::load(options.dataDir, Context::current().generator())),
          m_net(options.settings) {
        train(m_net.parameters());
    }

    nn::Module& model() override { return m_net; }

    void trainStep(std::int64_t step, RunLog& log) override {
        const auto [input, target] =
            m_text.training(batch(), m_context, Context::current().generator());
        optimizer().zero_grad();
        const Tensor logits = m_net(input);
        const Tensor loss =
            cross_entropy(reshape(logits, {-1, CharText::kVocabulary}), reshape(target, {-1}));
        loss.backward();
        update();
        report(step, log, loss);
    }

    void validate(std::int64_t step, RunLog& log) override {
        const NoGradGuard no_grad;
        const PhaseScope phase(Phase::Evaluate);
        m_net.eval();
        const auto [input, target] = m_text.heldBack(batch(), m_context);
        const Tensor logits = m_net(input);
        const double loss =
            cross_entropy(reshape(logits, {-1, CharText::kVocabulary}), reshape(target, {-1}))
                .item();
        log.scalar("val/loss", step, loss);
        log.scalar("val/bits_per_letter", step, loss / std::log(2.0));
        log.text("wrote: " + write(40));
        m_net.train();
    }

private:
    /// So many letters, each drawn from the model's probabilities.
    std::string write(std::int64_t count) {
        Generator generator(1);  // of its own: validation must not change the training
        std::vector<std::int64_t> text{0};
        for (std::int64_t i = 0; i < count; ++i) {
            const auto known = static_cast<std::int64_t>(text.size());
            const std::int64_t from = std::max<std::int64_t>(0, known - m_context);
            const std::span<const std::int64_t> tail(text.data() + from,
                                                     static_cast<std::size_t>(known - from));
            const Tensor logits = m_net(Tensor::from(tail, {1, known - from}));
            const Tensor last = select(select(logits, 0, 0), 0, -1);
            const std::vector<double> chances = softmax(last, 0).to_vector();
            double left = static_cast<double>(generator.next32()) * 0x1p-32;
            std::int64_t letter = 0;
            while (letter + 1 < CharText::kVocabulary &&
                   (left -= chances[static_cast<std::size_t>(letter)]) >= 0)
                ++letter;
            text.push_back(letter);
        }
        return CharText::decode(text);
    }

    std::int64_t m_context;
    CharText m_text;
    Gpt m_net;
};

}  // namespace

ModelEntry gpt() {
    return {.name = "gpt",
            .summary = "a GPT that spells: 6 layers over letters (words from --data, or made up)",
            .settings = Trainer::settings(
                2e-3, 16,
                {{"layers", std::int64_t{6}, "transformer blocks", {}, 1, 48},
                 {"heads", std::int64_t{4}, "attention heads of a block", {}, 1, 64},
                 {"width", std::int64_t{96}, "numbers a letter, a multiple of heads", {}, 1, 4096},
                 {"context", std::int64_t{48}, "letters it looks back", {}, 2, 1024},
                 {"dropout", 0.0, "share of activations dropped while training", {}, 0, 1}}),
            .defaultSteps = 400,
            .dataHelp = wordsHelp(),
            .sources = {embeddedFile("plugins/models/gpt.cpp"),
                        embeddedFile("plugins/models/transformer.cpp"),
                        embeddedFile("plugins/models/trainer.cpp")},
            .create = [](const ProgramOptions& options) {
                return std::make_unique<GptProgram>(options);
            }};
}

}  // namespace tapescope::plugins
