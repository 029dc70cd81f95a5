// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

namespace tapescope::engine::cpu {

/// Samples across one bin, at most: more cannot be meant.
inline constexpr std::int64_t kMaxRoiSamples = 512;

struct RoiAlignShape {
    std::int64_t batch = 0;
    std::int64_t channels = 0;
    std::int64_t height = 0;
    std::int64_t width = 0;
    std::int64_t boxes = 0;
    std::int64_t binRows = 1;
    std::int64_t binColumns = 1;
    double scale = 1;
    std::int64_t samplingRatio = -1;
    bool aligned = false;
};

/// input [N, C, H, W], boxes [K, 5] → out [K, C, rows, columns]. Throws IndexError for an image
/// that input does not have.
void roiAlign(const RoiAlignShape& shape, const Tensor& input, const Tensor& boxes,
              const Tensor& out);
/// The adjoint in input.
void roiAlignBackward(const RoiAlignShape& shape, const Tensor& grad, const Tensor& boxes,
                      const Tensor& out);

}  // namespace tapescope::engine::cpu
