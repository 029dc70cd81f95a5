// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/lapack.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

// Fortran passes everything by address, and the length of each character argument at the end.
using Length = std::size_t;
extern "C" {
#define TAPESCOPE_LAPACK(T, p)                                                                     \
    void p##getrf_(const int*, const int*, T*, const int*, int*, int*);                            \
    void p##getri_(const int*, T*, const int*, const int*, T*, const int*, int*);                  \
    void p##getrs_(const char*, const int*, const int*, const T*, const int*, const int*, T*,      \
                   const int*, int*, Length);                                                      \
    void p##potrf_(const char*, const int*, T*, const int*, int*, Length);                         \
    void p##potrs_(const char*, const int*, const int*, const T*, const int*, T*, const int*,      \
                   int*, Length);                                                                  \
    void p##potri_(const char*, const int*, T*, const int*, int*, Length);                         \
    void p##trsm_(const char*, const char*, const char*, const char*, const int*, const int*,      \
                  const T*, const T*, const int*, T*, const int*, Length, Length, Length, Length); \
    void p##geqrf_(const int*, const int*, T*, const int*, T*, T*, const int*, int*);              \
    void p##orgqr_(const int*, const int*, const int*, T*, const int*, const T*, T*, const int*,   \
                   int*);                                                                          \
    void p##gesdd_(const char*, const int*, const int*, T*, const int*, T*, T*, const int*, T*,    \
                   const int*, T*, const int*, int*, int*, Length);                                \
    void p##gesvd_(const char*, const char*, const int*, const int*, T*, const int*, T*, T*,       \
                   const int*, T*, const int*, T*, const int*, int*, Length, Length);              \
    void p##syevd_(const char*, const char*, const int*, T*, const int*, T*, T*, const int*, int*, \
                   const int*, int*, Length, Length);                                              \
    void p##gelsd_(const int*, const int*, const int*, T*, const int*, T*, const int*, T*,         \
                   const T*, int*, T*, const int*, int*, int*);
TAPESCOPE_LAPACK(float, s)
TAPESCOPE_LAPACK(double, d)
#undef TAPESCOPE_LAPACK

/// LAPACK's own handler of wrong arguments prints and ends the process; info tells the caller.
void xerbla_(const char*, const int*, Length) {}
}

