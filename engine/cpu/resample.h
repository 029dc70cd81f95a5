// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <array>

namespace tapescope::engine::cpu {

enum class ResampleMode : std::uint8_t { Nearest, NearestExact, Linear, Cubic };

/// Planes of up to three dimensions (depth, height, width), resized axis by axis; unused axes in
/// front have sizes 1.
struct ResampleShape {
    using Triple = std::array<std::int64_t, 3>;
    ResampleMode mode = ResampleMode::Nearest;
    bool alignCorners = false;
    bool antialias = false;
    std::int64_t planes = 0;
    Triple input{1, 1, 1};
    Triple output{1, 1, 1};
    std::array<double, 3> scale{};  ///< output per input element; 0: what the sizes say
};

void resample(const ResampleShape& shape, const Tensor& input, const Tensor& out);
/// The adjoint: grad of the output's sizes, out of the input's.
void resampleBackward(const ResampleShape& shape, const Tensor& grad, const Tensor& out);

}  // namespace tapescope::engine::cpu
