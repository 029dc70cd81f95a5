// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <cstdint>
#include <functional>

namespace tapescope::engine::optim {

/// A place on the line of search: step length, value, gradient and slope along the direction.
struct LinePoint {
    double t = 0;
    double f = 0;
    Tensor g;
    double slope = 0;
};
struct LineResult {
    LinePoint point;
    std::int64_t evaluations = 0;
};

/// A step length with sufficient decrease and curvature (the strong Wolfe conditions, c1 = 1e-4, c2
/// = 0.9), by bracketing and zooming with cubic interpolation. start: at t = 0. first: the first
/// length to try. largest: the direction's largest element. Source: torch.optim.lbfgs.
LineResult strongWolfe(const std::function<LinePoint(double t)>& at, const LinePoint& start,
                       double first, double largest, std::int64_t maxEvaluations);

}  // namespace tapescope::engine::optim
