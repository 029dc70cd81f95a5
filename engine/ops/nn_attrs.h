// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/checks.h"

#include <array>

namespace tapescope::engine {

/// A (height, width) attribute; one number stands for both. Throws ShapeError below `least`.
inline std::array<std::int64_t, 2> pairAttr(std::string_view op, std::string_view what,
                                            const Dims& values, std::int64_t least) {
    if (values.size() != 1 && values.size() != 2)
        throw ShapeError(message(op, ": ", what, " ", values, " must be one or two numbers"));
    const std::array<std::int64_t, 2> pair{values[0], values.back()};
    for (const std::int64_t value : pair)
        if (value < least)
            throw ShapeError(message(op, ": ", what, " ", values, " must be at least ", least));
    return pair;
}

}  // namespace tapescope::engine
