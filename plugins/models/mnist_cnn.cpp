// SPDX-License-Identifier: Apache-2.0
// A convolutional network that learns MNIST: handwritten digits of 28×28 pixels, read from --data.
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

struct MnistCnn : nn::Module {
    MnistCnn(std::int64_t width, double p) : Module("MnistCnn") {
        const nn::Conv2dOptions same{.padding = 1};
        conv1 = register_module<nn::Conv2d>("conv1", 1, width, 3, same);
        bn1 = register_module<nn::BatchNorm2d>("bn1", width);
        conv2 = register_module<nn::Conv2d>("conv2", width, 2 * width, 3, same);
        bn2 = register_module<nn::BatchNorm2d>("bn2", 2 * width);
        fc1 = register_module<nn::Linear>("fc1", 2 * width * 7 * 7, 128);
        dropout = register_module<nn::Dropout>("dropout", p);
        fc2 = register_module<nn::Linear>("fc2", 128, 10);
    }

    Tensor forward(const Tensor& images) override {
        Tensor x = conv1(images);  // [N, 1, 28, 28] → [N, 16, 28, 28]
        x = bn1(x);
        x = relu(x);
        x = max_pool2d(x, {.kernel = {2, 2}});  // → [N, 16, 14, 14]
        x = conv2(x);                           // → [N, 32, 14, 14]
        x = bn2(x);
        x = relu(x);
        x = max_pool2d(x, {.kernel = {2, 2}});  // → [N, 32, 7, 7]
        x = flatten(x, 1);
        x = fc1(x);
        x = relu(x);
        x = dropout(x);
        return fc2(x);  // → [N, 10]
    }

    nn::ModuleRef<nn::Conv2d> conv1, conv2;
    nn::ModuleRef<nn::BatchNorm2d> bn1, bn2;
    nn::ModuleRef<nn::Linear> fc1, fc2;
    nn::ModuleRef<nn::Dropout> dropout;
};

class MnistCnnProgram final : public Classifier {
public:
    explicit MnistCnnProgram(const ProgramOptions& options)
        : Classifier(loadMnist(options.dataDir.value_or("")), options),
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
    MnistCnn m_net;
};

}  // namespace

ModelEntry mnistCnn() {
    return {.name = "mnist-cnn",
            .summary = "two convolutions and two linear layers on 28×28 MNIST digits (--data DIR)",
            .settings = Classifier::settings(2e-3, 16, 0.25),
            .defaultSteps = 500,
            .needsDataDir = true,
            .dataHelp = mnistHelp(),
            .sources = {embeddedFile("plugins/models/mnist_cnn.cpp"),
                        embeddedFile("plugins/models/classifier.cpp")},
            .create = [](const ProgramOptions& options) {
                return std::make_unique<MnistCnnProgram>(options);
            }};
}

}  // namespace tapescope::plugins
