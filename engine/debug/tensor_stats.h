// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace tapescope::engine::debug {

/// What is said of a tensor before any value is shown. min, max, mean, std and the histogram are of
/// the finite values; NaN (no bins) if there is none. std divides by their number, as numpy.std
/// does. Of complex numbers: of their magnitudes.
struct TensorStats {
    std::int64_t numel = 0;
    bool magnitudes = false;  ///< the numbers below are those of |z|
    std::int64_t nanCount = 0;
    std::int64_t infCount = 0;
    double min = std::numeric_limits<double>::quiet_NaN();
    double max = std::numeric_limits<double>::quiet_NaN();
    double mean = std::numeric_limits<double>::quiet_NaN();
    double std = std::numeric_limits<double>::quiet_NaN();
    /// counts[i] values lie in [edges[i], edges[i+1]), the last bin closed; edges as
    /// numpy.histogram's.
    std::vector<double> edges;
    std::vector<std::int64_t> counts;
};

/// The most bins a histogram takes.
inline constexpr int kMaxHistogramBins = 65536;

/// bins: of the histogram, 0 = none. Bool counts as 0 and 1. Any strides; two passes over the data,
/// three with a histogram. Dispatches no operator, so that looking changes nothing. Throws Error
/// for an undefined tensor or bins outside
/// 0..kMaxHistogramBins.
TensorStats tensorStats(const Tensor& tensor, int bins = 0);

}  // namespace tapescope::engine::debug
