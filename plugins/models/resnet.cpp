// SPDX-License-Identifier: Apache-2.0
// ResNet-18 and ResNet-50 (He et al. 2016): blocks that add what they learn to their input.
#include "engine/nn/nn.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"
#include "plugins/models/classifier.h"
#include "plugins/models/datasets.h"
#include "plugins/models/embedded.h"
#include "plugins/models/images.h"
#include "plugins/models/models.h"

#include <array>

namespace tapescope::plugins {
namespace {

using namespace engine;

/// The input, made to fit the block's output where strides or channels change.
std::shared_ptr<nn::Module> shortcutOf(std::int64_t in, std::int64_t out, std::int64_t stride) {
    if (in == out && stride == 1) return nn::make<nn::Identity>();
    return nn::make<nn::Sequential>(
        nn::make<nn::Conv2d>(in, out, 1, nn::Conv2dOptions{.stride = stride, .bias = false}),
        nn::make<nn::BatchNorm2d>(out));
}

/// Two 3×3 convolutions.
struct BasicBlock : nn::Module {
    static constexpr std::int64_t kExpansion = 1;
    BasicBlock(std::int64_t in, std::int64_t width, std::int64_t stride) : Module("BasicBlock") {
        conv1 = register_module<nn::Conv2d>(
            "conv1", in, width, 3,
            nn::Conv2dOptions{.stride = stride, .padding = 1, .bias = false});
        bn1 = register_module<nn::BatchNorm2d>("bn1", width);
        conv2 = register_module<nn::Conv2d>("conv2", width, width, 3,
                                            nn::Conv2dOptions{.padding = 1, .bias = false});
        bn2 = register_module<nn::BatchNorm2d>("bn2", width);
        adopt("downsample", shortcutOf(in, width, stride));
        shortcut = children().back();
    }

    Tensor forward(const Tensor& x) override {
        Tensor y = relu(bn1(conv1(x)));
        y = bn2(conv2(y));
        return relu(y + (*shortcut)(x));
    }

    nn::ModuleRef<nn::Conv2d> conv1, conv2;
    nn::ModuleRef<nn::BatchNorm2d> bn1, bn2;
    std::shared_ptr<nn::Module> shortcut;
};

/// A 3×3 convolution between two 1×1 ones that narrow and widen.
struct Bottleneck : nn::Module {
    static constexpr std::int64_t kExpansion = 4;
    Bottleneck(std::int64_t in, std::int64_t width, std::int64_t stride) : Module("Bottleneck") {
        const std::int64_t out = kExpansion * width;
        conv1 =
            register_module<nn::Conv2d>("conv1", in, width, 1, nn::Conv2dOptions{.bias = false});
        bn1 = register_module<nn::BatchNorm2d>("bn1", width);
        conv2 = register_module<nn::Conv2d>(
            "conv2", width, width, 3,
            nn::Conv2dOptions{.stride = stride, .padding = 1, .bias = false});
        bn2 = register_module<nn::BatchNorm2d>("bn2", width);
        conv3 =
            register_module<nn::Conv2d>("conv3", width, out, 1, nn::Conv2dOptions{.bias = false});
        bn3 = register_module<nn::BatchNorm2d>("bn3", out);
        adopt("downsample", shortcutOf(in, out, stride));
        shortcut = children().back();
    }

    Tensor forward(const Tensor& x) override {
        Tensor y = relu(bn1(conv1(x)));
        y = relu(bn2(conv2(y)));
        y = bn3(conv3(y));
        return relu(y + (*shortcut)(x));
    }

