// SPDX-License-Identifier: Apache-2.0
// LeNet-5 (LeCun et al. 1998): the first convolutional network that read digits for money.
#include "engine/nn/nn.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"
#include "plugins/models/classifier.h"
#include "plugins/models/datasets.h"
#include "plugins/models/embedded.h"
#include "plugins/models/images.h"
#include "plugins/models/models.h"

namespace tapescope::plugins {
namespace {

using namespace engine;

struct LeNet : nn::Module {
    LeNet(std::int64_t width, double p) : Module("LeNet") {
        conv1 = register_module<nn::Conv2d>("conv1", 1, width, 5);
        pool1 = register_module<nn::AvgPool2d>("pool1", 2);
        conv2 = register_module<nn::Conv2d>("conv2", width, 16, 5);
        pool2 = register_module<nn::AvgPool2d>("pool2", 2);
        fc1 = register_module<nn::Linear>("fc1", 16 * 5 * 5, 120);
        fc2 = register_module<nn::Linear>("fc2", 120, 84);
        dropout = register_module<nn::Dropout>("dropout", p);
        fc3 = register_module<nn::Linear>("fc3", 84, 10);
    }

    Tensor forward(const Tensor& images) override {
        Tensor x = enlarge(images, 32 / images.size(-1));  // → [N, 1, 32, 32]
        x = conv1(x);                                      // → [N, 6, 28, 28]
        x = tanh(x);
        x = pool1(x);  // → [N, 6, 14, 14]
        x = conv2(x);  // → [N, 16, 10, 10]
        x = tanh(x);
        x = pool2(x);  // → [N, 16, 5, 5]
        x = flatten(x, 1);
        x = tanh(fc1(x));
        x = tanh(fc2(x));
        x = dropout(x);
        return fc3(x);  // → [N, 10]
    }

    nn::ModuleRef<nn::Conv2d> conv1, conv2;
    nn::ModuleRef<nn::AvgPool2d> pool1, pool2;
    nn::ModuleRef<nn::Linear> fc1, fc2, fc3;
    nn::ModuleRef<nn::Dropout> dropout;
};

class LeNetProgram final : public Classifier {
public:
    explicit LeNetProgram(const ProgramOptions& options)
        : Classifier(loadDigitImages(options.dataDir), options),
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
    LeNet m_net;
};

}  // namespace

ModelEntry lenet() {
    return {.name = "lenet",
            .summary = "LeNet-5 on digits of 32×32 pixels (MNIST from --data, or built in)",
            .settings = Classifier::settings(2e-3, 6, 0),
            .defaultSteps = 600,
            .dataHelp = mnistHelp(),
            .sources = {embeddedFile("plugins/models/lenet.cpp"),
                        embeddedFile("plugins/models/classifier.cpp")},
            .create = [](const ProgramOptions& options) {
                return std::make_unique<LeNetProgram>(options);
            }};
}

}  // namespace tapescope::plugins
