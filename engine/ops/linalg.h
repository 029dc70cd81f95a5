// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/nn_functional.h"
#include "engine/tensor/tensor.h"

#include <optional>
#include <span>
#include <string_view>
#include <utility>

// Products beyond matmul, mm and bmm (nn_functional.h); decompositions are in linalg_lapack.h.
namespace tapescope::engine {

Tensor mv(const Tensor& input, const Tensor& vec, Site site = {});      ///< [n,m] x [m]
Tensor dot(const Tensor& input, const Tensor& tensor, Site site = {});  ///< [n] . [n]
Tensor vdot(const Tensor& input, const Tensor& other, Site site = {});  ///< dot; nothing is complex
/// Over the last dimensions: [..., k] x [..., k]; with a scalar: the product.
Tensor inner(const Tensor& input, const Tensor& other, Site site = {});
Tensor outer(const Tensor& input, const Tensor& vec2, Site site = {});  ///< [n] x [m] -> [n, m]

// beta * input + alpha * (the product); input broadcasts, and is not read where beta is 0.
Tensor addmm(const Tensor& input, const Tensor& mat1, const Tensor& mat2, double beta = 1,
             double alpha = 1, Site site = {});
Tensor addmv(const Tensor& input, const Tensor& mat, const Tensor& vec, double beta = 1,
             double alpha = 1, Site site = {});
Tensor addr(const Tensor& input, const Tensor& vec1, const Tensor& vec2, double beta = 1,
            double alpha = 1, Site site = {});
/// The products of the batch are added up: [b,n,k] x [b,k,m] -> [n,m].
Tensor addbmm(const Tensor& input, const Tensor& batch1, const Tensor& batch2, double beta = 1,
              double alpha = 1, Site site = {});
Tensor baddbmm(const Tensor& input, const Tensor& batch1, const Tensor& batch2, double beta = 1,
               double alpha = 1, Site site = {});

/// torch.einsum: letters of either case, "...", repeated letters (diagonals), implicit output.
/// Pairs are contracted in the order of fewest multiplications (exact up to 6 operands, greedy
/// beyond), each as one batched matrix product. Throws ShapeError naming the subscript.
Tensor einsum(std::string_view equation, std::span<const Tensor> operands, Site site = {});
inline Tensor einsum(std::string_view equation, std::initializer_list<Tensor> operands,
                     Site site = {}) {
    return einsum(equation, std::span(operands.begin(), operands.size()), site);
}
/// Over the last `dims` of a and the first of b.
Tensor tensordot(const Tensor& a, const Tensor& b, std::int64_t dims = 2, Site site = {});
/// Over dims_a of a and dims_b of b, pair by pair.
Tensor tensordot(const Tensor& a, const Tensor& b, const Dims& dims_a, const Dims& dims_b,
                 Site site = {});
/// Kronecker product. At most 4 dimensions each.
Tensor kron(const Tensor& input, const Tensor& other, Site site = {});
/// Cross product of 3-vectors along dim; the other dimensions broadcast.
Tensor linalg_cross(const Tensor& input, const Tensor& other, std::int64_t dim = -1,
                    Site site = {});
/// As linalg_cross, along the first dimension of size 3 unless one is given.
Tensor cross(const Tensor& input, const Tensor& other, std::optional<std::int64_t> dim = {},
             Site site = {});
Tensor linalg_vecdot(const Tensor& x, const Tensor& y, std::int64_t dim = -1, Site site = {});
/// The product of a chain in the cheapest order. The first and the last may be 1-d.
Tensor linalg_multi_dot(std::span<const Tensor> tensors, Site site = {});
inline Tensor chain_matmul(std::span<const Tensor> matrices, Site site = {}) {
    return linalg_multi_dot(matrices, site);
}
/// input1 [..., i], input2 [..., j], weight [o, i, j], bias [o] or undefined: [..., o].
Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                const Tensor& bias = {}, Site site = {});
/// input [..., n, n] to the n-th power by repeated squaring; n < 0 inverts first.
Tensor matrix_power(const Tensor& input, std::int64_t n, Site site = {});

/// Distances of the rows of x1 [..., p, m] and x2 [..., r, m] in the p-norm: [..., p, r]. p >= 0,
/// infinity allowed. At distance 0 the gradient is 0.
Tensor cdist(const Tensor& x1, const Tensor& x2, double p = 2, Site site = {});

}  // namespace tapescope::engine
