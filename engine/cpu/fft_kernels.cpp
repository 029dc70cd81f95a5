// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/fft_kernels.h"

#include "engine/cpu/strided.h"
#include "engine/errors.h"
#include "engine/tensor/complex.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <vector>

// Compiled for the base instruction set only. Per instruction set, AVX2 took up to 30 % less time
// for some sizes and more for others, AVX-512 up to twice as much: most of it goes into moving
// lines in and out of the registers. And the library's use of the standard one would put copies of
// that, compiled for a newer processor, where the linker may choose them for everybody.
// Hidden, but for the standard headers above: a model pack may bring its own, compiled in another
// way.
#define POCKETFFT_NO_MULTITHREADING  // the engine's threads share out the lines
#define POCKETFFT_CACHE_SIZE 16      // tables kept a kind, at most some 40 bytes a point
#pragma GCC visibility push(hidden)
#include <pocketfft/pocketfft_hdronly.h>
#pragma GCC visibility pop

namespace tapescope::engine::cpu {
namespace {

using Int = std::int64_t;
using pocketfft::shape_t;
using pocketfft::stride_t;

/// Lines that pocketfft transforms side by side. Alone or so, wherever it lies among the others, a
/// line has the same bits: each is calculated by the same operations, without fused multiply-adds
/// (engine/cpu/isa/isa.cmake).
constexpr Int kSide = 4;
constexpr Int kMostPieces = 64;
/// Numbers under way in all pieces together: they take scratch memory.
constexpr Int kMostAtOnce = Int{1} << 22;
constexpr Int kLongTransform = Int{1} << 20;

/// Throws OutOfMemoryError where the tables and the scratch memory of long transforms do not fit
/// the allocator's limit: they are no tensors, and would be written before anybody is asked.
void checkRoom(Int length, Int pieces, Int side) {
    // Bluestein's, the larger: tables for twice the length, three such lines in each piece.
    if (length >= kLongTransform)
        Tensor::empty({length, 64 + pieces * side * 48}, DType::U8, MemoryRole::Temporary);
}

/// Some of the lines of x, and where in out their transforms go.
struct Piece {
    shape_t sizes;  ///< from the transforms' length, inwards
    stride_t from;  ///< in bytes
    stride_t to;
    const void* first;
    void* result;
};

/// transform(piece) for all lines along dim, in parallel: x's become out's. length: of the
/// transforms. How the lines are shared out depends on the sizes only. Throws std::bad_alloc.
template <class Transform>
void forEachPiece(const Tensor& x, const Tensor& out, int dim, Int length,
                  const Transform& transform) {
    Piece all{{}, {}, {}, x.data_ptr(), out.data_ptr()};
    const auto push = [&](Int size, Int from, Int to) {
        all.sizes.push_back(static_cast<std::size_t>(size));
        all.from.push_back(from * static_cast<Int>(itemSize(x.dtype())));
        all.to.push_back(to * static_cast<Int>(itemSize(out.dtype())));
    };
    Dims sizes = out.sizes();
    Dims from = x.strides();
    Dims to = out.strides();
    push(length, from[dim], to[dim]);
    for (Dims* dims : {&sizes, &from, &to}) dims->erase(dim);
    const auto plan = planStrided<2>(sizes, {to, from});
    std::size_t cut = 1;  // the longest dimension of lines is cut into pieces
    for (auto d = static_cast<unsigned>(plan.rank); d-- > 0;) {
        push(plan.sizes[d], plan.strides[1][d], plan.strides[0][d]);
        if (all.sizes.back() > all.sizes[cut]) cut = all.sizes.size() - 1;
    }
    const auto size = static_cast<Int>(all.sizes[cut]);
    // About 10 simple operations a number.
    const Int grain = std::max<Int>(1, kGrain / 10 / length);  // lines
    const Int most = std::clamp<Int>(kMostAtOnce / length, 1, kMostPieces);
    const Int pieces = std::clamp<Int>(plan.numel / grain, 1, std::min(most, size));
    Int step = (size - 1) / pieces + 1;
    if (size >= kSide) step = (step + kSide - 1) / kSide * kSide;
    checkRoom(length, pieces, std::min(plan.numel, kSide));
    std::atomic<bool> outOfMemory = false;
    parallelFor(size, step, [&](Int begin, Int end) {
        try {
            Piece piece = all;
            piece.sizes[cut] = static_cast<std::size_t>(end - begin);
            piece.first = static_cast<const std::byte*>(all.first) + begin * all.from[cut];
            piece.result = static_cast<std::byte*>(all.result) + begin * all.to[cut];
            transform(piece);
        } catch (const std::bad_alloc&) {
            outOfMemory = true;
        }
    });
    if (outOfMemory) throw std::bad_alloc();
}

void complexLines(const Tensor& x, int dim, bool forward, double scale, const Tensor& out) {
    forEachPiece(x, out, dim, out.sizes()[dim], [&](const Piece& piece) {
        pocketfft::c2c(piece.sizes, piece.from, piece.to, {0}, forward,
                       static_cast<const Complex64*>(piece.first),
                       static_cast<Complex64*>(piece.result), static_cast<float>(scale));
    });
}

/// The second half of real signals' transforms: the first one's conjugates, backwards.
void mirror(const Tensor& out, int dim) {
    const Int n = out.sizes()[dim];
    Dims lines = out.sizes();
    lines[dim] = 1;
    const auto plan = planStrided<1>(lines, {out.strides()});
    const Int stride = out.strides()[dim];
    parallelRows(plan, std::max<Int>(1, kGrain / n), [&](const auto& offsets, Int count) {
        for (Int i = 0; i < count; ++i) {
            auto* const y =
                static_cast<Complex64*>(out.data_ptr()) + offsets[0] + i * plan.innerStride(0);
            for (Int k = n / 2 + 1; k < n; ++k) y[k * stride] = std::conj(y[(n - k) * stride]);
        }
    });
}

/// The heap's failure as the engine's own error.
template <class Fn>
void guarded(const Tensor& out, const Fn& fn) {
    if (out.numel() == 0) return;
    try {
        fn();
    } catch (const std::bad_alloc&) {
        throw OutOfMemoryError("fft: there is no memory for the tables of a transform to " +
                               toString(out.sizes()));
    }
}

}  // namespace

void fftComplex(const Tensor& x, const Dims& dims, bool forward, double scale, const Tensor& out) {
    guarded(out, [&] {
        Tensor from = x;
        for (int i = 0; i < dims.size(); ++i) {
            complexLines(from, static_cast<int>(dims[i]), forward, i == 0 ? scale : 1.0, out);
            from = out;
        }
    });
}

void fftFromReal(const Tensor& x, const Dims& dims, double scale, const Tensor& out) {
    guarded(out, [&] {
        const auto last = static_cast<int>(dims.back());
        const Int n = x.sizes()[last];
        forEachPiece(x, out, last, n, [&](const Piece& piece) {
            pocketfft::r2c(piece.sizes, piece.from, piece.to, 0, true,
                           static_cast<const float*>(piece.first),
                           static_cast<Complex64*>(piece.result), static_cast<float>(scale));
        });
        if (out.sizes()[last] == n) mirror(out, last);
        for (int i = 0; i + 1 < dims.size(); ++i)
            complexLines(out, static_cast<int>(dims[i]), true, 1.0, out);
    });
}

void fftToReal(const Tensor& x, const Dims& dims, double scale, const Tensor& out) {
    guarded(out, [&] {
        Tensor from = x;
        if (dims.size() > 1) {
            const Tensor own = Tensor::empty(x.sizes(), DType::C64, MemoryRole::Temporary);
            for (int i = 0; i + 1 < dims.size(); ++i) {
                complexLines(from, static_cast<int>(dims[i]), false, 1.0, own);
                from = own;
            }
        }
        const auto last = static_cast<int>(dims.back());
        forEachPiece(from, out, last, out.sizes()[last], [&](const Piece& piece) {
            pocketfft::c2r(piece.sizes, piece.from, piece.to, 0, false,
                           static_cast<const Complex64*>(piece.first),
                           static_cast<float*>(piece.result), static_cast<float>(scale));
        });
    });
}

}  // namespace tapescope::engine::cpu
