// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/dims.h"

#include <cstdint>
#include <string>

namespace tapescope::engine::nn {

/// Height and width of a window, step or border; one number stands for both.
struct Pair {
    std::int64_t height = 0;
    std::int64_t width = 0;
    constexpr Pair() = default;
    constexpr Pair(std::int64_t both)
        : height(both), width(both) {}  // NOLINT(google-explicit-constructor)
    constexpr Pair(std::int64_t h, std::int64_t w) : height(h), width(w) {}
    Dims dims() const { return {height, width}; }
    /// "3×3"
    std::string text() const { return std::to_string(height) + "×" + std::to_string(width); }
    /// "1" where both are equal, else "1×2"
    std::string shortText() const { return height == width ? std::to_string(height) : text(); }
    friend constexpr bool operator==(const Pair&, const Pair&) = default;
};

}  // namespace tapescope::engine::nn
