// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tapescope::engine::cpu {

/// A matrix inside a tensor: element (i, j) at data[i * rowStride + j * colStride].
template <class T>
struct MatrixRef {
    const T* data = nullptr;
    std::int64_t rowStride = 0;
    std::int64_t colStride = 0;
};

/// True if gemmFloat can read a rows x cols matrix with these strides: rows or columns lie one
/// after another.
bool blasReadable(std::int64_t rows, std::int64_t cols, std::int64_t rowStride,
                  std::int64_t colStride);

/// c [m, n], rows ldc apart, = a [m, k] x b [k, n], added to what c holds if accumulate. On oneDNN,
/// or by loops where that is cheaper. a and b must be blasReadable. Does not throw; from inside a
/// parallel region it runs on the calling thread.
void gemmFloat(std::int64_t m, std::int64_t n, std::int64_t k, MatrixRef<float> a,
               MatrixRef<float> b, float* c, std::int64_t ldc, bool accumulate);

/// The same by loops, for any element type and strides.
template <class T>
void gemmLoops(std::int64_t m, std::int64_t n, std::int64_t k, MatrixRef<T> a, MatrixRef<T> b, T* c,
               std::int64_t ldc, bool accumulate);
extern template void gemmLoops(std::int64_t, std::int64_t, std::int64_t, MatrixRef<float>,
                               MatrixRef<float>, float*, std::int64_t, bool);
extern template void gemmLoops(std::int64_t, std::int64_t, std::int64_t, MatrixRef<double>,
                               MatrixRef<double>, double*, std::int64_t, bool);
extern template void gemmLoops(std::int64_t, std::int64_t, std::int64_t, MatrixRef<std::int64_t>,
                               MatrixRef<std::int64_t>, std::int64_t*, std::int64_t, bool);

}  // namespace tapescope::engine::cpu
