// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/random.h"
#include "engine/tensor/tensor.h"

#include <cstdint>
#include <vector>

namespace tapescope::plugins {

/// A box in pixels: [left, right) × [top, bottom).
struct ShapeBox {
    std::int64_t kind = 0;  ///< 1 disc, 2 square
    double left = 0, top = 0, right = 0, bottom = 0;
};

/// Noisy pictures of one to three discs and squares, drawn anew from the generator each time.
struct ShapeBatch {
    engine::Tensor images;                     ///< f32[N, 1, S, S]
    engine::Tensor classes;                    ///< i64[N, S, S]: 0 ground, 1 disc, 2 square
    std::vector<std::vector<ShapeBox>> boxes;  ///< of each picture
};
/// Throws engine::Error for pictures under 16 pixels.
ShapeBatch drawShapes(std::int64_t count, std::int64_t pixels, engine::Generator& generator);

}  // namespace tapescope::plugins
