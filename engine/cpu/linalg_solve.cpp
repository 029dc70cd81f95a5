// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/lapack.h"
#include "engine/cpu/linalg_kernels.h"

#include <cmath>

namespace tapescope::engine::cpu {

namespace {

template <class T>
std::vector<T> buffer(int rows, int cols) {
    return std::vector<T>(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols));
}

/// LU of matrix i of a.
template <class T>
struct Factored {
    std::vector<T> lu;
    std::vector<int> pivots;
    int info;
    Factored(const MatrixBatch<T>& a, std::int64_t i)
        : lu(buffer<T>(a.rows(), a.cols())),
          pivots(static_cast<std::size_t>(std::min(a.rows(), a.cols()))) {
        a.load(i, lu.data());
        info = pivots.empty() ? 0 : lapack::getrf(a.rows(), a.cols(), lu.data(), pivots.data());
    }
    /// fn(element) for the diagonal of U; returns the sign of the permutation.
    template <class Fn>
    int forDiagonal(const Fn& fn) const {
        const std::size_t n = pivots.size();
        int sign = 1;
        for (std::size_t j = 0; j < n; ++j) {
            if (pivots[j] != static_cast<int>(j) + 1) sign = -sign;
            fn(lu[j * n + j]);
        }
        return sign;
    }
};

/// b as LAPACK wants it for a system from the left; from the right the system is transposed.
template <class T>
void loadSide(const MatrixBatch<T>& b, std::int64_t i, bool left, T* to) {
    if (left) return b.load(i, to);
    std::vector<T> columns = buffer<T>(b.rows(), b.cols());
    b.load(i, columns.data());
    for (int c = 0; c < b.cols(); ++c)
        for (int r = 0; r < b.rows(); ++r)
            to[r * b.cols() + c] = columns[static_cast<std::size_t>(c * b.rows() + r)];
}
template <class T>
void storeSide(const MatrixBatch<T>& out, std::int64_t i, bool left, const T* from) {
    if (left) return out.store(i, from);
    std::vector<T> columns = buffer<T>(out.rows(), out.cols());
    for (int c = 0; c < out.cols(); ++c)
        for (int r = 0; r < out.rows(); ++r)
            columns[static_cast<std::size_t>(c * out.rows() + r)] = from[r * out.cols() + c];
    out.store(i, columns.data());
}

}  // namespace

Infos invInto(const Tensor& a, const Tensor& out) {
    const Dims batch = batchOf(out);
    return visitFloating(out.dtype(), [&]<class T>() {
        const MatrixBatch<T> from(a, batch);
        const MatrixBatch<T> to(out, batch);
        const int n = from.rows();
        return forEachMatrix(numelOf(batch), 2 * cube(n), [&](std::int64_t i) {
            if (n == 0) return 0;
            Factored<T> f(from, i);
            if (f.info == 0) f.info = lapack::getri(n, f.lu.data(), f.pivots.data());
            if (f.info == 0) to.store(i, f.lu.data());
            return f.info;
        });
    });
}

void detInto(const Tensor& a, const Tensor& out) {
    const Dims batch = batchOf(a);
    visitFloating(out.dtype(), [&]<class T>() {
        const MatrixBatch<T> from(a, batch);
        T* const to = out.data<T>();
        forEachMatrix(numelOf(batch), cube(from.rows()), [&](std::int64_t i) {
            T product = 1;
            const int sign = Factored<T>(from, i).forDiagonal([&](T x) { product *= x; });
            to[i] = static_cast<T>(sign) * product;
            return 0;
        });
    });
}

void slogdetInto(const Tensor& a, const Tensor& sign, const Tensor& logabsdet) {
    const Dims batch = batchOf(a);
    visitFloating(a.dtype(), [&]<class T>() {
        const MatrixBatch<T> from(a, batch);
        T* const signs = sign.data<T>();
        T* const logs = logabsdet.data<T>();
        forEachMatrix(numelOf(batch), cube(from.rows()), [&](std::int64_t i) {
            T sum = 0;
            T s = 1;
            const int permutation = Factored<T>(from, i).forDiagonal([&](T x) {
                sum += std::log(std::fabs(x));
                s *= x > 0 ? T(1) : x < 0 ? T(-1) : x;  // 0 and NaN stay
            });
            signs[i] = static_cast<T>(permutation) * s;
            logs[i] = sum;
            return 0;
        });
    });
}

