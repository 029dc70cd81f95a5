// SPDX-License-Identifier: Apache-2.0
// A small convolutional network that learns handwritten digits of 8×8 pixels.
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

struct DigitsCnn : nn::Module {
    DigitsCnn(std::int64_t width, double p) : Module("DigitsCnn") {
        const nn::Conv2dOptions same{.padding = 1};
        conv1 = register_module<nn::Conv2d>("conv1", 1, width, 3, same);
        bn1 = register_module<nn::BatchNorm2d>("bn1", width);
        conv2 = register_module<nn::Conv2d>("conv2", width, 2 * width, 3, same);
        bn2 = register_module<nn::BatchNorm2d>("bn2", 2 * width);
        dropout = register_module<nn::Dropout>("dropout", p);
        fc = register_module<nn::Linear>("fc", 2 * width * 2 * 2, 10);
    }

    Tensor forward(const Tensor& images) override {
        Tensor x = conv1(images);  // [N, 1, 8, 8] → [N, 32, 8, 8]
        x = bn1(x);
        x = relu(x);
        x = max_pool2d(x, {.kernel = {2, 2}});  // → [N, 32, 4, 4]
        x = conv2(x);                           // → [N, 64, 4, 4]
        x = bn2(x);
        x = relu(x);
        x = max_pool2d(x, {.kernel = {2, 2}});  // → [N, 64, 2, 2]
        x = flatten(x, 1);
        x = dropout(x);
        return fc(x);  // → [N, 10]
    }

    nn::ModuleRef<nn::Conv2d> conv1, conv2;
    nn::ModuleRef<nn::BatchNorm2d> bn1, bn2;
    nn::ModuleRef<nn::Dropout> dropout;
    nn::ModuleRef<nn::Linear> fc;
};

class DigitsCnnProgram final : public Classifier {
public:
    explicit DigitsCnnProgram(const ProgramOptions& options)
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
    DigitsCnn m_net;
};

}  // namespace

ModelEntry digitsCnn() {
    return {.name = "digits-cnn",
            .summary = "two convolutions with batch norm on 8×8 digits (built in)",
            .settings = Classifier::settings(2e-3, 32, 0.25),
            .defaultSteps = 900,
            .sources = {embeddedFile("plugins/models/digits_cnn.cpp"),
                        embeddedFile("plugins/models/classifier.cpp")},
            .create = [](const ProgramOptions& options) {
                return std::make_unique<DigitsCnnProgram>(options);
            }};
}

}  // namespace tapescope::plugins
