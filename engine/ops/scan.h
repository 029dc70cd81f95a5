// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/sorting.h"

namespace tapescope::engine {

// Running values along dim; the output has x's sizes. Integers multiply as int64.
Tensor cumprod(const Tensor& x, std::int64_t dim, Site site = {});
/// (running extreme, its last place); NaN from the first NaN on.
ValuesAndIndices cummax(const Tensor& x, std::int64_t dim, Site site = {});
ValuesAndIndices cummin(const Tensor& x, std::int64_t dim, Site site = {});
Tensor logcumsumexp(const Tensor& x, std::int64_t dim, Site site = {});

/// Differences of neighbours along dim, n times over; prepend and append are joined to x first.
Tensor diff(const Tensor& x, std::int64_t n = 1, std::int64_t dim = -1, const Tensor& prepend = {},
            const Tensor& append = {}, Site site = {});
/// The integral of y along dim by trapezoids `dx` wide, or between the places x.
Tensor trapezoid(const Tensor& y, double dx = 1, std::int64_t dim = -1, Site site = {});
Tensor trapezoid(const Tensor& y, const Tensor& x, std::int64_t dim = -1, Site site = {});
Tensor cumulative_trapezoid(const Tensor& y, double dx = 1, std::int64_t dim = -1, Site site = {});
Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, std::int64_t dim = -1,
                            Site site = {});

}  // namespace tapescope::engine
