// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/lapack.h"
#include "engine/cpu/linalg_kernels.h"

#include <cmath>
#include <limits>

namespace tapescope::engine::cpu {

namespace {

template <class T>
std::vector<T> buffer(std::int64_t rows, std::int64_t cols) {
    return std::vector<T>(static_cast<std::size_t>(rows * cols));
}

template <class T>
bool allFinite(const std::vector<T>& values) {
    return std::all_of(values.begin(), values.end(), [](T x) { return std::isfinite(x); });
}

/// The other triangle to zero, or mirrored.
template <class T>
void fillOther(bool upper, int n, T* a, bool mirror) {
    for (int c = 0; c < n; ++c)
        for (int r = c + 1; r < n; ++r) {
            T& low = a[c * n + r];
            T& high = a[r * n + c];
            (upper ? low : high) = mirror ? (upper ? high : low) : T(0);
        }
}

/// Singular values and vectors of a column-major matrix, which is destroyed.
template <class T>
int svdOf(char vectors, int m, int n, std::vector<T>& a, T* s, T* u, T* vt) {
    if (!allFinite(a)) return kNotFinite;
    const std::vector<T> copy = a;
    int info = lapack::gesdd(vectors, m, n, a.data(), s, u, vt);
    if (info > 0) {
        a = copy;
        info = lapack::gesvd(vectors, m, n, a.data(), s, u, vt);
    }
    return info;
}

template <class T>
void setIdentity(int n, T* a) {
    std::fill_n(a, static_cast<std::size_t>(n) * static_cast<std::size_t>(n), T(0));
    for (int j = 0; j < n; ++j)
        a[static_cast<std::size_t>(j) * static_cast<std::size_t>(n + 1)] = 1;
}

}  // namespace

Infos choleskyInto(const Tensor& a, bool upper, const Tensor& out) {
    const Dims batch = batchOf(out);
    return visitFloating(out.dtype(), [&]<class T>() {
        const MatrixBatch<T> from(a, batch);
        const MatrixBatch<T> to(out, batch);
        const int n = from.rows();
        return forEachMatrix(numelOf(batch), cube(n) / 3, [&](std::int64_t i) {
            if (n == 0) return 0;
            std::vector<T> x = buffer<T>(n, n);
            from.load(i, x.data());
            const int info = lapack::potrf(upper, n, x.data());
            fillOther(upper, n, x.data(), false);
            to.store(i, x.data());
            return info;
        });
    });
}

void choleskySolveInto(const Tensor& b, const Tensor& factor, bool upper, const Tensor& out) {
    const Dims batch = batchOf(out);
    if (out.numel() == 0) return;
    visitFloating(out.dtype(), [&]<class T>() {
        const MatrixBatch<T> triangle(factor, batch);
        const MatrixBatch<T> from(b, batch);
        const MatrixBatch<T> to(out, batch);
        const int n = triangle.rows();
        forEachMatrix(numelOf(batch), cube(n), [&](std::int64_t i) {
            std::vector<T> l = buffer<T>(n, n);
            std::vector<T> x = buffer<T>(n, from.cols());
            triangle.load(i, l.data());
            from.load(i, x.data());
            lapack::potrs(upper, n, from.cols(), l.data(), x.data());
            to.store(i, x.data());
            return 0;
        });
    });
}

Infos choleskyInverseInto(const Tensor& factor, bool upper, const Tensor& out) {
    const Dims batch = batchOf(out);
    return visitFloating(out.dtype(), [&]<class T>() {
        const MatrixBatch<T> from(factor, batch);
        const MatrixBatch<T> to(out, batch);
        const int n = from.rows();
        return forEachMatrix(numelOf(batch), cube(n), [&](std::int64_t i) {
            if (n == 0) return 0;
            std::vector<T> x = buffer<T>(n, n);
            from.load(i, x.data());
            const int info = lapack::potri(upper, n, x.data());
            fillOther(upper, n, x.data(), true);
            to.store(i, x.data());
            return info;
        });
    });
}

void qrInto(const Tensor& a, const Tensor& q, const Tensor& r) {
    const Dims batch = batchOf(a);
    visitFloating(a.dtype(), [&]<class T>() {
        const MatrixBatch<T> from(a, batch);
        const MatrixBatch<T> toR(r, batch);
        const int m = from.rows();
        const int n = from.cols();
        const int k = std::min(m, n);
        forEachMatrix(numelOf(batch), 2 * cube(std::max(m, n)), [&](std::int64_t i) {
            // Wide enough for Q's columns, too.
            const int columns = q.defined() ? static_cast<int>(q.size(-1)) : 0;
            std::vector<T> x = buffer<T>(m, std::max(n, columns));
            std::vector<T> tau(static_cast<std::size_t>(std::max(k, 1)));
            from.load(i, x.data());
            if (k > 0) lapack::geqrf(m, n, x.data(), tau.data());
            std::vector<T> upper = buffer<T>(toR.rows(), n);
            for (int c = 0; c < n; ++c)
                for (int row = 0; row <= c && row < k; ++row)
                    upper[static_cast<std::size_t>(c) * static_cast<std::size_t>(toR.rows()) +
                          static_cast<std::size_t>(row)] =
                        x[static_cast<std::size_t>(c) * static_cast<std::size_t>(m) +
                          static_cast<std::size_t>(row)];
            toR.store(i, upper.data());
            if (columns == 0) return 0;
            if (k == 0) {
                setIdentity(m, x.data());
            } else {
                lapack::orgqr(m, columns, k, x.data(), tau.data());
            }
            MatrixBatch<T>(q, batch).store(i, x.data());
            return 0;
        });
    });
}

Infos svdInto(const Tensor& a, const Tensor& u, const Tensor& s, const Tensor& vh) {
    const Dims batch = batchOf(a);
    return visitFloating(a.dtype(), [&]<class T>() {
        const MatrixBatch<T> from(a, batch);
        const int m = from.rows();
        const int n = from.cols();
        const int k = std::min(m, n);
        T* const values = s.data<T>();
        const int columns = u.defined() ? static_cast<int>(u.size(-1)) : 0;
        const int rows = vh.defined() ? static_cast<int>(vh.size(-2)) : 0;
        const char job = !u.defined() ? 'N' : columns == m && rows == n ? 'A' : 'S';
        return forEachMatrix(numelOf(batch), 10 * cube(std::max(m, n)), [&](std::int64_t i) {
            std::vector<T> x = buffer<T>(m, n);
            std::vector<T> left = buffer<T>(m, std::max(columns, 1));
            std::vector<T> right = buffer<T>(std::max(rows, 1), std::max(n, 1));
            int info = 0;
            if (k > 0) {
                from.load(i, x.data());
                info = svdOf(job, m, n, x, values + i * k, left.data(), right.data());
            } else if (u.defined()) {
                if (columns > 0) setIdentity(columns, left.data());
                if (rows > 0) setIdentity(rows, right.data());
            }
            if (u.defined()) {
                MatrixBatch<T>(u, batch).store(i, left.data());
                MatrixBatch<T>(vh, batch).store(i, right.data());
            }
            return info;
        });
    });
}

Infos eighInto(const Tensor& a, bool upper, const Tensor& values, const Tensor& vectors) {
    const Dims batch = batchOf(a);
    return visitFloating(a.dtype(), [&]<class T>() {
        const MatrixBatch<T> from(a, batch);
        const int n = from.rows();
        T* const to = values.data<T>();
        return forEachMatrix(numelOf(batch), 9 * cube(n), [&](std::int64_t i) {
            if (n == 0) return 0;
            std::vector<T> x = buffer<T>(n, n);
            from.load(i, x.data());
            fillOther(upper, n, x.data(), true);
            if (!allFinite(x)) return kNotFinite;
            const int info = lapack::syevd(vectors.defined(), upper, n, x.data(), to + i * n);
            if (vectors.defined()) MatrixBatch<T>(vectors, batch).store(i, x.data());
            return info;
        });
    });
}

Infos pinvInto(const Tensor& a, double atol, double rtol, const Tensor& out) {
    const Dims batch = batchOf(a);
    return visitFloating(a.dtype(), [&]<class T>() {
        const MatrixBatch<T> from(a, batch);
        const MatrixBatch<T> to(out, batch);
        const int m = from.rows();
        const int n = from.cols();
        const int k = std::min(m, n);
        return forEachMatrix(numelOf(batch), 10 * cube(std::max(m, n)), [&](std::int64_t i) {
            std::vector<T> x = buffer<T>(m, n);
            std::vector<T> u = buffer<T>(m, k);
            std::vector<T> vt = buffer<T>(k, n);
            std::vector<T> s(static_cast<std::size_t>(std::max(k, 1)));
            std::vector<T> inverse = buffer<T>(n, m);
            if (k > 0) {
                from.load(i, x.data());
                if (const int info = svdOf('S', m, n, x, s.data(), u.data(), vt.data()); info != 0)
                    return info;
            }
            const double limit = std::max(atol, rtol * static_cast<double>(s[0]));
            for (std::int64_t p = 0;
                 p<k&& static_cast<double>(s[static_cast<std::size_t>(p)])> limit; ++p)
                for (std::int64_t c = 0; c < m; ++c) {
                    const T factor =
                        u[static_cast<std::size_t>(p * m + c)] / s[static_cast<std::size_t>(p)];
                    for (std::int64_t r = 0; r < n; ++r)
                        inverse[static_cast<std::size_t>(c * n + r)] +=
                            vt[static_cast<std::size_t>(r * k + p)] * factor;
                }
            to.store(i, inverse.data());
            return 0;
        });
    });
}

Infos lstsqInto(const Tensor& a, const Tensor& b, double rcond, const Tensor& solution,
                const Tensor& rank, const Tensor& singular) {
    const Dims batch = batchOf(solution);
    auto* const ranks = rank.data<std::int64_t>();
    return visitFloating(a.dtype(), [&]<class T>() {
        const MatrixBatch<T> matrix(a, batch);
        const MatrixBatch<T> from(b, batch);
        const MatrixBatch<T> to(solution, batch);
        const int m = matrix.rows();
        const int n = matrix.cols();
        const int k = std::min(m, n);
        T* const values = singular.data<T>();
        return forEachMatrix(numelOf(batch), 10 * cube(std::max(m, n)), [&](std::int64_t i) {
            std::vector<T> x = buffer<T>(m, n);
            std::vector<T> y = buffer<T>(std::max({m, n, 1}), std::max(from.cols(), 1));
            int found = 0;
            if (k > 0) {
                matrix.load(i, x.data());
                from.load(i, y.data(), std::max(m, n));
                if (!allFinite(x) || !allFinite(y)) return kNotFinite;
                const int info = lapack::gelsd(m, n, from.cols(), x.data(), y.data(),
                                               values + i * k, static_cast<T>(rcond), &found);
                if (info != 0) return info;
            }
            ranks[i] = found;
            to.store(i, y.data(), std::max({m, n, 1}));
            return 0;
        });
    });
}

}  // namespace tapescope::engine::cpu
