// SPDX-License-Identifier: Apache-2.0
// A detector without anchors: every cell of a coarse grid says what it sees and how far the sides
// of its box are; boxes that overlap a better one are dropped (non-maximum suppression).
#include "engine/nn/nn.h"
#include "engine/observe/context.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "plugins/models/embedded.h"
#include "plugins/models/models.h"
#include "plugins/models/shapes_data.h"
#include "plugins/models/trainer.h"

#include <algorithm>
#include <cmath>

namespace tapescope::plugins {
namespace {

using namespace engine;

constexpr std::int64_t kStride = 4;
constexpr std::int64_t kKinds = 3;  // ground, disc, square
constexpr std::int64_t kOutputs = kKinds + 4;

struct Detector : nn::Module {
    explicit Detector(std::int64_t width) : Module("Detector") {
        const nn::Conv2dOptions half{.stride = 2, .padding = 1, .bias = false};
        const nn::Conv2dOptions same{.padding = 1, .bias = false};
        backbone = register_module<nn::Sequential>(
            "backbone", nn::make<nn::Conv2d>(1, width, 3, half), nn::make<nn::BatchNorm2d>(width),
            nn::make<nn::ReLU>(), nn::make<nn::Conv2d>(width, 2 * width, 3, half),
            nn::make<nn::BatchNorm2d>(2 * width), nn::make<nn::ReLU>(),
            nn::make<nn::Conv2d>(2 * width, 2 * width, 3, same),
            nn::make<nn::BatchNorm2d>(2 * width), nn::make<nn::ReLU>(),
            nn::make<nn::Conv2d>(2 * width, 2 * width, 3, same),
            nn::make<nn::BatchNorm2d>(2 * width), nn::make<nn::ReLU>());
        kinds = register_module<nn::Conv2d>("kinds", 2 * width, kKinds, 3,
                                            nn::Conv2dOptions{.padding = 1});
        sides =
            register_module<nn::Conv2d>("sides", 2 * width, 4, 3, nn::Conv2dOptions{.padding = 1});
    }

    /// [N, 1, S, S] → a row a cell: three scores, and left, top, right, bottom in cells.
    Tensor forward(const Tensor& images) override {
        const Tensor x = backbone(images);
        const std::vector<Tensor> both{kinds(x), softplus(sides(x))};
        const Tensor y = permute(cat(both, 1), {0, 2, 3, 1});
        return reshape(y, {-1, kOutputs});
    }

    nn::ModuleRef<nn::Sequential> backbone;
    nn::ModuleRef<nn::Conv2d> kinds, sides;
};

/// What the cells should say: the kind of the box that covers their middle, and its sides.
struct Wanted {
    Tensor kinds;  ///< i64[cells]
    Tensor sides;  ///< f32[k, 4] of the cells that see a shape
    Tensor seen;   ///< i64[k], their numbers
};

Wanted wantedOf(const ShapeBatch& shapes, std::int64_t grid) {
    std::vector<std::int64_t> kinds;
    std::vector<float> sides;
    std::vector<std::int64_t> seen;
    for (const std::vector<ShapeBox>& boxes : shapes.boxes) {
        for (std::int64_t cell = 0; cell < grid * grid; ++cell) {
            const double x = (static_cast<double>(cell % grid) + 0.5) * kStride;
            const double y = (static_cast<double>(cell / grid) + 0.5) * kStride;
            std::int64_t kind = 0;
            for (const ShapeBox& box : boxes) {
                if (x < box.left || x > box.right || y < box.top || y > box.bottom) continue;
                kind = box.kind;
                for (const double side : {x - box.left, y - box.top, box.right - x, box.bottom - y})
                    sides.push_back(static_cast<float>(side / kStride));
                seen.push_back(static_cast<std::int64_t>(kinds.size()));
                break;
            }
            kinds.push_back(kind);
        }
    }
    const auto cells = static_cast<std::int64_t>(kinds.size());
    const auto count = static_cast<std::int64_t>(seen.size());
    return {Tensor::from(std::span<const std::int64_t>(kinds), {cells}),
            Tensor::from(std::span<const float>(sides), {count, 4}),
            Tensor::from(std::span<const std::int64_t>(seen), {count})};
}

struct Found {
    ShapeBox box;
    double score = 0;
};

double iou(const ShapeBox& a, const ShapeBox& b) {
    const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
    const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
    if (width <= 0 || height <= 0) return 0;
    const auto area = [](const ShapeBox& box) {
        return (box.right - box.left) * (box.bottom - box.top);
    };
    return width * height / (area(a) + area(b) - width * height);
}

/// The best boxes first; one that overlaps a better one by more than `most` is dropped.
std::vector<Found> suppress(std::vector<Found> all, double most) {
    std::stable_sort(all.begin(), all.end(),
                     [](const Found& a, const Found& b) { return a.score > b.score; });
    std::vector<Found> kept;
    for (const Found& found : all) {
        const bool covered = std::any_of(kept.begin(), kept.end(), [&](const Found& better) {
            return iou(better.box, found.box) > most;
        });
        if (!covered) kept.push_back(found);
    }
    return kept;
}

/// The boxes of one picture, from its cells' rows.
std::vector<Found> boxesOf(const double* rows, std::int64_t grid) {
    std::vector<Found> all;
    for (std::int64_t cell = 0; cell < grid * grid; ++cell, rows += kOutputs) {
        const auto best = std::max_element(rows, rows + kKinds) - rows;
        if (best == 0) continue;
        double total = 0;
        for (std::int64_t k = 0; k < kKinds; ++k) total += std::exp(rows[k] - rows[best]);
        const double x = static_cast<double>(cell % grid) + 0.5;
        const double y = static_cast<double>(cell / grid) + 0.5;
        const double* side = rows + kKinds;
        all.push_back({{best, (x - side[0]) * kStride, (y - side[1]) * kStride,
                        (x + side[2]) * kStride, (y + side[3]) * kStride},
                       1 / total});
    }
    return suppress(std::move(all), 0.5);
}

class DetectorProgram final : public Trainer {
public:
    explicit DetectorProgram(const ProgramOptions& options)
        : Trainer(options),
          m_pixels(options.settings.integer("image")),
          m_net(options.settings.integer("width")) {
        if (m_pixels % kStride != 0) {
            throw UsageError("detector: the pictures must be a multiple of " +
                             std::to_string(kStride) + " pixels wide, not " +
                             std::to_string(m_pixels));
        }
        train(m_net.parameters());
    }

