// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <charconv>
#include <string>

namespace tapescope::engine::nn {

/// The shortest text that reads back as x: "0.25", "1e-05".
inline std::string numberText(double x) {
    std::array<char, 32> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), x).ptr;
    return {buffer.data(), end};
}

}  // namespace tapescope::engine::nn
