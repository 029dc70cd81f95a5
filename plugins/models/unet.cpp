// SPDX-License-Identifier: Apache-2.0
// A U-Net (Ronneberger et al. 2015) that tells discs, squares and ground apart, pixel by pixel.
#include "engine/nn/nn.h"
#include "engine/observe/context.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "plugins/models/embedded.h"
#include "plugins/models/images.h"
#include "plugins/models/models.h"
#include "plugins/models/shapes_data.h"
#include "plugins/models/trainer.h"

#include <array>

namespace tapescope::plugins {
namespace {

using namespace engine;

constexpr std::int64_t kClasses = 3;

/// Two 3×3 convolutions.
struct DoubleConv : nn::Module {
    DoubleConv(std::int64_t in, std::int64_t out) : Module("DoubleConv") {
        const nn::Conv2dOptions same{.padding = 1, .bias = false};
        conv1 = register_module<nn::Conv2d>("conv1", in, out, 3, same);
        bn1 = register_module<nn::BatchNorm2d>("bn1", out);
        conv2 = register_module<nn::Conv2d>("conv2", out, out, 3, same);
        bn2 = register_module<nn::BatchNorm2d>("bn2", out);
    }
    Tensor forward(const Tensor& x) override {
        Tensor y = relu(bn1(conv1(x)));
        return relu(bn2(conv2(y)));
    }
    nn::ModuleRef<nn::Conv2d> conv1, conv2;
    nn::ModuleRef<nn::BatchNorm2d> bn1, bn2;
};

struct UNet : nn::Module {
    UNet(std::int64_t width, std::int64_t depth) : Module("UNet") {
        std::int64_t in = 1;
        for (std::int64_t i = 0; i <= depth; ++i) {
            down.push_back(register_module<DoubleConv>("down" + std::to_string(i), in, width << i));
            in = width << i;
        }
        pool = register_module<nn::MaxPool2d>("pool", 2);
        for (std::int64_t i = depth - 1; i >= 0; --i) {
            up.push_back(register_module<DoubleConv>("up" + std::to_string(i), in + (width << i),
                                                     width << i));
            in = width << i;
        }
        head = register_module<nn::Conv2d>("head", in, kClasses, 1);
    }

    Tensor forward(const Tensor& images) override {  // [N, 1, S, S] → [N, 3, S, S]
        std::vector<Tensor> passed;
        Tensor x = images;
        for (std::size_t i = 0; i + 1 < down.size(); ++i) {
            x = down[i](x);
            passed.push_back(x);
            x = pool(x);
        }
        x = down.back()(x);
        for (const auto& stage : up) {
            const std::array<Tensor, 2> both{passed.back(), enlarge(x, 2)};
            passed.pop_back();
            x = stage(cat(both, 1));
        }
        return head(x);
    }

    std::vector<nn::ModuleRef<DoubleConv>> down, up;
    nn::ModuleRef<nn::MaxPool2d> pool;
    nn::ModuleRef<nn::Conv2d> head;
};

/// Pixels as rows: [N, 3, S, S] → [N·S·S, 3].
Tensor asRows(const Tensor& logits) {
    return reshape(permute(logits, {0, 2, 3, 1}), {-1, kClasses});
}

class UNetProgram final : public Trainer {
public:
    explicit UNetProgram(const ProgramOptions& options)
        : Trainer(options),
          m_pixels(options.settings.integer("image")),
          m_net(options.settings.integer("width"), options.settings.integer("depth")) {
        const std::int64_t step = std::int64_t{1} << options.settings.integer("depth");
        if (m_pixels % step != 0) {
            throw UsageError("unet: pictures of " + std::to_string(m_pixels) +
                             " pixels cannot be halved " +
                             std::to_string(options.settings.integer("depth")) +
                             " times; choose a multiple of " + std::to_string(step));
        }
        train(m_net.parameters());
    }

    nn::Module& model() override { return m_net; }

    void trainStep(std::int64_t step, RunLog& log) override {
        const ShapeBatch shapes = drawShapes(batch(), m_pixels, Context::current().generator());
        optimizer().zero_grad();
        const Tensor rows = asRows(m_net(shapes.images));
        const Tensor loss = cross_entropy(rows, reshape(shapes.classes, {-1}));
        loss.backward();
        update();
        report(step, log, loss);
    }

    void validate(std::int64_t step, RunLog& log) override {
        const NoGradGuard no_grad;
        const PhaseScope phase(Phase::Evaluate);
        m_net.eval();
        Generator generator(1);  // the same pictures every time
        const ShapeBatch shapes = drawShapes(32, m_pixels, generator);
        const Tensor rows = asRows(m_net(shapes.images));
        const Tensor wanted = reshape(shapes.classes, {-1});
        log.scalar("val/loss", step, cross_entropy(rows, wanted).item());
        const Tensor found = argmax(rows, 1);
        log.scalar("val/accuracy", step, mean(to(eq(found, wanted), DType::F32)).item());
        log.scalar("val/iou", step, meanIou(found, wanted));
        m_net.train();
    }

private:
    /// Intersection over union, the mean over the classes.
    static double meanIou(const Tensor& found, const Tensor& wanted) {
        const std::vector<std::int64_t> a = found.to_vector<std::int64_t>();
        const std::vector<std::int64_t> b = wanted.to_vector<std::int64_t>();
        std::array<double, kClasses> both{};
        std::array<double, kClasses> any{};
        for (std::size_t i = 0; i < a.size(); ++i) {
            any[static_cast<std::size_t>(a[i])] += 1;
            if (a[i] == b[i]) {
                both[static_cast<std::size_t>(a[i])] += 1;
            } else {
                any[static_cast<std::size_t>(b[i])] += 1;
            }
        }
        double sum = 0;
        for (std::size_t c = 0; c < kClasses; ++c) sum += any[c] > 0 ? both[c] / any[c] : 1;
        return sum / kClasses;
    }

    std::int64_t m_pixels;
    UNet m_net;
};

}  // namespace

ModelEntry unet() {
    return {.name = "unet",
            .summary = "a U-Net that outlines discs and squares (drawn as it trains)",
            .settings = Trainer::settings(
                5e-3, 8,
                {{"width", std::int64_t{8}, "channels of the first stage", {}, 1, 256},
                 {"depth", std::int64_t{2}, "times the picture is halved", {}, 1, 5},
                 {"image", std::int64_t{32}, "pixels of a picture", {}, 16, 512}}),
            .defaultSteps = 300,
            .sources = {embeddedFile("plugins/models/unet.cpp"),
                        embeddedFile("plugins/models/trainer.cpp")},
            .create = [](const ProgramOptions& options) {
                return std::make_unique<UNetProgram>(options);
            }};
}

}  // namespace tapescope::plugins