    nn::Module& model() override { return m_net; }

    void trainStep(std::int64_t step, RunLog& log) override {
        const ShapeBatch shapes = drawShapes(batch(), m_pixels, Context::current().generator());
        optimizer().zero_grad();
        const Tensor rows = m_net(shapes.images);
        const Losses losses = lossOf(rows, wantedOf(shapes, m_pixels / kStride));
        const Tensor loss = losses.kinds + losses.sides;
        loss.backward();
        update();
        report(step, log, loss);
        log.scalar("train/loss_kinds", step, losses.kinds.item());
        log.scalar("train/loss_sides", step, losses.sides.item());
    }

    void validate(std::int64_t step, RunLog& log) override {
        const NoGradGuard no_grad;
        const PhaseScope phase(Phase::Evaluate);
        m_net.eval();
        Generator generator(1);  // the same pictures every time
        const std::int64_t grid = m_pixels / kStride;
        const ShapeBatch shapes = drawShapes(32, m_pixels, generator);
        const Tensor rows = m_net(shapes.images);
        const Losses losses = lossOf(rows, wantedOf(shapes, grid));
        log.scalar("val/loss", step, losses.kinds.item() + losses.sides.item());
        const std::vector<double> values = rows.to_vector();
        double right = 0;
        double found = 0;
        double wanted = 0;
        for (std::size_t n = 0; n < shapes.boxes.size(); ++n) {
            const std::size_t row = n * static_cast<std::size_t>(grid * grid * kOutputs);
            const std::vector<Found> boxes = boxesOf(values.data() + row, grid);
            found += static_cast<double>(boxes.size());
            wanted += static_cast<double>(shapes.boxes[n].size());
            for (const ShapeBox& box : shapes.boxes[n]) {
                right += std::any_of(boxes.begin(), boxes.end(), [&](const Found& f) {
                    return f.box.kind == box.kind && iou(f.box, box) >= 0.5;
                });
            }
        }
        log.scalar("val/precision", step, found > 0 ? right / found : 0);
        log.scalar("val/recall", step, wanted > 0 ? right / wanted : 0);
        m_net.train();
    }

private:
    struct Losses {
        Tensor kinds, sides;
    };
    static Losses lossOf(const Tensor& rows, const Wanted& wanted) {
        const Tensor kinds = cross_entropy(narrow(rows, 1, 0, kKinds), wanted.kinds);
        if (wanted.seen.numel() == 0) return {kinds, sum(rows) * 0};
        const Tensor seen = index_select(narrow(rows, 1, kKinds, 4), 0, wanted.seen);
        return {kinds, l1_loss(seen, wanted.sides)};
    }

    std::int64_t m_pixels;
    Detector m_net;
};

}  // namespace

ModelEntry detector() {
    return {.name = "detector",
            .summary = "finds discs and squares and draws boxes around them (drawn as it trains)",
            .settings = Trainer::settings(
                5e-3, 16,
                {{"width", std::int64_t{16}, "channels of the first convolution", {}, 1, 256},
                 {"image", std::int64_t{32}, "pixels of a picture", {}, 16, 512}}),
            .defaultSteps = 400,
            .sources = {embeddedFile("plugins/models/detector.cpp"),
                        embeddedFile("plugins/models/trainer.cpp")},
            .create = [](const ProgramOptions& options) {
                return std::make_unique<DetectorProgram>(options);
            }};
}

}  // namespace tapescope::plugins
