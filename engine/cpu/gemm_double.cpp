// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/gemm_double.h"

#include "engine/cpu/isa.h"
#include "engine/cpu/isa/gemm_loops.h"
#include "engine/cpu/parallel.h"

#include <algorithm>
#include <vector>

namespace tapescope::engine::cpu {

namespace {

/// A block of a (48 x 256, 96 KiB) stays in a core's second cache, one of b (256 x 480, 960 KiB) in
/// the shared one.
constexpr std::int64_t kBlockRows = 48;
constexpr std::int64_t kBlockDepth = 256;
constexpr std::int64_t kBlockCols = 480;

const GemmTable& table() {
    static const GemmTable& best = [](Isa isa) -> const GemmTable& {
#if TAPESCOPE_X86_ISAS
        if (isa == Isa::Avx512) return avx512::kGemmTable;
        if (isa == Isa::Avx2) return avx2::kGemmTable;
#endif
        static_cast<void>(isa);
        return base::kGemmTable;
    }(bestIsa());
    return best;
}

/// `count` rows of x (columns, if x is seen transposed) in strips of `width`, the depth dimension
/// outermost within each; filled up with zeros.
void packStrips(std::int64_t count, std::int64_t depth, std::int64_t width, const double* x,
                std::int64_t rowStride, std::int64_t depthStride, double* to) {
    for (std::int64_t first = 0; first < count; first += width) {
        const std::int64_t rows = std::min(width, count - first);
        for (std::int64_t p = 0; p < depth; ++p, to += width) {
            const double* from = x + first * rowStride + p * depthStride;
            for (std::int64_t i = 0; i < rows; ++i) to[i] = from[i * rowStride];
            std::fill(to + rows, to + width, 0.0);
        }
    }
}

std::int64_t padded(std::int64_t n, std::int64_t width) { return (n + width - 1) / width * width; }

/// c [rows, cols] += packed a x packed b. Edge blocks go through a buffer of whole size.
void multiplyBlock(const GemmTable& t, std::int64_t rows, std::int64_t cols, std::int64_t depth,
                   const double* a, const double* b, double* c, std::int64_t ldc) {
    double edge[8 * 24];
    for (std::int64_t j = 0; j < cols; j += t.cols) {
        const std::int64_t width = std::min<std::int64_t>(t.cols, cols - j);
        for (std::int64_t i = 0; i < rows; i += t.rows) {
            const std::int64_t height = std::min<std::int64_t>(t.rows, rows - i);
            if (width == t.cols && height == t.rows) {
                t.block(depth, a + i * depth, b + j * depth, c + i * ldc + j, ldc);
                continue;
            }
            std::fill(std::begin(edge), std::end(edge), 0.0);
            t.block(depth, a + i * depth, b + j * depth, edge, t.cols);
            for (std::int64_t r = 0; r < height; ++r)
                for (std::int64_t s = 0; s < width; ++s)
                    c[(i + r) * ldc + j + s] += edge[r * t.cols + s];
        }
    }
}

}  // namespace

void gemmDouble(std::int64_t m, std::int64_t n, std::int64_t k, MatrixRef<double> a,
                MatrixRef<double> b, double* c, std::int64_t ldc, bool accumulate) {
    if (!accumulate)
        for (std::int64_t i = 0; i < m; ++i) std::fill_n(c + i * ldc, n, 0.0);
    const GemmTable& t = table();
    std::vector<double> right(static_cast<std::size_t>(padded(std::min(n, kBlockCols), t.cols) *
                                                       std::min(k, kBlockDepth)));
    for (std::int64_t j = 0; j < n; j += kBlockCols) {
        const std::int64_t cols = std::min(kBlockCols, n - j);
        for (std::int64_t p = 0; p < k; p += kBlockDepth) {
            const std::int64_t depth = std::min(kBlockDepth, k - p);
            packStrips(cols, depth, t.cols, b.data + p * b.rowStride + j * b.colStride, b.colStride,
                       b.rowStride, right.data());
            parallelFor(m, kBlockRows, [&](std::int64_t begin, std::int64_t end) {
                std::vector<double> left(
                    static_cast<std::size_t>(padded(end - begin, t.rows) * depth));
                packStrips(end - begin, depth, t.rows,
                           a.data + begin * a.rowStride + p * a.colStride, a.rowStride, a.colStride,
                           left.data());
                multiplyBlock(t, end - begin, cols, depth, left.data(), right.data(),
                              c + begin * ldc + j, ldc);
            });
        }
    }
}

}  // namespace tapescope::engine::cpu
