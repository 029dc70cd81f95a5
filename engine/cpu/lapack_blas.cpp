// SPDX-License-Identifier: Apache-2.0
// The BLAS routines in which LAPACK's blocked algorithms spend their time, on the engine's matrix
// products. lapack.cpp needs trsm itself, so the linker takes this file before it comes to the
// reference BLAS. Column-major, as everything here.
#include "engine/cpu/gemm_kernels.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace tapescope::engine::cpu {

namespace {

using Int = std::int64_t;

template <class T>
void product(Int m, Int n, Int k, MatrixRef<T> a, MatrixRef<T> b, T* c, Int ldc, bool accumulate) {
    if constexpr (std::is_same_v<T, float>) {
        gemmFloat(m, n, k, a, b, c, ldc, accumulate);
    } else {
        gemmLoops(m, n, k, a, b, c, ldc, accumulate);
    }
}

template <class T>
void scale(Int m, Int n, T factor, T* c, Int ldc) {
    if (factor == T(1)) return;
    for (Int j = 0; j < n; ++j)
        for (Int i = 0; i < m; ++i)
            c[i + j * ldc] = factor == T(0) ? T(0) : factor * c[i + j * ldc];
}

/// c [m, n] = alpha op(a) op(b) + beta c, as its transpose: what is column-major is row-major then.
template <class T>
void gemm(bool transA, bool transB, Int m, Int n, Int k, T alpha, const T* a, Int lda, const T* b,
          Int ldb, T beta, T* c, Int ldc) {
    if (m <= 0 || n <= 0) return;
    scale(m, n, beta, c, ldc);
    if (k <= 0 || alpha == T(0)) return;
    const MatrixRef<T> left{b, transB ? 1 : ldb, transB ? ldb : 1};
    const MatrixRef<T> right{a, transA ? 1 : lda, transA ? lda : 1};
    if (alpha == T(1)) return product(n, m, k, left, right, c, ldc, true);
    std::vector<T> sum(static_cast<std::size_t>(m * n));
    product(n, m, k, left, right, sum.data(), m, false);
    for (Int j = 0; j < n; ++j)
        for (Int i = 0; i < m; ++i)
            c[i + j * ldc] += alpha * sum[static_cast<std::size_t>(j * m + i)];
}

/// A triangular matrix op(a), seen as lower or upper after the transposition.
template <class T>
struct Triangle {
    const T* a;
    Int lda;
    bool trans;
    bool lower;
    bool unit;
    Int offset(Int i, Int j) const { return trans ? j + i * lda : i + j * lda; }
    T at(Int i, Int j) const { return a[offset(i, j)]; }
    Triangle from(Int i) const { return {a + offset(i, i), lda, trans, lower, unit}; }
};

/// Up to this order the plain substitution is as fast as products.
constexpr Int kPlainOrder = 32;

/// t x = b in place, b [n, cols].
template <class T>
void solveLeft(const Triangle<T>& t, Int n, T* b, Int cols, Int ldb) {
    if (n <= kPlainOrder) {
        for (Int c = 0; c < cols; ++c) {
            T* const x = b + c * ldb;
            for (Int step = 0; step < n; ++step) {
                const Int k = t.lower ? step : n - 1 - step;
                if (x[k] == T(0)) continue;  // as the reference: 0 stays 0 over a zero diagonal
                if (!t.unit) x[k] /= t.at(k, k);
                const Int begin = t.lower ? k + 1 : 0;
                const Int end = t.lower ? n : k;
                for (Int i = begin; i < end; ++i) x[i] -= x[k] * t.at(i, k);
            }
        }
        return;
    }
    const Int h = n / 2;
    T* const second = b + h;
    if (t.lower) {
        solveLeft(t, h, b, cols, ldb);
        gemm(t.trans, false, n - h, cols, h, T(-1), t.a + t.offset(h, 0), t.lda, b, ldb, T(1),
             second, ldb);
        solveLeft(t.from(h), n - h, second, cols, ldb);
    } else {
        solveLeft(t.from(h), n - h, second, cols, ldb);
        gemm(t.trans, false, h, cols, n - h, T(-1), t.a + t.offset(0, h), t.lda, second, ldb, T(1),
             b, ldb);
        solveLeft(t, h, b, cols, ldb);
    }
}

/// x t = b in place, b [rows, n].
template <class T>
void solveRight(const Triangle<T>& t, Int n, T* b, Int rows, Int ldb) {
    if (n <= kPlainOrder) {
        for (Int step = 0; step < n; ++step) {
            const Int j = t.lower ? n - 1 - step : step;
            T* const x = b + j * ldb;
            const Int begin = t.lower ? j + 1 : 0;
            const Int end = t.lower ? n : j;
            for (Int k = begin; k < end; ++k) {
                const T factor = t.at(k, j);
                for (Int i = 0; i < rows; ++i) x[i] -= factor * b[i + k * ldb];
            }
            if (t.unit) continue;
            const T pivot = t.at(j, j);
            for (Int i = 0; i < rows; ++i) x[i] /= pivot;
        }
        return;
    }
    const Int h = n / 2;
    T* const second = b + h * ldb;
    if (t.lower) {
        solveRight(t.from(h), n - h, second, rows, ldb);
        gemm(false, t.trans, rows, h, n - h, T(-1), second, ldb, t.a + t.offset(h, 0), t.lda, T(1),
             b, ldb);
        solveRight(t, h, b, rows, ldb);
    } else {
        solveRight(t, h, b, rows, ldb);
        gemm(false, t.trans, rows, n - h, h, T(-1), b, ldb, t.a + t.offset(0, h), t.lda, T(1),
             second, ldb);
        solveRight(t.from(h), n - h, second, rows, ldb);
    }
}

bool is(const char* option, char letter) { return *option == letter || *option == letter + 32; }

template <class T>
void trsm(const char* side, const char* uplo, const char* trans, const char* diag, Int m, Int n,
          T alpha, const T* a, Int lda, T* b, Int ldb) {
    if (m <= 0 || n <= 0) return;
    scale(m, n, alpha, b, ldb);
    if (alpha == T(0)) return;
    const bool transposed = !is(trans, 'N');
    const Triangle<T> t{a, lda, transposed, is(uplo, 'L') != transposed, is(diag, 'U')};
    if (is(side, 'L'))
        solveLeft(t, m, b, n, ldb);
    else
        solveRight(t, n, b, m, ldb);
}

}  // namespace

}  // namespace tapescope::engine::cpu

