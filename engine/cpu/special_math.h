// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tapescope::engine::cpu {

// Special functions that the C library lacks, to about 1e-14 relative. Any thread.

/// The derivative of log gamma. -inf at 0 (inf at -0), NaN at the negative integers.
double digamma(double x);
/// The n-th derivative of digamma, n >= 1: (-1)^(n+1) n! sum over k >= 0 of 1 / (x + k)^(n+1).
double polygamma(std::int64_t n, double x);

}  // namespace tapescope::engine::cpu