namespace tapescope::engine::cpu::lapack {

namespace {

/// Picks the float or the double routine.
template <class T, class S, class D>
auto pick(S single, D twice) {
    if constexpr (std::is_same_v<T, float>) {
        return single;
    } else {
        return twice;
    }
}

/// Runs call(work, lwork) first with lwork -1, which asks for the size, then with that much.
template <class T, class Call>
int withWorkspace(const Call& call) {
    T wanted = 0;
    int info = call(&wanted, -1);
    if (info != 0) return info;
    std::vector<T> work(static_cast<std::size_t>(std::max(wanted, T(1))) + 1);
    return call(work.data(), static_cast<int>(work.size()));
}

int leading(int rows) { return std::max(rows, 1); }

}  // namespace

template <class T>
int getrf(int m, int n, T* a, int* pivots) {
    int info = 0;
    const int lda = leading(m);
    pick<T>(sgetrf_, dgetrf_)(&m, &n, a, &lda, pivots, &info);
    return info;
}

template <class T>
int getri(int n, T* a, const int* pivots) {
    const int lda = leading(n);
    return withWorkspace<T>([&](T* work, int size) {
        int info = 0;
        pick<T>(sgetri_, dgetri_)(&n, a, &lda, pivots, work, &size, &info);
        return info;
    });
}

template <class T>
int getrs(bool transposed, int n, int columns, const T* a, const int* pivots, T* b) {
    int info = 0;
    const int lda = leading(n);
    pick<T>(sgetrs_, dgetrs_)(transposed ? "T" : "N", &n, &columns, a, &lda, pivots, b, &lda, &info,
                              1);
    return info;
}

template <class T>
int potrf(bool upper, int n, T* a) {
    int info = 0;
    const int lda = leading(n);
    pick<T>(spotrf_, dpotrf_)(upper ? "U" : "L", &n, a, &lda, &info, 1);
    return info;
}

template <class T>
int potrs(bool upper, int n, int columns, const T* a, T* b) {
    int info = 0;
    const int lda = leading(n);
    pick<T>(spotrs_, dpotrs_)(upper ? "U" : "L", &n, &columns, a, &lda, b, &lda, &info, 1);
    return info;
}

template <class T>
int potri(bool upper, int n, T* a) {
    int info = 0;
    const int lda = leading(n);
    pick<T>(spotri_, dpotri_)(upper ? "U" : "L", &n, a, &lda, &info, 1);
    return info;
}

template <class T>
void trsm(bool left, bool upper, bool unit, int m, int n, const T* a, T* b) {
    const T one = 1;
    const int lda = leading(left ? m : n);
    const int ldb = leading(m);
    pick<T>(strsm_, dtrsm_)(left ? "L" : "R", upper ? "U" : "L", "N", unit ? "U" : "N", &m, &n,
                            &one, a, &lda, b, &ldb, 1, 1, 1, 1);
}

template <class T>
int geqrf(int m, int n, T* a, T* tau) {
    const int lda = leading(m);
    return withWorkspace<T>([&](T* work, int size) {
        int info = 0;
        pick<T>(sgeqrf_, dgeqrf_)(&m, &n, a, &lda, tau, work, &size, &info);
        return info;
    });
}

template <class T>
int orgqr(int m, int columns, int k, T* a, const T* tau) {
    const int lda = leading(m);
    return withWorkspace<T>([&](T* work, int size) {
        int info = 0;
        pick<T>(sorgqr_, dorgqr_)(&m, &columns, &k, a, &lda, tau, work, &size, &info);
        return info;
    });
}

template <class T>
int gesdd(char vectors, int m, int n, T* a, T* s, T* u, T* vt) {
    const int k = std::min(m, n);
    const int lda = leading(m);
    const int ldvt = leading(vectors == 'A' ? n : k);
    std::vector<int> integers(static_cast<std::size_t>(8 * k));
    return withWorkspace<T>([&](T* work, int size) {
        int info = 0;
        pick<T>(sgesdd_, dgesdd_)(&vectors, &m, &n, a, &lda, s, u, &lda, vt, &ldvt, work, &size,
                                  integers.data(), &info, 1);
        return info;
    });
}

template <class T>
int gesvd(char vectors, int m, int n, T* a, T* s, T* u, T* vt) {
    const int k = std::min(m, n);
    const int lda = leading(m);
    const int ldvt = leading(vectors == 'A' ? n : k);
    return withWorkspace<T>([&](T* work, int size) {
        int info = 0;
        pick<T>(sgesvd_, dgesvd_)(&vectors, &vectors, &m, &n, a, &lda, s, u, &lda, vt, &ldvt, work,
                                  &size, &info, 1, 1);
        return info;
    });
}

template <class T>
int syevd(bool vectors, bool upper, int n, T* a, T* w) {
    const int lda = leading(n);
    T wanted = 0;
    int integersWanted = 0;
    int info = 0;
    const auto run = [&](T* work, int size, int* integers, int integersSize) {
        pick<T>(ssyevd_, dsyevd_)(vectors ? "V" : "N", upper ? "U" : "L", &n, a, &lda, w, work,
                                  &size, integers, &integersSize, &info, 1, 1);
    };
    run(&wanted, -1, &integersWanted, -1);
    if (info != 0) return info;
    std::vector<T> work(static_cast<std::size_t>(std::max(wanted, T(1))) + 1);
    std::vector<int> integers(static_cast<std::size_t>(std::max(integersWanted, 1)));
    run(work.data(), static_cast<int>(work.size()), integers.data(),
        static_cast<int>(integers.size()));
    return info;
}

template <class T>
int gelsd(int m, int n, int columns, T* a, T* b, T* s, T rcond, int* rank) {
    const int lda = leading(m);
    const int ldb = leading(std::max(m, n));
    T wanted = 0;
    int integersWanted = 0;
    int info = 0;
    const auto run = [&](T* work, int size, int* integers) {
        pick<T>(sgelsd_, dgelsd_)(&m, &n, &columns, a, &lda, b, &ldb, s, &rcond, rank, work, &size,
                                  integers, &info);
    };
    run(&wanted, -1, &integersWanted);
    if (info != 0) return info;
    std::vector<T> work(static_cast<std::size_t>(std::max(wanted, T(1))) + 1);
    std::vector<int> integers(static_cast<std::size_t>(std::max(integersWanted, 1)));
    run(work.data(), static_cast<int>(work.size()), integers.data());
    return info;
}

template int getrf(int, int, float*, int*);
template int getrf(int, int, double*, int*);
template int getri(int, float*, const int*);
template int getri(int, double*, const int*);
template int getrs(bool, int, int, const float*, const int*, float*);
template int getrs(bool, int, int, const double*, const int*, double*);
template int potrf(bool, int, float*);
template int potrf(bool, int, double*);
template int potrs(bool, int, int, const float*, float*);
template int potrs(bool, int, int, const double*, double*);
template int potri(bool, int, float*);
template int potri(bool, int, double*);
template void trsm(bool, bool, bool, int, int, const float*, float*);
template void trsm(bool, bool, bool, int, int, const double*, double*);
template int geqrf(int, int, float*, float*);
template int geqrf(int, int, double*, double*);
template int orgqr(int, int, int, float*, const float*);
template int orgqr(int, int, int, double*, const double*);
template int gesdd(char, int, int, float*, float*, float*, float*);
template int gesdd(char, int, int, double*, double*, double*, double*);
template int gesvd(char, int, int, float*, float*, float*, float*);
template int gesvd(char, int, int, double*, double*, double*, double*);
template int syevd(bool, bool, int, float*, float*);
template int syevd(bool, bool, int, double*, double*);
template int gelsd(int, int, int, float*, float*, float*, float, int*);
template int gelsd(int, int, int, double*, double*, double*, double, int*);

}  // namespace tapescope::engine::cpu::lapack
