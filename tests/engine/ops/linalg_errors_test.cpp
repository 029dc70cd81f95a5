// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/einsum_path.h"
#include "engine/ops/linalg.h"
#include "engine/ops/linalg_error.h"
#include "engine/ops/linalg_lapack.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"
#include "message_of.h"

#include <array>
#include <cmath>
#include <gtest/gtest.h>

namespace tapescope::engine {
namespace {

Tensor square(std::initializer_list<double> values) {
    const auto n = static_cast<std::int64_t>(std::lround(std::sqrt(values.size())));
    return Tensor::from<double>(values, {n, n});
}

TEST(LinAlgErrors, NameTheBatchElementAndTheReason) {
    const Tensor good = square({2, 1, 1, 2});
    const Tensor singular = square({1, 2, 2, 4});
    const Tensor both[] = {good, singular};
    const Tensor batch = stack(both);
    EXPECT_THROW(linalg_inv(batch), LinAlgError);
    EXPECT_EQ(test::messageOf<Error>([&] {
                  linalg_inv(batch);
              }).find("linalg_inv: batch element 1 is singular: the pivot of row 2 is zero"),
              0U);
    EXPECT_NE(test::messageOf<Error>([&] {
                  linalg_solve(singular, ones({2}, {.dtype = DType::F64}));
              }).find("linalg_solve: the matrix is singular"),
              std::string::npos);
    EXPECT_NE(test::messageOf<Error>([&] {
                  linalg_cholesky(square({1, 2, 2, 1}));
              })
                  .find("linalg_cholesky: the matrix is not positive definite: its leading minor "
                        "of order 2"),
              std::string::npos);
    EXPECT_NE(test::messageOf<Error>([&] {
                  linalg_eigh(square({1, NAN, NAN, 1}));
              }).find("linalg_eigh: the matrix holds NaN or infinity"),
              std::string::npos);
    EXPECT_NE(test::messageOf<Error>([&] {
                  linalg_svd(square({1, INFINITY, 0, 1}));
              }).find("linalg_svd: the matrix holds NaN or infinity"),
              std::string::npos);
}

TEST(LinAlgErrors, RefuseWrongShapesAndTypes) {
    const Tensor wide = zeros({2, 3});
    EXPECT_THROW(linalg_inv(wide), ShapeError);
    EXPECT_THROW(linalg_det(zeros({3})), ShapeError);
    EXPECT_THROW(linalg_svd(zeros({2, 2}, {.dtype = DType::I64})), DTypeError);
    EXPECT_THROW(linalg_solve(zeros({2, 2}), zeros({3})), ShapeError);
    EXPECT_THROW(linalg_solve(zeros({2, 2}), zeros({2}), false), ShapeError);
    EXPECT_THROW(linalg_solve(zeros({2, 2}), zeros({2, 1}, {.dtype = DType::F64})), DTypeError);
    EXPECT_THROW(linalg_solve_triangular(zeros({2, 2, 2}), zeros({3, 2, 1}), true), ShapeError);
    EXPECT_THROW(linalg_lu_solve(eye(2), Tensor::from<std::int64_t>({1, 5}, {2}), zeros({2, 1})),
                 IndexError);
    EXPECT_THROW(linalg_matrix_norm(wide, "max"), Error);
    EXPECT_THROW(linalg_matrix_norm(wide, 3.0), Error);
    EXPECT_THROW(matrix_power(wide, 2), ShapeError);
    EXPECT_THROW(cdist(zeros({2, 3}), zeros({2, 4})), ShapeError);
    EXPECT_THROW(cdist(zeros({2, 3}), zeros({2, 3}), -1), Error);
    EXPECT_THROW(addmm(zeros({3, 3}), zeros({2, 3}), zeros({3, 2})), ShapeError);
    EXPECT_THROW(dot(zeros({2}), zeros({3})), ShapeError);
    EXPECT_THROW(addmm(zeros({2, 2}, {.dtype = DType::I64}), zeros({2, 2}, {.dtype = DType::I64}),
                       zeros({2, 2}, {.dtype = DType::I64}), 0.5),
                 DTypeError);
}

TEST(Einsum, ErrorsNameTheSubscript) {
    const Tensor a = zeros({2, 3});
    const auto error = [&](std::string_view equation, std::vector<Tensor> operands) {
        return test::messageOf<Error>([&] { einsum(equation, operands); });
    };
    EXPECT_EQ(error("ij,jk->ik", {a, zeros({4, 2})}).find("einsum: subscript j of"), 0U);
    EXPECT_NE(error("ijk->i", {a}).find("has 2 dimensions, its subscript names 3"),
              std::string::npos);
    EXPECT_NE(error("ij->iz", {a}).find("output subscript z"), std::string::npos);
    EXPECT_NE(error("ij->ii", {a}).find("comes twice"), std::string::npos);
    EXPECT_NE(error("ij,jk->ik", {a}).find("names 2 operands, but 1 were given"),
              std::string::npos);
    EXPECT_NE(error("i?->i", {a}).find("has the character '?'"), std::string::npos);
    EXPECT_NE(error("i..j->i", {a}).find("not part of one"), std::string::npos);
    EXPECT_NE(error("ii", {a}).find("subscript i of"), std::string::npos);
}

TEST(Einsum, OrderOfContractionIsTheCheapest) {
    // a[0] is huge: contracting 1 and 2 first saves it.
    const std::array<LabelSet, 3> sets{0b0011, 0b0110, 0b1100};
    const std::array<std::int64_t, 4> sizes{1000, 10, 10, 2};
    const auto path = contractionPath(sets, 0b1001, sizes);
    ASSERT_EQ(path.size(), 2U);
    EXPECT_EQ(path[0].first + path[0].second, 3U);
    EXPECT_EQ(path[0].first * path[0].second, 2U);
}

TEST(Einsum, ExhaustiveOrderIsNeverWorseThanGreedy) {
    const std::vector<LabelSet> seven(7, 0b11);
    const std::array<std::int64_t, 2> sizes{3, 4};
    EXPECT_EQ(contractionPath(seven, 0b01, sizes).size(), 6U);
    EXPECT_EQ(contractionPath(std::span(seven).first(6), 0b01, sizes).size(), 5U);
    EXPECT_TRUE(contractionPath(std::span(seven).first(1), 0b01, sizes).empty());
}

}  // namespace
}  // namespace tapescope::engine
