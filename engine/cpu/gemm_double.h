// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/gemm_kernels.h"

namespace tapescope::engine::cpu {

/// gemmLoops for float64 in blocks that stay in cache, a and b packed: for products of many
/// elements, which oneDNN has no routine for. Source: Goto and van de Geijn 2008.
void gemmDouble(std::int64_t m, std::int64_t n, std::int64_t k, MatrixRef<double> a,
                MatrixRef<double> b, double* c, std::int64_t ldc, bool accumulate);

}  // namespace tapescope::engine::cpu
