// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/copy.h"

#include "engine/cpu/isa.h"
#include "engine/cpu/strided.h"
#include "engine/tensor/complex.h"

#include <cstring>

namespace tapescope::engine::cpu {
namespace {

// Only the size of an element matters to a copy; these may point at elements of any type.
using Word1 = std::uint8_t;
using Word2 [[gnu::may_alias]] = std::uint16_t;
using Word4 [[gnu::may_alias]] = std::uint32_t;
using Word8 [[gnu::may_alias]] = std::uint64_t;

// Whole cache lines of 4-byte elements; more rows than this, a power of two apart, would evict each
// other.
constexpr std::int64_t kTile = 16;

/// One tile of a transposition: out has unit stride along columns, source along rows.
template <class T>
void transposeTile(T* out, std::int64_t outRow, const T* source, std::int64_t sourceColumn,
                   std::int64_t rows, std::int64_t columns) {
    for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t c = 0; c < columns; ++c)
            out[r * outRow + c] = source[r + c * sourceColumn];
    }
}

/// Four words at once; == transposeTile with rows = columns = 4.
void transposeFour(Word4* out, std::int64_t outRow, const Word4* source,
                   std::int64_t sourceColumn) {
    using Vector [[gnu::vector_size(16)]] = std::uint32_t;
    Vector column[4];
    for (int c = 0; c < 4; ++c) std::memcpy(&column[c], source + c * sourceColumn, sizeof(Vector));
    const Vector low01 = __builtin_shufflevector(column[0], column[1], 0, 4, 1, 5);
    const Vector high01 = __builtin_shufflevector(column[0], column[1], 2, 6, 3, 7);
    const Vector low23 = __builtin_shufflevector(column[2], column[3], 0, 4, 1, 5);
    const Vector high23 = __builtin_shufflevector(column[2], column[3], 2, 6, 3, 7);
    const Vector row[4] = {__builtin_shufflevector(low01, low23, 0, 1, 4, 5),
                           __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
                           __builtin_shufflevector(high01, high23, 0, 1, 4, 5),
                           __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
    for (int r = 0; r < 4; ++r) std::memcpy(out + r * outRow, &row[r], sizeof(Vector));
}

void transposeTile(Word4* out, std::int64_t outRow, const Word4* source, std::int64_t sourceColumn,
                   std::int64_t rows, std::int64_t columns) {
    if (rows % 4 != 0 || columns % 4 != 0)
        return transposeTile<Word4>(out, outRow, source, sourceColumn, rows, columns);
    for (std::int64_t r = 0; r < rows; r += 4) {
        for (std::int64_t c = 0; c < columns; c += 4)
            transposeFour(out + r * outRow + c, outRow, source + r + c * sourceColumn,
                          sourceColumn);
    }
}

/// The dimension (not the inner one) along which the source is dense while out is dense along the
/// inner one; 0 if none.
int transposedDim(const StridedPlan<2>& plan) {
    if (plan.strides[0][0] != 1 || plan.strides[1][0] == 1 || plan.sizes[0] < 8) return 0;
    for (int d = 1; d < plan.rank; ++d) {
        if (plan.strides[1][static_cast<unsigned>(d)] == 1 &&
            plan.sizes[static_cast<unsigned>(d)] >= 8)
            return d;
    }
    return 0;
}

/// Tiles over (inner, d), everything else walked outside.
template <class T>
void copyTransposed(const StridedPlan<2>& plan, int d, T* out, const T* source) {
    const auto ud = static_cast<unsigned>(d);
    StridedPlan<2> outer;
    outer.numel = 1;
    unsigned rank = 0;
    for (unsigned k = 1; k < static_cast<unsigned>(plan.rank); ++k) {
        if (k == ud) continue;
        outer.sizes[rank] = plan.sizes[k];
        outer.strides[0][rank] = plan.strides[0][k];
        outer.strides[1][rank] = plan.strides[1][k];
        outer.numel *= plan.sizes[k];
        ++rank;
    }
    if (rank == 0) outer.sizes[rank++] = 1;
    outer.rank = static_cast<int>(rank);
    const std::int64_t tilesPerPlane = (plan.sizes[ud] - 1) / kTile + 1;
    const std::int64_t bandElements = plan.sizes[0] * kTile;
    const std::int64_t grain = bandElements >= kGrain ? 1 : kGrain / bandElements;
    parallelFor(outer.numel * tilesPerPlane, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t plane = i / tilesPerPlane;
            const std::int64_t row = i % tilesPerPlane * kTile;
            const std::int64_t rows = std::min(kTile, plan.sizes[ud] - row);
            forEachRow(
                outer, plane, plane + 1, [&](const std::array<std::int64_t, 2>& at, std::int64_t) {
                    for (std::int64_t column = 0; column < plan.sizes[0]; column += kTile) {
                        transposeTile(
                            out + at[0] + row * plan.strides[0][ud] + column, plan.strides[0][ud],
                            source + at[1] + row + column * plan.strides[1][0], plan.strides[1][0],
                            rows, std::min(kTile, plan.sizes[0] - column));
                    }
                });
        }
    });
}

