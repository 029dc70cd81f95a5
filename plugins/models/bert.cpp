// SPDX-License-Identifier: Apache-2.0
// A BERT encoder with masked language modelling: 15 % of the letters are hidden and to be found.
#include "engine/errors.h"
#include "engine/nn/nn.h"
#include "engine/observe/context.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "plugins/models/embedded.h"
#include "plugins/models/models.h"
#include "plugins/models/text_data.h"
#include "plugins/models/trainer.h"
#include "plugins/models/transformer.h"

namespace tapescope::plugins {
namespace {

using namespace engine;

constexpr std::int64_t kMask = CharText::kVocabulary;  // the token that hides a letter
constexpr std::int64_t kTokens = kMask + 1;

struct BertSize {
    std::int64_t layers, width, heads;
};

BertSize sizeOf(const Settings& set) {
    const std::string& name = set.text("size");
    const BertSize size = name == "base"   ? BertSize{12, 768, 12}
                          : name == "mini" ? BertSize{4, 256, 4}
                                           : BertSize{2, 128, 2};
    const std::int64_t layers = set.integer("layers");
    return {layers == 0 ? size.layers : layers, size.width, size.heads};
}

struct Bert : nn::Module {
    explicit Bert(const Settings& set) : Module("Bert") {
        const auto [layers, width, heads] = sizeOf(set);
        const std::int64_t length = set.integer("length");
        tokens = register_module<nn::Embedding>("tokens", kTokens, width);
        places = register_module<nn::Embedding>("places", length, width);
        norm = register_module<nn::LayerNorm>("norm", Dims{width});
        encoder = register_module<nn::Sequential>("encoder");
        for (std::int64_t i = 0; i < layers; ++i) {
            encoder->push_back(
                nn::make<TransformerBlock>(width, heads, length, set.real("dropout"), false));
        }
        transform = register_module<nn::Linear>("transform", width, width);
        transform_norm = register_module<nn::LayerNorm>("transform_norm", Dims{width});
        decoder = register_module<nn::Linear>("decoder", width, CharText::kVocabulary);
        initTransformer(*this);
    }

    Tensor forward(const Tensor& text) override {  // i64[N, T] → f32[N, T, 27]
        const Tensor place = arange(0, static_cast<double>(text.size(1)));
        Tensor x = norm(tokens(text) + places(place));
        x = encoder(x);
        x = gelu(transform(x));
        return decoder(transform_norm(x));
    }

    nn::ModuleRef<nn::Embedding> tokens, places;
    nn::ModuleRef<nn::LayerNorm> norm, transform_norm;
    nn::ModuleRef<nn::Sequential> encoder;
    nn::ModuleRef<nn::Linear> transform, decoder;
};

/// Text with hidden letters: of the chosen ones 80 % are masked, 10 % replaced, 10 % left.
struct Hidden {
    Tensor input;
    Tensor places;   ///< i64[k], into the flattened text
    Tensor letters;  ///< i64[k]
};

Hidden hide(const Tensor& text, Generator& generator) {
    std::vector<std::int64_t> tokens = text.to_vector<std::int64_t>();
    std::vector<std::int64_t> places;
    std::vector<std::int64_t> letters;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const std::uint32_t draw = generator.next32() % 1000;
        if (draw >= 150 && !(places.empty() && i + 1 == tokens.size())) continue;
        places.push_back(static_cast<std::int64_t>(i));
        letters.push_back(tokens[i]);
        if (draw < 120) {
            tokens[i] = kMask;
        } else if (draw < 135) {
            tokens[i] = generator.next32() % CharText::kVocabulary;
        }
    }
    const Dims count{static_cast<std::int64_t>(places.size())};
    return {Tensor::from(std::span<const std::int64_t>(tokens), text.sizes()),
            Tensor::from(std::span<const std::int64_t>(places), count),
            Tensor::from(std::span<const std::int64_t>(letters), count)};
}

class BertProgram final : public Trainer {
public:
    explicit BertProgram(const ProgramOptions& options)
        : Trainer(options),
          m_length(options.settings.integer("length")),
          m_text(CharText::load(options.dataDir, Context::current().generator())),
          m_net(options.settings) {
        train(m_net.parameters());
    }

    nn::Module& model() override { return m_net; }

    void trainStep(std::int64_t step, RunLog& log) override {
        Generator& generator = Context::current().generator();
        const Hidden hidden = hide(m_text.training(batch(), m_length, generator).input, generator);
        optimizer().zero_grad();
        const Tensor logits = reshape(m_net(hidden.input), {-1, CharText::kVocabulary});
        const Tensor found = index_select(logits, 0, hidden.places);
        const Tensor loss = cross_entropy(found, hidden.letters);
        loss.backward();
        update();
        report(step, log, loss);
    }

    void validate(std::int64_t step, RunLog& log) override {
        const NoGradGuard no_grad;
        const PhaseScope phase(Phase::Evaluate);
        m_net.eval();
        Generator generator(1);  // the same letters are hidden every time
        const Hidden hidden = hide(m_text.heldBack(batch(), m_length).input, generator);
        const Tensor logits = reshape(m_net(hidden.input), {-1, CharText::kVocabulary});
        const Tensor found = index_select(logits, 0, hidden.places);
        log.scalar("val/loss", step, cross_entropy(found, hidden.letters).item());
        const Tensor right = to(eq(argmax(found, 1), hidden.letters), DType::F32);
        log.scalar("val/accuracy", step, mean(right).item());
        m_net.train();
    }

private:
    std::int64_t m_length;
    CharText m_text;
    Bert m_net;
};

}  // namespace

ModelEntry bert() {
    return {.name = "bert",
            .summary = "a BERT encoder that finds hidden letters (words from --data, or made up)",
            .settings = Trainer::settings(
                1e-3, 16,
                {{"size",
                  std::string("tiny"),
                  "tiny (2 layers, 128 wide), mini (4, 256) or base (12, 768)",
                  {"tiny", "mini", "base"}},
                 {"layers", std::int64_t{0}, "encoder layers; 0: the size's", {}, 0, 48},
                 {"length", std::int64_t{64}, "letters of a sample", {}, 4, 512},
                 {"dropout", 0.0, "share of activations dropped while training", {}, 0, 1}}),
            .defaultSteps = 500,
            .dataHelp = wordsHelp(),
            .sources = {embeddedFile("plugins/models/bert.cpp"),
                        embeddedFile("plugins/models/transformer.cpp"),
                        embeddedFile("plugins/models/trainer.cpp")},
            .create = [](const ProgramOptions& options) {
                return std::make_unique<BertProgram>(options);
            }};
}

}  // namespace tapescope::plugins
