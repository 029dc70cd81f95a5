// SPDX-License-Identifier: Apache-2.0
// A multilayer perceptron that learns handwritten digits of 8×8 pixels.
#include "engine/nn/nn.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"
#include "plugins/models/classifier.h"
#include "plugins/models/datasets.h"
#include "plugins/models/embedded.h"
#include "plugins/models/models.h"

namespace tapescope::plugins {
namespace {

using namespace engine;

struct DigitsMlp : nn::Module {
    DigitsMlp(std::int64_t width, double p) : Module("DigitsMlp") {
        fc1 = register_module<nn::Linear>("fc1", 64, width);
        fc2 = register_module<nn::Linear>("fc2", width, width);
        dropout = register_module<nn::Dropout>("dropout", p);
        fc3 = register_module<nn::Linear>("fc3", width, 10);
    }

    Tensor forward(const Tensor& images) override {
        Tensor x = flatten(images, 1);  // [N, 1, 8, 8] → [N, 64]
        x = fc1(x);
        x = relu(x);
        x = fc2(x);
        x = relu(x);
        x = dropout(x);
        return fc3(x);  // → [N, 10]
    }

    nn::ModuleRef<nn::Linear> fc1, fc2, fc3;
    nn::ModuleRef<nn::Dropout> dropout;
};

class DigitsMlpProgram final : public Classifier {
public:
    explicit DigitsMlpProgram(const ProgramOptions& options)
        : Classifier(loadDigits(), options),
          m_net(options.settings.integer("width"), options.settings.real("dropout")) {
        train(m_net.parameters());
    }

    nn::Module& model() override { return m_net; }

    void trainStep(std::int64_t step, RunLog& log) override {
        const auto [images, labels] = loader().next();
        optimizer().zero_grad();
        const Tensor logits = m_net(images);
        const Tensor loss = cross_entropy(logits, labels);
        loss.backward();
        optimizer().step();
        report(step, log, logits, labels, loss);
        advanceSchedule();
    }

private:
    DigitsMlp m_net;
};

}  // namespace

ModelEntry digitsMlp() {
    return {.name = "digits-mlp",
            .summary = "three linear layers on 8×8 digits (built in)",
            .settings = Classifier::settings(1e-3, 128, 0),
            .defaultSteps = 900,
            .sources = {embeddedFile("plugins/models/digits_mlp.cpp"),
                        embeddedFile("plugins/models/classifier.cpp")},
            .create = [](const ProgramOptions& options) {
                return std::make_unique<DigitsMlpProgram>(options);
            }};
}

}  // namespace tapescope::plugins
