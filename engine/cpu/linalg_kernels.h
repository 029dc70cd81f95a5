// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/matrix_batch.h"
#include "engine/tensor/tensor.h"

// Batched decompositions on LAPACK, float32 and float64. Outputs are dense. What they return per
// matrix is 0 or the row (counted from 1) where the method failed; the caller words the error.
namespace tapescope::engine::cpu {

/// kNotFinite in Infos: the matrix holds NaN or infinity, which the method cannot take.
inline constexpr int kNotFinite = -1000;

Infos invInto(const Tensor& a, const Tensor& out);
void detInto(const Tensor& a, const Tensor& out);
void slogdetInto(const Tensor& a, const Tensor& sign, const Tensor& logabsdet);
/// vectors: b and out hold one vector a matrix. left: a x = b, else x a = b.
Infos solveInto(const Tensor& a, const Tensor& b, bool left, bool vectors, const Tensor& out);
void solveTriangularInto(const Tensor& a, const Tensor& b, bool upper, bool left, bool unit,
                         const Tensor& out);
/// pivots: int64, counted from 1.
Infos luFactorInto(const Tensor& a, const Tensor& lu, const Tensor& pivots);
void luSolveInto(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool left, bool adjoint,
                 const Tensor& out);

Infos choleskyInto(const Tensor& a, bool upper, const Tensor& out);
void choleskySolveInto(const Tensor& b, const Tensor& factor, bool upper, const Tensor& out);
Infos choleskyInverseInto(const Tensor& factor, bool upper, const Tensor& out);

/// q [m, k or m], r [k or m, n]; q undefined: only r.
void qrInto(const Tensor& a, const Tensor& q, const Tensor& r);
/// u and vh undefined: only s.
Infos svdInto(const Tensor& a, const Tensor& u, const Tensor& s, const Tensor& vh);
/// vectors undefined: only values, ascending.
Infos eighInto(const Tensor& a, bool upper, const Tensor& values, const Tensor& vectors);
/// Singular values of at most max(atol, rtol * the largest) count as zero.
Infos pinvInto(const Tensor& a, double atol, double rtol, const Tensor& out);
Infos lstsqInto(const Tensor& a, const Tensor& b, double rcond, const Tensor& solution,
                const Tensor& rank, const Tensor& singular);

/// Scaling and squaring with the [13/13] Pade approximant. Source: Higham 2005, algorithm 2.3.
void matrixExpInto(const Tensor& a, const Tensor& out);

}  // namespace tapescope::engine::cpu
