// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/gemm_double.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace tapescope::engine::cpu {
namespace {

std::vector<double> sample(std::int64_t n, double salt) {
    std::vector<double> x(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = std::sin(salt + 0.7 * static_cast<double>(i * i % 1009));
    return x;
}

TEST(GemmDouble, AgreesWithTheDefinitionAtEveryEdge) {
    struct Sizes {
        std::int64_t m, n, k;
    };
    // Around the blocks of registers and of cache, and beyond the largest.
    for (const auto& [m, n, k] :
         {Sizes{1, 1, 1}, Sizes{3, 5, 7}, Sizes{8, 24, 16}, Sizes{9, 25, 257}, Sizes{47, 23, 12},
          Sizes{49, 481, 3}, Sizes{97, 50, 300}}) {
        for (const bool transposed : {false, true}) {
            for (const bool accumulate : {false, true}) {
                const std::vector<double> a = sample(m * k, 0.1);
                const std::vector<double> b = sample(k * n, 1.3);
                const std::int64_t ldc = n + 2;
                std::vector<double> c = sample(m * ldc, 2.9);
                const std::vector<double> before = c;
                const MatrixRef<double> left{a.data(), transposed ? 1 : k, transposed ? m : 1};
                const MatrixRef<double> right{b.data(), transposed ? 1 : n, transposed ? k : 1};
                gemmDouble(m, n, k, left, right, c.data(), ldc, accumulate);
                for (std::int64_t i = 0; i < m; ++i) {
                    for (std::int64_t j = 0; j < ldc; ++j) {
                        const auto at = static_cast<std::size_t>(i * ldc + j);
                        double want = accumulate || j >= n ? before[at] : 0;
                        for (std::int64_t p = 0; j < n && p < k; ++p)
                            want += left.data[i * left.rowStride + p * left.colStride] *
                                    right.data[p * right.rowStride + j * right.colStride];
                        ASSERT_NEAR(c[at], want, 1e-11)
                            << m << "x" << k << "x" << n << " at " << i << ", " << j;
                    }
                }
            }
        }
    }
}

}  // namespace
}  // namespace tapescope::engine::cpu