/// Between complex and real elements.
void copyAcross(const Tensor& out, const Tensor& source) {
    if (isComplex(out.dtype())) {
        copyTensor(complexPart(out, 0), source);
        copyTensor(complexPart(out, 1), Tensor::scalar(0));
        return;
    }
    if (out.dtype() != DType::Bool) return copyTensor(out, complexPart(source, 0));
    const auto plan =
        planStrided<2>(out.sizes(), {out.strides(), broadcastStrides(source, out.sizes())});
    auto* const y = out.data<bool>();
    const auto* const x = source.data<Complex64>();
    parallelRows(plan, kGrain, [&](const std::array<std::int64_t, 2>& at, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i)
            y[at[0] + i * plan.innerStride(0)] = x[at[1] + i * plan.innerStride(1)] != Complex64();
    });
}

}  // namespace

UnaryLoop convertLoop(DType to, DType from) {
    if (isComplex(to) && isComplex(from)) to = from = DType::I64;  // moved as 8 bytes
    if (isComplex(to) || isComplex(from)) refuseDType(DType::C64);
    return loops().convert.loops[static_cast<unsigned>(to)][static_cast<unsigned>(from)];
}

Tensor converted(const Tensor& source, DType dtype) {
    Tensor out = Tensor::empty(source.sizes(), dtype, MemoryRole::Temporary);
    copyTensor(out, source);
    return out;
}

void copyTensor(const Tensor& out, const Tensor& source) {
    const std::int64_t n = out.numel();
    if (n == 0) return;
    const bool sameType = out.dtype() == source.dtype();
    if (!sameType && (isComplex(out.dtype()) || isComplex(source.dtype())))
        return copyAcross(out, source);
    const auto outBytes = static_cast<std::int64_t>(itemSize(out.dtype()));
    const auto sourceBytes = static_cast<std::int64_t>(itemSize(source.dtype()));
    auto* y = static_cast<char*>(out.data_ptr());
    const auto* x = static_cast<const char*>(source.data_ptr());
    const UnaryLoop loop = convertLoop(out.dtype(), source.dtype());

    if (out.is_contiguous() && source.is_contiguous() && source.numel() == n) {
        parallelFor(n, kGrain, [&](std::int64_t begin, std::int64_t end) {
            if (sameType) {
                std::memcpy(y + begin * outBytes, x + begin * outBytes,
                            static_cast<std::size_t>((end - begin) * outBytes));
            } else {
                loop(end - begin, y + begin * outBytes, 1, x + begin * sourceBytes, 1, {});
            }
        });
        return;
    }
    const auto plan =
        planStrided<2>(out.sizes(), {out.strides(), broadcastStrides(source, out.sizes())});
    if (const int d = sameType ? transposedDim(plan) : 0) {
        const void* from = x;
        void* to = y;
        if (outBytes == 8)
            return copyTransposed(plan, d, static_cast<Word8*>(to),
                                  static_cast<const Word8*>(from));
        if (outBytes == 4)
            return copyTransposed(plan, d, static_cast<Word4*>(to),
                                  static_cast<const Word4*>(from));
        if (outBytes == 2)
            return copyTransposed(plan, d, static_cast<Word2*>(to),
                                  static_cast<const Word2*>(from));
        return copyTransposed(plan, d, static_cast<Word1*>(to), static_cast<const Word1*>(from));
    }
    parallelRows(plan, kGrain, [&](const std::array<std::int64_t, 2>& starts, std::int64_t count) {
        loop(count, y + starts[0] * outBytes, plan.innerStride(0), x + starts[1] * sourceBytes,
             plan.innerStride(1), {});
    });
}

}  // namespace tapescope::engine::cpu
