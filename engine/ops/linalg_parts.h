// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/matrix_batch.h"
#include "engine/ops/op_def.h"
#include "engine/tensor/tensor.h"

#include <string_view>

// What the rows and gradients of decompositions share. Everything differentiable.
namespace tapescope::engine::linalg {

Tensor transposed(const Tensor& x);  ///< the last two dimensions swapped
/// x with zeros above (below) diagonal k.
Tensor lower(const Tensor& x, std::int64_t k = 0);
Tensor upper(const Tensor& x, std::int64_t k = 0);
Tensor triangle(const Tensor& x, bool isUpper);
Tensor diagonal(const Tensor& x);        ///< [..., n, n] -> [..., n]
Tensor diagonalMatrix(const Tensor& x);  ///< [..., n] -> [..., n, n]
Tensor identityLike(const Tensor& x);    ///< [n, n] for x [..., n, n]
Tensor columns(const Tensor& x, std::int64_t start, std::int64_t count);
Tensor rows(const Tensor& x, std::int64_t start, std::int64_t count);

/// Throws unless x is a float32 or float64 batch of (square) matrices.
void checkMatrices(std::string_view op, std::string_view what, const Tensor& x);
void checkSquare(std::string_view op, std::string_view what, const Tensor& x);
/// Sizes of x without the last `count`, and with `added`.
Dims leading(const Tensor& x, int count, std::initializer_list<std::int64_t> added = {});
/// The common batch of matrices a and b; throws ShapeError.
Dims commonBatch(std::string_view op, const Tensor& a, const Tensor& b);

/// Throws LinAlgError for the first matrix with an info. why(info): "is singular: …".
using Why = std::string (*)(int info);
void throwFailures(std::string_view op, const cpu::Infos& infos, int batchRank, Why why);

}  // namespace tapescope::engine::linalg
