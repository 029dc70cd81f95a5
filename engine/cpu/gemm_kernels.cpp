// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/gemm_kernels.h"

#include "engine/cpu/gemm_double.h"
#include "engine/cpu/parallel.h"

#include <algorithm>
#include <dnnl.h>
#include <omp.h>
#include <optional>
#include <type_traits>

namespace tapescope::engine::cpu {

namespace {

struct BlasLayout {
    char transposed;
    std::int64_t leading;
};

std::optional<BlasLayout> blasLayout(std::int64_t rows, std::int64_t cols, std::int64_t rowStride,
                                     std::int64_t colStride) {
    // Strides of size-1 dimensions say nothing.
    if ((cols <= 1 || colStride == 1) &&
        (rows <= 1 || rowStride >= std::max<std::int64_t>(cols, 1)))
        return BlasLayout{'N', rows <= 1 ? std::max<std::int64_t>(cols, 1) : rowStride};
    if ((rows <= 1 || rowStride == 1) &&
        (cols <= 1 || colStride >= std::max<std::int64_t>(rows, 1)))
        return BlasLayout{'T', cols <= 1 ? std::max<std::int64_t>(rows, 1) : colStride};
    return std::nullopt;
}

/// Below this the call into oneDNN costs more than the sums.
constexpr double kLoopFlops = 8192;
/// Below this a second thread costs more than it gives (oneDNN opens its region for any size).
constexpr double kSerialFlops = 1e6;

/// Multiplications from which packing float64 operands pays.
constexpr double kPackedProducts = 32768;

/// One thread for OpenMP regions opened in this scope by this thread.
class SerialScope final {
public:
    explicit SerialScope(bool on) : m_saved(on ? omp_get_max_threads() : 0) {
        if (m_saved > 1) omp_set_num_threads(1);
    }
    ~SerialScope() {
        if (m_saved > 1) omp_set_num_threads(m_saved);
    }
    SerialScope(const SerialScope&) = delete;
    SerialScope& operator=(const SerialScope&) = delete;

private:
    int m_saved;
};

/// Integers wrap around as in PyTorch, without undefined behaviour.
template <class T>
T multiplyAdd(T sum, T x, T y) {
    if constexpr (std::is_integral_v<T>) {
        using U = std::make_unsigned_t<T>;
        return static_cast<T>(static_cast<U>(sum) + static_cast<U>(x) * static_cast<U>(y));
    } else {
        return sum + x * y;
    }
}

}  // namespace

bool blasReadable(std::int64_t rows, std::int64_t cols, std::int64_t rowStride,
                  std::int64_t colStride) {
    return blasLayout(rows, cols, rowStride, colStride).has_value();
}

template <class T>
void gemmLoops(std::int64_t m, std::int64_t n, std::int64_t k, MatrixRef<T> a, MatrixRef<T> b, T* c,
               std::int64_t ldc, bool accumulate) {
    if constexpr (std::is_same_v<T, double>) {
        if (static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) >=
            kPackedProducts)
            return gemmDouble(m, n, k, a, b, c, ldc, accumulate);
    }
    const std::int64_t rowWork = std::max<std::int64_t>(n * std::max<std::int64_t>(k, 1), 1);
    parallelFor(
        m, std::max<std::int64_t>(kGrain / rowWork, 1), [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                T* row = c + i * ldc;
                if (!accumulate) std::fill_n(row, n, T{});
                const T* left = a.data + i * a.rowStride;
                if (b.colStride == 1) {
                    // Rows of b added up: unit stride in the inner loop.
                    for (std::int64_t p = 0; p < k; ++p) {
                        const T factor = left[p * a.colStride];
                        const T* right = b.data + p * b.rowStride;
                        for (std::int64_t j = 0; j < n; ++j)
                            row[j] = multiplyAdd(row[j], factor, right[j]);
                    }
                    continue;
                }
                for (std::int64_t j = 0; j < n; ++j) {
                    const T* right = b.data + j * b.colStride;
                    T sum{};
                    for (std::int64_t p = 0; p < k; ++p)
                        sum = multiplyAdd(sum, left[p * a.colStride], right[p * b.rowStride]);
                    row[j] = static_cast<T>(row[j] + sum);
                }
            }
        });
}

template void gemmLoops(std::int64_t, std::int64_t, std::int64_t, MatrixRef<float>,
                        MatrixRef<float>, float*, std::int64_t, bool);
template void gemmLoops(std::int64_t, std::int64_t, std::int64_t, MatrixRef<double>,
                        MatrixRef<double>, double*, std::int64_t, bool);
template void gemmLoops(std::int64_t, std::int64_t, std::int64_t, MatrixRef<std::int64_t>,
                        MatrixRef<std::int64_t>, std::int64_t*, std::int64_t, bool);

void gemmFloat(std::int64_t m, std::int64_t n, std::int64_t k, MatrixRef<float> a,
               MatrixRef<float> b, float* c, std::int64_t ldc, bool accumulate) {
    const double flops =
        2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    const auto layoutA = blasLayout(m, k, a.rowStride, a.colStride);
    const auto layoutB = blasLayout(k, n, b.rowStride, b.colStride);
    if (flops <= kLoopFlops || !layoutA || !layoutB)
        return gemmLoops(m, n, k, a, b, c, ldc, accumulate);
    const SerialScope serial(flops < kSerialFlops && omp_in_parallel() == 0);
    const dnnl_status_t status =
        dnnl_sgemm(layoutA->transposed, layoutB->transposed, m, n, k, 1.0F, a.data,
                   layoutA->leading, b.data, layoutB->leading, accumulate ? 1.0F : 0.0F, c, ldc);
    // Refused (it never was for layouts like these): the loops give the same result.
    if (status != dnnl_success) gemmLoops(m, n, k, a, b, c, ldc, accumulate);
}

}  // namespace tapescope::engine::cpu
