// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <vector>

namespace tapescope::engine {

enum class Interpolation : std::uint8_t {
    Nearest,
    NearestExact,
    Linear,
    Bilinear,
    Trilinear,
    Bicubic,
    Area
};
struct InterpolateOptions {
    Dims size{};                         ///< the spatial sizes, or one for all
    std::vector<double> scale_factor{};  ///< instead: output per input element, one or one each
    Interpolation mode = Interpolation::Nearest;
    bool align_corners = false;
    /// The scale that the rounded sizes give is used, not the given one.
    bool recompute_scale_factor = false;
    bool antialias = false;  ///< Bilinear and Bicubic only
};
/// input [N, C, d...] with one to three spatial dimensions, as the mode says (Nearest and Area take
/// any).
Tensor interpolate(const Tensor& input, const InterpolateOptions& options, Site site = {});

enum class GridMode : std::uint8_t { Bilinear, Nearest, Bicubic };
enum class GridPadding : std::uint8_t { Zeros, Border, Reflection };
/// input [N, C, H, W], grid [N, h, w, 2] of (x, y), or [N, C, D, H, W] and [N, d, h, w, 3] of
/// (x, y, z); -1 and 1 are the borders. Bicubic: 2-d only.
Tensor grid_sample(const Tensor& input, const Tensor& grid, GridMode mode = GridMode::Bilinear,
                   GridPadding padding_mode = GridPadding::Zeros, bool align_corners = false,
                   Site site = {});
/// theta [N, 2, 3] and size [N, C, H, W], or [N, 3, 4] and [N, C, D, H, W]: the grid that samples
/// an affine image of the input.
Tensor affine_grid(const Tensor& theta, const Dims& size, bool align_corners = false,
                   Site site = {});

// Detection; boxes are (x1, y1, x2, y2). Semantics: torchvision.ops.

/// boxes [N, 4]: [N].
Tensor box_area(const Tensor& boxes, Site site = {});
/// a [N, 4], b [M, 4]: intersection over union of every pair, [N, M].
Tensor box_iou(const Tensor& a, const Tensor& b, Site site = {});
/// Indices of the boxes [N, 4] that stay, by falling score [N]: those that overlap none before them
/// by more than iou_threshold.
Tensor nms(const Tensor& boxes, const Tensor& scores, double iou_threshold, Site site = {});
struct RoiAlignOptions {
    Dims output_size{1};  ///< height and width
    double spatial_scale = 1;
    std::int64_t sampling_ratio = -1;  ///< samples a bin and axis; -1: as many as elements
    bool aligned = false;              ///< boxes are half a pixel further left and up
};
/// input [N, C, H, W], boxes [K, 5] of (image, x1, y1, x2, y2): [K, C, height, width]. Boxes get no
/// gradient.
Tensor roi_align(const Tensor& input, const Tensor& boxes, const RoiAlignOptions& options,
                 Site site = {});

}  // namespace tapescope::engine
