// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

// torch.linalg on LAPACK: batches of float32 or float64 matrices [..., m, n]. Failures throw
// LinAlgError naming the batch element. Gradients: PyTorch's formulas, of any order.
namespace tapescope::engine {

Tensor linalg_det(const Tensor& a, Site site = {});
std::pair<Tensor, Tensor> linalg_slogdet(const Tensor& a, Site site = {});  ///< sign, log |det|
Tensor logdet(const Tensor& a, Site site = {});  ///< NaN for a negative determinant
Tensor linalg_inv(const Tensor& a, Site site = {});
inline Tensor inverse(const Tensor& a, Site site = {}) { return linalg_inv(a, site); }
inline Tensor det(const Tensor& a, Site site = {}) { return linalg_det(a, site); }
/// a x = b, or x a = b if not left. b [..., n, k], or one vector [..., n] a matrix.
Tensor linalg_solve(const Tensor& a, const Tensor& b, bool left = true, Site site = {});
/// Reads one triangle of a only; a zero on its diagonal gives infinities, as in PyTorch.
Tensor linalg_solve_triangular(const Tensor& a, const Tensor& b, bool upper, bool left = true,
                               bool unitriangular = false, Site site = {});
/// L (unit diagonal) and U in one matrix, and LAPACK's pivots (counted from 1, int32).
std::pair<Tensor, Tensor> linalg_lu_factor(const Tensor& a, Site site = {});
Tensor linalg_lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool left = true,
                       bool adjoint = false, Site site = {});
std::tuple<Tensor, Tensor, Tensor> linalg_lu(const Tensor& a, Site site = {});  ///< P, L, U

Tensor linalg_cholesky(const Tensor& a, bool upper = false, Site site = {});
/// The solution for the matrix whose Cholesky factor is given.
Tensor cholesky_solve(const Tensor& b, const Tensor& factor, bool upper = false, Site site = {});
Tensor cholesky_inverse(const Tensor& factor, bool upper = false, Site site = {});

enum class QrMode : std::uint8_t { Reduced, Complete, R };
/// Q and R; mode R leaves Q empty ([0], as PyTorch) and has no gradient.
std::pair<Tensor, Tensor> linalg_qr(const Tensor& a, QrMode mode = QrMode::Reduced, Site site = {});
/// U, S, Vh with a = U diag(S) Vh.
std::tuple<Tensor, Tensor, Tensor> linalg_svd(const Tensor& a, bool full_matrices = true,
                                              Site site = {});
Tensor linalg_svdvals(const Tensor& a, Site site = {});
/// Eigenvalues ascending, and eigenvectors as columns. Reads one triangle (UPLO).
std::pair<Tensor, Tensor> linalg_eigh(const Tensor& a, bool upper = false, Site site = {});
Tensor linalg_eigvalsh(const Tensor& a, bool upper = false, Site site = {});

/// Singular values up to max(atol, rtol * the largest) count as 0; rtol: max(m, n) * epsilon.
Tensor linalg_pinv(const Tensor& a, std::optional<double> atol = {},
                   std::optional<double> rtol = {}, Site site = {});
inline Tensor pinverse(const Tensor& a, double rcond = 1e-15, Site site = {}) {
    return linalg_pinv(a, 0.0, rcond, site);
}
Tensor linalg_matrix_rank(const Tensor& a, std::optional<double> atol = {},
                          std::optional<double> rtol = {}, Site site = {});
struct LstsqResult {
    Tensor solution;
    Tensor residuals;  ///< sums of squares; empty ([0]) unless m > n and every rank is n
    Tensor rank;       ///< int64
    Tensor singular_values;
};
/// Least squares by SVD (LAPACK's gelsd), the smallest solution where there are many. The gradient
/// is the pseudoinverse's.
LstsqResult linalg_lstsq(const Tensor& a, const Tensor& b, std::optional<double> rcond = {},
                         Site site = {});

/// ord: "fro", "nuc", or one of 1, -1, 2, -2, inf, -inf as a number.
Tensor linalg_matrix_norm(const Tensor& a, std::string_view ord = "fro", const Dims& dim = {-2, -1},
                          bool keepdim = false, Site site = {});
Tensor linalg_matrix_norm(const Tensor& a, double ord, const Dims& dim = {-2, -1},
                          bool keepdim = false, Site site = {});
/// The condition number in a norm: 2 (any shape), or one of linalg_matrix_norm's (square).
Tensor linalg_cond(const Tensor& a, double p = 2, Site site = {});
Tensor linalg_cond(const Tensor& a, std::string_view p, Site site = {});
Tensor linalg_matrix_exp(const Tensor& a, Site site = {});

}  // namespace tapescope::engine