    nn::ModuleRef<nn::Conv2d> conv1, conv2, conv3;
    nn::ModuleRef<nn::BatchNorm2d> bn1, bn2, bn3;
    std::shared_ptr<nn::Module> shortcut;
};

template <class Block>
struct ResNet : nn::Module {
    ResNet(const char* name, const std::array<std::int64_t, 4>& depths, const Settings& set,
           std::int64_t pixels)
        : Module(name),
          m_scale(enlargement(pixels, set.integer("image"))),
          m_large(set.text("stem") == "imagenet") {
        const std::int64_t width = set.integer("width");
        const nn::Conv2dOptions large{.stride = 2, .padding = 3, .bias = false};
        const nn::Conv2dOptions small{.padding = 1, .bias = false};
        conv1 = register_module<nn::Conv2d>("conv1", 1, width, m_large ? 7 : 3,
                                            m_large ? large : small);
        bn1 = register_module<nn::BatchNorm2d>("bn1", width);
        maxpool = register_module<nn::MaxPool2d>("maxpool", 3, 2, 1);
        std::int64_t in = width;
        for (std::size_t stage = 0; stage < depths.size(); ++stage) {
            const std::int64_t channels = width << stage;
            auto layer = register_module<nn::Sequential>("layer" + std::to_string(stage + 1));
            for (std::int64_t i = 0; i < depths[stage]; ++i) {
                layer->push_back(nn::make<Block>(in, channels, i == 0 && stage > 0 ? 2 : 1));
                in = channels * Block::kExpansion;
            }
            layers.push_back(layer);
        }
        avgpool = register_module<nn::AdaptiveAvgPool2d>("avgpool", 1);
        dropout = register_module<nn::Dropout>("dropout", set.real("dropout"));
        fc = register_module<nn::Linear>("fc", in, 10);
        apply([](nn::Module& module) {
            if (auto* conv = dynamic_cast<nn::Conv2d*>(&module)) {
                nn::init::kaiming_normal_(conv->weight, 0, nn::init::FanMode::FanOut,
                                          nn::init::Nonlinearity::Relu);
            }
        });
    }

    Tensor forward(const Tensor& images) override {
        Tensor x = enlarge(images, m_scale);
        x = relu(bn1(conv1(x)));
        if (m_large) x = maxpool(x);
        for (const auto& layer : layers) x = layer(x);
        x = avgpool(x);
        x = flatten(x, 1);
        x = dropout(x);
        return fc(x);
    }

    std::int64_t m_scale;
    bool m_large;
    nn::ModuleRef<nn::Conv2d> conv1;
    nn::ModuleRef<nn::BatchNorm2d> bn1;
    nn::ModuleRef<nn::MaxPool2d> maxpool;
    std::vector<nn::ModuleRef<nn::Sequential>> layers;
    nn::ModuleRef<nn::AdaptiveAvgPool2d> avgpool;
    nn::ModuleRef<nn::Dropout> dropout;
    nn::ModuleRef<nn::Linear> fc;
};

template <class Block>
class ResNetProgram final : public Classifier {
public:
    ResNetProgram(const char* name, const std::array<std::int64_t, 4>& depths,
                  const ProgramOptions& options)
        : Classifier(loadDigitImages(options.dataDir), options),
          m_net(name, depths, options.settings, options.dataDir ? 32 : 8) {
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
    ResNet<Block> m_net;
};

template <class Block>
ModelEntry entryOf(const char* name, const char* type, const char* summary,
                   std::array<std::int64_t, 4> depths, std::int64_t steps) {
    std::vector<Setting> settings = Classifier::settings(2e-3, 16, 0);
    for (Setting& setting : settings) {
        if (setting.name == "batch") setting.defaultValue = std::int64_t{32};
        if (setting.name == "width")
            setting.help = "channels of the first layer; 64 is the paper's";
    }
    settings.push_back({"image", std::int64_t{32}, "pixels, a multiple of the data's", {}, 8, 512});
    settings.push_back({"stem",
                        std::string("cifar"),
                        "cifar (3×3) or imagenet (7×7, stride 2, pooled)",
                        {"cifar", "imagenet"}});
    return {.name = name,
            .summary = summary,
            .settings = std::move(settings),
            .defaultSteps = steps,
            .dataHelp = mnistHelp(),
            .sources = {embeddedFile("plugins/models/resnet.cpp"),
                        embeddedFile("plugins/models/classifier.cpp")},
            .create = [type, depths](const ProgramOptions& options) {
                return std::make_unique<ResNetProgram<Block>>(type, depths, options);
            }};
}

}  // namespace

ModelEntry resnet18() {
    return entryOf<BasicBlock>("resnet18", "ResNet18",
                               "ResNet-18 on digits (MNIST from --data, or built in)", {2, 2, 2, 2},
                               300);
}

ModelEntry resnet50() {
    return entryOf<Bottleneck>("resnet50", "ResNet50",
                               "ResNet-50 on digits (MNIST from --data, or built in)", {3, 4, 6, 3},
                               150);
}

}  // namespace tapescope::plugins
