// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/linalg_lapack.h"

#include "engine/ops/linalg.h"
#include "engine/ops/linalg_parts.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"

#include <gtest/gtest.h>

namespace tapescope::engine {
namespace {

TEST(Lapack, LargeDecompositionsReproduceTheirMatrix) {
    // Beyond LAPACK's block sizes, so that the blocked code paths run.
    const Tensor a = randn({150, 150}, {.dtype = DType::F64});
    const auto distance = [](const Tensor& x, const Tensor& y) {
        return linalg_matrix_norm(sub(x, y)).item() / linalg_matrix_norm(y).item();
    };
    const Tensor at = transpose(a, 0, 1);
    const auto [q, r] = linalg_qr(a);
    EXPECT_LT(distance(matmul(q, r), a), 1e-13);
    const auto [p, l, u] = linalg_lu(a);
    EXPECT_LT(distance(matmul(p, matmul(l, u)), a), 1e-13);
    const auto [left, s, right] = linalg_svd(a, false);
    EXPECT_LT(distance(matmul(mul(left, s), right), a), 1e-12);
    const Tensor symmetric = add(a, at);
    const auto [values, vectors] = linalg_eigh(symmetric);
    EXPECT_LT(distance(matmul(mul(vectors, values), transpose(vectors, 0, 1)), symmetric), 1e-12);
    const Tensor positive = add(matmul(a, at), eye(150, {.dtype = DType::F64}));
    const Tensor factor = linalg_cholesky(positive);
    EXPECT_LT(distance(matmul(factor, transpose(factor, 0, 1)), positive), 1e-13);
    const Tensor b = randn({150, 3}, {.dtype = DType::F64});
    EXPECT_LT(distance(matmul(a, linalg_solve(a, b)), b), 1e-10);
    EXPECT_LT(distance(matmul(a, linalg_inv(a)), eye(150, {.dtype = DType::F64})), 1e-10);
}

TEST(Lapack, LargeTriangularSystemsAreSolvedFromEverySide) {
    // Beyond the order up to which plain substitution runs, and no power of two.
    for (const DType dtype : {DType::F32, DType::F64}) {
        const Tensor unitary = eye(101, {.dtype = dtype});
        const Tensor matrix = add(mul(randn({101, 101}, {.dtype = dtype}), 0.05), unitary);
        const Tensor rhs = randn({101, 101}, {.dtype = dtype});
        for (const bool upper : {false, true}) {
            for (const bool left : {false, true}) {
                for (const bool unit : {false, true}) {
                    const Tensor x = linalg_solve_triangular(matrix, rhs, upper, left, unit);
                    Tensor t = upper ? linalg::upper(matrix, unit ? 1 : 0)
                                     : linalg::lower(matrix, unit ? -1 : 0);
                    if (unit) t = add(t, unitary);
                    const Tensor product = left ? matmul(t, x) : matmul(x, t);
                    EXPECT_LT(linalg_matrix_norm(sub(product, rhs)).item(),
                              dtype == DType::F32 ? 1e-3 : 1e-11)
                        << dtypeName(dtype) << upper << left << unit;
                }
            }
        }
    }
}

TEST(Lapack, BatchesOnSeveralThreadsAgreeWithSingleMatrices) {
    const Tensor batch = randn({64, 24, 24}, {.dtype = DType::F64});
    const Tensor values = linalg_svdvals(batch);
    const Tensor inverses = linalg_inv(batch);
    const Tensor factors = linalg_lu_factor(batch).first;
    for (std::int64_t i = 0; i < 64; ++i) {
        const Tensor one = select(batch, 0, i);
        EXPECT_EQ(select(values, 0, i).to_vector(), linalg_svdvals(one).to_vector()) << i;
        EXPECT_EQ(select(inverses, 0, i).to_vector(), linalg_inv(one).to_vector()) << i;
        EXPECT_EQ(select(factors, 0, i).to_vector(), linalg_lu_factor(one).first.to_vector()) << i;
    }
}

}  // namespace
}  // namespace tapescope::engine
