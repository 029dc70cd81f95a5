// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/checks.h"

#include <array>

namespace tapescope::engine {

/// Sizes or attributes of up to three spatial dimensions, (depth, height, width). One- and
/// two-dimensional operators use the last ones; what is left out holds the neutral value.
using Spatial = std::array<std::int64_t, 3>;

/// "3 x 5": the `rank` dimensions in use.
inline std::string spatialText(const Spatial& values, int rank) {
    std::string text;
    for (int i = 3 - rank; i < 3; ++i)
        text += (text.empty() ? "" : " x ") + std::to_string(values[static_cast<unsigned>(i)]);
    return text;
}

/// No kernel, stride or padding is larger: sums and products with a size then fit an int64.
inline constexpr std::int64_t kMaxSpatial = std::int64_t{1} << 40;

/// An attribute of `rank` spatial dimensions; one number stands for all. Throws ShapeError below
/// `least` and above kMaxSpatial. unused: what the dimensions in front hold.
inline Spatial spatialAttr(std::string_view op, std::string_view what, const Dims& values, int rank,
                           std::int64_t least, std::int64_t unused) {
    if (values.size() != 1 && values.size() != rank) {
        static constexpr std::string_view kCounts[] = {"one number", "one or two numbers",
                                                       "one or three numbers"};
        throw ShapeError(message(op, ": ", what, " ", values, " must be ",
                                 kCounts[static_cast<unsigned>(rank - 1)]));
    }
    Spatial result{unused, unused, unused};
    for (int i = 0; i < rank; ++i) {
        const std::int64_t value = values[values.size() == 1 ? 0 : i];
        if (value < least)
            throw ShapeError(message(op, ": ", what, " ", values, " must be at least ", least));
        if (value > kMaxSpatial)
            throw ShapeError(
                message(op, ": ", what, " ", values, " must be at most ", kMaxSpatial));
        result[static_cast<unsigned>(3 - rank + i)] = value;
    }
    return result;
}

/// The last `rank` sizes of a tensor.
inline Spatial spatialSizes(const Dims& sizes, int rank) {
    Spatial result{1, 1, 1};
    for (int i = 0; i < rank; ++i)
        result[static_cast<unsigned>(3 - rank + i)] = sizes[sizes.size() - rank + i];
    return result;
}
/// sizes with the last `rank` ones replaced.
inline Dims withSpatial(const Dims& sizes, int rank, const Spatial& spatial) {
    Dims result = sizes;
    for (int i = 0; i < rank; ++i)
        result[sizes.size() - rank + i] = spatial[static_cast<unsigned>(3 - rank + i)];
    return result;
}

/// Throws ShapeError unless sizes are those of images with `rank` spatial dimensions, batched or
/// not.
inline void checkImageRank(std::string_view op, std::string_view what, const Dims& sizes,
                           int rank) {
    static constexpr std::string_view kLayouts[] = {
        "[C, L] or [N, C, L]", "[C, H, W] or [N, C, H, W]", "[C, D, H, W] or [N, C, D, H, W]"};
    if (sizes.size() != rank + 1 && sizes.size() != rank + 2)
        throw ShapeError(message(op, ": ", what, " ", sizes, " must have ", rank + 1, " or ",
                                 rank + 2, " dimensions ",
                                 kLayouts[static_cast<unsigned>(rank - 1)]));
}

/// The spatial dimensions, counted from the back, and the batch if there is one: what a bias is
/// summed over.
inline Dims allButChannels(int dim, int rank) {
    Dims dims;
    if (dim == rank + 2) dims.push_back(0);
    for (int i = rank; i > 0; --i) dims.push_back(dim - i);
    return dims;
}

}  // namespace tapescope::engine
