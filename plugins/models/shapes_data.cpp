// SPDX-License-Identifier: Apache-2.0
#include "plugins/models/shapes_data.h"

#include "engine/errors.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace tapescope::plugins {
namespace {

using namespace engine;

double unit(Generator& generator) { return static_cast<double>(generator.next32()) * 0x1p-32; }

/// Whether two boxes touch: shapes keep apart, so that every pixel has one class.
bool touch(const ShapeBox& a, const ShapeBox& b) {
    return a.left <= b.right && b.left <= a.right && a.top <= b.bottom && b.top <= a.bottom;
}

bool covers(const ShapeBox& box, double x, double y) {
    if (box.kind == 2) return x > box.left && x < box.right && y > box.top && y < box.bottom;
    const double radius = (box.right - box.left) / 2;
    return std::hypot(x - (box.left + box.right) / 2, y - (box.top + box.bottom) / 2) < radius;
}

std::vector<ShapeBox> place(std::int64_t pixels, Generator& generator) {
    const auto side = static_cast<double>(pixels);
    const std::uint32_t count = 1 + generator.next32() % 3;
    std::vector<ShapeBox> boxes;
    for (int tries = 0; boxes.size() < count && tries < 20; ++tries) {
        ShapeBox box;
        box.kind = 1 + generator.next32() % 2;
        const double size = side * (0.2 + 0.25 * unit(generator));
        box.left = (side - size) * unit(generator);
        box.top = (side - size) * unit(generator);
        box.right = box.left + size;
        box.bottom = box.top + size;
        const bool apart = std::none_of(boxes.begin(), boxes.end(),
                                        [&](const ShapeBox& other) { return touch(box, other); });
        if (apart) boxes.push_back(box);
    }
    return boxes;
}

}  // namespace

ShapeBatch drawShapes(std::int64_t count, std::int64_t pixels, Generator& generator) {
    if (pixels < 16)
        throw Error("pictures of shapes need 16 pixels or more, not " + std::to_string(pixels));
    ShapeBatch batch{Tensor::empty({count, 1, pixels, pixels}, DType::F32, MemoryRole::Input),
                     Tensor::empty({count, pixels, pixels}, DType::I64, MemoryRole::Input),
                     {}};
    float* image = batch.images.data<float>();
    std::int64_t* label = batch.classes.data<std::int64_t>();
    for (std::int64_t n = 0; n < count; ++n) {
        const std::vector<ShapeBox> boxes = place(pixels, generator);
        const double shade = 0.4 + 0.4 * unit(generator);
        for (std::int64_t i = 0; i < pixels * pixels; ++i) {
            const double x = static_cast<double>(i % pixels) + 0.5;
            const double y = static_cast<double>(i / pixels) + 0.5;
            std::int64_t kind = 0;
            for (const ShapeBox& box : boxes) {
                if (covers(box, x, y)) kind = box.kind;
            }
            *label++ = kind;
            *image++ =
                static_cast<float>((kind == 0 ? 0.15 : shade) + 0.3 * (unit(generator) - 0.5));
        }
        batch.boxes.push_back(boxes);
    }
    return batch;
}

}  // namespace tapescope::plugins
