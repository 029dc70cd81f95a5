// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// The inner block of a float64 matrix product; see loops.h for the rules of this folder.
namespace tapescope::engine::cpu {

struct GemmTable {
    int rows;  ///< of the block that stays in registers
    int cols;
    /// c [rows, cols], rows ldc apart, += a b. a: depth times `rows` elements of one column, b:
    /// depth times `cols` of one row.
    void (*block)(std::int64_t depth, const double* a, const double* b, double* c,
                  std::int64_t ldc);
};

namespace base {
extern const GemmTable kGemmTable;
}
namespace avx2 {
extern const GemmTable kGemmTable;
}
namespace avx512 {
extern const GemmTable kGemmTable;
}

}  // namespace tapescope::engine::cpu