using Length = std::size_t;
extern "C" {
using tapescope::engine::cpu::gemm;
using tapescope::engine::cpu::is;
using tapescope::engine::cpu::trsm;
#define TAPESCOPE_BLAS(T, p)                                                                       \
    void p##gemm_(const char* ta, const char* tb, const int* m, const int* n, const int* k,        \
                  const T* alpha, const T* a, const int* lda, const T* b, const int* ldb,          \
                  const T* beta, T* c, const int* ldc, Length, Length);                            \
    void p##gemm_(const char* ta, const char* tb, const int* m, const int* n, const int* k,        \
                  const T* alpha, const T* a, const int* lda, const T* b, const int* ldb,          \
                  const T* beta, T* c, const int* ldc, Length, Length) {                           \
        gemm<T>(!is(ta, 'N'), !is(tb, 'N'), *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc); \
    }                                                                                              \
    void p##trsm_(const char* side, const char* uplo, const char* trans, const char* diag,         \
                  const int* m, const int* n, const T* alpha, const T* a, const int* lda, T* b,    \
                  const int* ldb, Length, Length, Length, Length);                                 \
    void p##trsm_(const char* side, const char* uplo, const char* trans, const char* diag,         \
                  const int* m, const int* n, const T* alpha, const T* a, const int* lda, T* b,    \
                  const int* ldb, Length, Length, Length, Length) {                                \
        trsm<T>(side, uplo, trans, diag, *m, *n, *alpha, a, *lda, b, *ldb);                        \
    }
TAPESCOPE_BLAS(float, s)
TAPESCOPE_BLAS(double, d)
#undef TAPESCOPE_BLAS
}
