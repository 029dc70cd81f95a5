// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/dims.h"

#include <algorithm>
#include <string>

namespace tapescope::engine::nn {

/// "3×5×5"; "3" where all are equal and brief is set.
inline std::string timesText(const Dims& dims, bool brief = false) {
    const bool equal =
        std::all_of(dims.begin(), dims.end(), [&](std::int64_t value) { return value == dims[0]; });
    if (brief && equal && !dims.empty()) return std::to_string(dims[0]);
    std::string text;
    for (const std::int64_t value : dims) text += (text.empty() ? "" : "×") + std::to_string(value);
    return text;
}
/// One number as rank equal ones.
inline Dims spread(const Dims& dims, int rank) {
    return dims.size() == 1 ? Dims::filled(rank, dims[0]) : dims;
}

}  // namespace tapescope::engine::nn
