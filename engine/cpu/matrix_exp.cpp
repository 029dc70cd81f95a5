// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/gemm_kernels.h"
#include "engine/cpu/lapack.h"
#include "engine/cpu/linalg_kernels.h"

#include <array>
#include <cmath>

namespace tapescope::engine::cpu {

namespace {

using Matrix = std::vector<double>;

/// Column-major or row-major alike: (AB)^T = B^T A^T only swaps names, and every matrix here is a
/// polynomial in one A, so that all commute.
Matrix product(const Matrix& a, const Matrix& b, std::int64_t n) {
    Matrix c(a.size());
    gemmLoops<double>(n, n, n, {a.data(), n, 1}, {b.data(), n, 1}, c.data(), n, false);
    return c;
}

/// The sum of factor * matrix, and shift on the diagonal.
struct Term {
    double factor;
    const Matrix* matrix;
};
template <std::size_t N>
Matrix combine(const std::array<Term, N>& terms, double shift, std::int64_t n) {
    Matrix sum(static_cast<std::size_t>(n * n));
    for (const Term& term : terms)
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += term.factor * (*term.matrix)[i];
    for (std::int64_t i = 0; i < n; ++i) sum[static_cast<std::size_t>(i * (n + 1))] += shift;
    return sum;
}

double oneNorm(const Matrix& a, std::int64_t n) {
    double largest = 0;
    for (std::int64_t c = 0; c < n; ++c) {
        double sum = 0;
        for (std::int64_t r = 0; r < n; ++r)
            sum += std::fabs(a[static_cast<std::size_t>(c * n + r)]);
        largest = std::max(largest, sum);
        if (std::isnan(sum)) return sum;
    }
    return largest;
}

/// e^a for a column-major n x n matrix.
Matrix exponential(Matrix a, std::int64_t n) {
    constexpr double kTheta13 = 5.371920351148152;
    constexpr std::array<double, 14> b{64764752532480000.0,
                                       32382376266240000.0,
                                       7771770303897600.0,
                                       1187353796428800.0,
                                       129060195264000.0,
                                       10559470521600.0,
                                       670442572800.0,
                                       33522128640.0,
                                       1323241920.0,
                                       40840800.0,
                                       960960.0,
                                       16380.0,
                                       182.0,
                                       1.0};
    const double norm = oneNorm(a, n);
    if (!std::isfinite(norm)) return Matrix(a.size(), std::nan(""));
    const int squarings =
        norm > kTheta13 ? static_cast<int>(std::ceil(std::log2(norm / kTheta13))) : 0;
    for (double& x : a) x = std::ldexp(x, -squarings);
    const Matrix a2 = product(a, a, n);
    const Matrix a4 = product(a2, a2, n);
    const Matrix a6 = product(a4, a2, n);
    const Matrix oddHigh = combine<3>({Term{b[13], &a6}, Term{b[11], &a4}, Term{b[9], &a2}}, 0, n);
    const Matrix oddTop = product(a6, oddHigh, n);
    const Matrix oddSum =
        combine<4>({Term{1, &oddTop}, Term{b[7], &a6}, Term{b[5], &a4}, Term{b[3], &a2}}, b[1], n);
    const Matrix u = product(a, oddSum, n);
    const Matrix evenHigh = combine<3>({Term{b[12], &a6}, Term{b[10], &a4}, Term{b[8], &a2}}, 0, n);
    const Matrix evenTop = product(a6, evenHigh, n);
    const Matrix v =
        combine<4>({Term{1, &evenTop}, Term{b[6], &a6}, Term{b[4], &a4}, Term{b[2], &a2}}, b[0], n);
    Matrix denominator = combine<2>({Term{1, &v}, Term{-1, &u}}, 0, n);
    Matrix result = combine<2>({Term{1, &v}, Term{1, &u}}, 0, n);
    std::vector<int> pivots(static_cast<std::size_t>(n));
    const int size = static_cast<int>(n);
    lapack::getrf(size, size, denominator.data(), pivots.data());
    lapack::getrs(false, size, size, denominator.data(), pivots.data(), result.data());
    for (int i = 0; i < squarings; ++i) result = product(result, result, n);
    return result;
}

}  // namespace

void matrixExpInto(const Tensor& a, const Tensor& out) {
    const Dims batch = batchOf(out);
    if (out.numel() == 0) return;
    visitFloating(out.dtype(), [&]<class T>() {
        const MatrixBatch<T> from(a, batch);
        const MatrixBatch<T> to(out, batch);
        const std::int64_t n = from.rows();
        forEachMatrix(numelOf(batch), 20 * cube(static_cast<double>(n)), [&](std::int64_t i) {
            std::vector<T> x(static_cast<std::size_t>(n * n));
            from.load(i, x.data());
            const Matrix e = exponential(Matrix(x.begin(), x.end()), n);
            std::transform(e.begin(), e.end(), x.begin(),
                           [](double v) { return static_cast<T>(v); });
            to.store(i, x.data());
            return 0;
        });
    });
}

}  // namespace tapescope::engine::cpu
