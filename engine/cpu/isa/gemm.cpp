// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/isa/gemm_loops.h"

namespace tapescope::engine::cpu::TAPESCOPE_ISA {
namespace {

using Int = std::int64_t;

// The accumulators, one row of the next b and a broadcast fill the registers: 24 of 32 with
// AVX-512, 12 of 16 else.
#if defined(__AVX512F__)
constexpr int kLanes = 8;
constexpr int kRows = 8;
constexpr int kVectors = 3;
#elif defined(__AVX2__)
constexpr int kLanes = 4;
constexpr int kRows = 4;
constexpr int kVectors = 3;
#else
constexpr int kLanes = 2;
constexpr int kRows = 4;
constexpr int kVectors = 2;
#endif
constexpr int kCols = kLanes * kVectors;

using Vector [[gnu::vector_size(kLanes * sizeof(double))]] = double;
/// The same at any address.
using Loose [[gnu::vector_size(kLanes * sizeof(double)), gnu::aligned(8), gnu::may_alias]] = double;

void block(Int depth, const double* a, const double* b, double* c, Int ldc) {
    Vector sum[kRows][kVectors] = {};
    for (Int p = 0; p < depth; ++p) {
        Vector right[kVectors];
#pragma GCC unroll 3
        for (int v = 0; v < kVectors; ++v)
            right[v] = *reinterpret_cast<const Loose*>(b + p * kCols + v * kLanes);
#pragma GCC unroll 8
        for (int i = 0; i < kRows; ++i) {
            const Vector left = a[p * kRows + i] - Vector{};
#pragma GCC unroll 3
            for (int v = 0; v < kVectors; ++v) sum[i][v] += left * right[v];
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 3
        for (int v = 0; v < kVectors; ++v)
            *reinterpret_cast<Loose*>(c + i * ldc + v * kLanes) += sum[i][v];
    }
}

}  // namespace

extern constexpr GemmTable kGemmTable{kRows, kCols, block};

}  // namespace tapescope::engine::cpu::TAPESCOPE_ISA
