// SPDX-License-Identifier: Apache-2.0
#pragma once

// LAPACK and BLAS routines for one column-major matrix, on the calling thread, for T = float and
// double. Each returns LAPACK's info: 0 = done, > 0 = the numerical failure its manual names.
// Workspace queries are done inside. lda is the number of rows everywhere.
namespace tapescope::engine::cpu::lapack {

/// a [m, n] = P L U in place; pivots [min(m, n)], counted from 1.
template <class T>
int getrf(int m, int n, T* a, int* pivots);
/// From getrf's result: a becomes the inverse.
template <class T>
int getri(int n, T* a, const int* pivots);
/// From getrf's result: b [n, columns] becomes the solution with A, or with A transposed.
template <class T>
int getrs(bool transposed, int n, int columns, const T* a, const int* pivots, T* b);
template <class T>
int potrf(bool upper, int n, T* a);
template <class T>
int potrs(bool upper, int n, int columns, const T* a, T* b);
template <class T>
int potri(bool upper, int n, T* a);
/// b [m, n] becomes A^-1 b (left) or b A^-1 with a triangular matrix.
template <class T>
void trsm(bool left, bool upper, bool unit, int m, int n, const T* a, T* b);
/// The reflectors and R; tau [min(m, n)].
template <class T>
int geqrf(int m, int n, T* a, T* tau);
/// The first `columns` columns of Q from geqrf's result with k reflectors, in place.
template <class T>
int orgqr(int m, int columns, int k, T* a, const T* tau);
/// vectors 'N', 'S' (the first min(m, n)) or 'A' (all). a is destroyed. s [min(m, n)] descending.
template <class T>
int gesdd(char vectors, int m, int n, T* a, T* s, T* u, T* vt);
/// The slower method that converges where gesdd does not.
template <class T>
int gesvd(char vectors, int m, int n, T* a, T* s, T* u, T* vt);
/// Eigenvalues ascending in w; a becomes the eigenvectors if vectors.
template <class T>
int syevd(bool vectors, bool upper, int n, T* a, T* w);
/// Least squares by SVD: b [max(m, n), columns] becomes the solution in its first n rows.
template <class T>
int gelsd(int m, int n, int columns, T* a, T* b, T* s, T rcond, int* rank);

}  // namespace tapescope::engine::cpu::lapack