Infos solveInto(const Tensor& a, const Tensor& b, bool left, bool vectors, const Tensor& out) {
    const Dims batch = batchOf(out, vectors ? 1 : 2);
    return visitFloating(out.dtype(), [&]<class T>() {
        const MatrixBatch<T> matrix(a, batch);
        const MatrixBatch<T> from(b, batch, vectors);
        const MatrixBatch<T> to(out, batch, vectors);
        const int n = matrix.rows();
        const int columns = left ? from.cols() : from.rows();
        return forEachMatrix(numelOf(batch), cube(n), [&](std::int64_t i) {
            if (n == 0) return 0;
            const Factored<T> f(matrix, i);
            if (f.info != 0 || columns == 0) return f.info;
            std::vector<T> x = buffer<T>(n, columns);
            loadSide(from, i, left, x.data());
            // x a = b is a^T x^T = b^T.
            const int info =
                lapack::getrs(!left, n, columns, f.lu.data(), f.pivots.data(), x.data());
            storeSide(to, i, left, x.data());
            return info;
        });
    });
}

void solveTriangularInto(const Tensor& a, const Tensor& b, bool upper, bool left, bool unit,
                         const Tensor& out) {
    const Dims batch = batchOf(out);
    if (out.numel() == 0) return;
    visitFloating(out.dtype(), [&]<class T>() {
        const MatrixBatch<T> matrix(a, batch);
        const MatrixBatch<T> from(b, batch);
        const MatrixBatch<T> to(out, batch);
        const int n = matrix.rows();
        forEachMatrix(numelOf(batch), cube(n), [&](std::int64_t i) {
            std::vector<T> triangle = buffer<T>(n, n);
            std::vector<T> x = buffer<T>(to.rows(), to.cols());
            matrix.load(i, triangle.data());
            from.load(i, x.data());
            lapack::trsm(left, upper, unit, to.rows(), to.cols(), triangle.data(), x.data());
            to.store(i, x.data());
            return 0;
        });
    });
}

Infos luFactorInto(const Tensor& a, const Tensor& lu, const Tensor& pivots) {
    const Dims batch = batchOf(a);
    const auto k = static_cast<std::int64_t>(std::min(a.size(-1), a.size(-2)));
    auto* const rows = pivots.data<std::int64_t>();
    return visitFloating(a.dtype(), [&]<class T>() {
        const MatrixBatch<T> from(a, batch);
        const MatrixBatch<T> to(lu, batch);
        return forEachMatrix(numelOf(batch), cube(static_cast<double>(k)), [&](std::int64_t i) {
            const Factored<T> f(from, i);
            to.store(i, f.lu.data());
            std::copy(f.pivots.begin(), f.pivots.end(), rows + i * k);
            return f.info;
        });
    });
}

void luSolveInto(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool left, bool adjoint,
                 const Tensor& out) {
    const Dims batch = batchOf(out);
    if (out.numel() == 0) return;
    visitFloating(out.dtype(), [&]<class T>() {
        const MatrixBatch<T> matrix(lu, batch);
        const MatrixBatch<std::int64_t> rows(pivots, batch, true);
        const MatrixBatch<T> from(b, batch);
        const MatrixBatch<T> to(out, batch);
        const int n = matrix.rows();
        const int columns = left ? from.cols() : from.rows();
        forEachMatrix(numelOf(batch), cube(n), [&](std::int64_t i) {
            std::vector<T> factors = buffer<T>(n, n);
            matrix.load(i, factors.data());
            std::vector<std::int64_t> wide(static_cast<std::size_t>(n));
            rows.load(i, wide.data());
            std::vector<int> narrow(wide.size());
            for (std::size_t j = 0; j < wide.size(); ++j) narrow[j] = static_cast<int>(wide[j]);
            std::vector<T> x = buffer<T>(n, columns);
            loadSide(from, i, left, x.data());
            lapack::getrs(left == adjoint, n, columns, factors.data(), narrow.data(), x.data());
            storeSide(to, i, left, x.data());
            return 0;
        });
    });
}

}  // namespace tapescope::engine::cpu
