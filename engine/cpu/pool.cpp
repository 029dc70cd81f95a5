// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/pool.h"

#include "engine/cpu/dense.h"
#include "engine/cpu/nn_isa.h"
#include "engine/cpu/parallel.h"
#include "engine/ops/checks.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <type_traits>
#include <vector>

namespace tapescope::engine::cpu {

namespace {

/// Positions of the input that an output's window covers along one axis, padding cut off.
struct Window {
    std::int64_t begin;
    std::int64_t end;
};
Window window(const PoolShape& s, unsigned axis, std::int64_t at) {
    const std::int64_t start = at * s.stride[axis] - s.padding[axis];
    return {std::max<std::int64_t>(start, 0), std::min(start + s.kernel[axis], s.input[axis])};
}
Window adaptiveWindow(const PoolShape& s, unsigned axis, std::int64_t at) {
    const std::int64_t in = s.input[axis];
    const std::int64_t out = s.output[axis];
    return {at * in / out, ((at + 1) * in - 1) / out + 1};
}

/// The outputs of a row whose window holds tap kw, and the input column the first of them reads.
struct TapRange {
    std::int64_t begin;
    std::int64_t end;
    std::int64_t column;
};
TapRange tapRange(const PoolShape& s, std::int64_t kw) {
    const std::int64_t first = kw - s.padding[1];
    const std::int64_t stride = s.stride[1];
    const std::int64_t begin = first >= 0 ? 0 : (-first + stride - 1) / stride;
    const std::int64_t last = s.input[1] - 1 - first;
    const std::int64_t end = last < 0 ? 0 : std::min(last / stride + 1, s.output[1]);
    return {begin, std::max(begin, end), begin * stride + first};
}

/// fn(input plane offset, output plane offset) for every plane.
template <class Fn>
void forEachPlane(const PoolShape& s, const Fn& fn) {
    const std::int64_t in = s.input[0] * s.input[1];
    const std::int64_t out = s.output[0] * s.output[1];
    const std::int64_t grain =
        std::max<std::int64_t>(kGrain / std::max<std::int64_t>(std::max(in, out), 1), 1);
    parallelFor(s.planes, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t plane = begin; plane < end; ++plane) fn(plane * in, plane * out);
    });
}

/// The taps of output row oh, in the order of the definition: fn(row of the input, tap range).
template <class Fn>
void forEachTap(const PoolShape& s, std::int64_t oh, const Fn& fn) {
    const Window rows = window(s, 0, oh);
    for (std::int64_t ih = rows.begin; ih < rows.end; ++ih)
        for (std::int64_t kw = 0; kw < s.kernel[1]; ++kw)
            if (const TapRange r = tapRange(s, kw); r.begin < r.end) fn(ih, r);
}

// Selections by mask: which element is the largest cannot be predicted, and the compiler would
// branch on it.
template <class T>
T pick(bool first, T x, T y) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    const Bits mask = Bits{0} - static_cast<Bits>(first);
    return std::bit_cast<T>((std::bit_cast<Bits>(x) & mask) | (std::bit_cast<Bits>(y) & ~mask));
}
/// Bitwise or: both comparisons are made, without a branch between them.
template <class T>
bool beats(T value, T best) {
    return static_cast<bool>(static_cast<int>(value > best) | static_cast<int>(value != value));
}

/// The most frequent pooling on its own: its planes are often too small for calls per row. Compiled
/// for the plainest processor, where the compiler takes the short rows as they come.
template <class T>
void maxPool2x2(std::int64_t planes, std::int64_t height, std::int64_t width, const T* x, T* values,
                std::int64_t* indices) {
    const std::int64_t rows = height / 2;
    const std::int64_t columns = width / 2;
    for (std::int64_t plane = 0; plane < planes; ++plane) {
        for (std::int64_t row = 0; row < rows; ++row) {
            const T* top = x + row * 2 * width;
            const std::int64_t first = row * 2 * width;
            for (std::int64_t i = 0; i < columns; ++i) {
                const std::int64_t at = first + 2 * i;
                const T a = top[2 * i];
                const T b = top[2 * i + 1];
                const T c = top[width + 2 * i];
                const T d = top[width + 2 * i + 1];
                // As if each were compared with the best so far: the later of NaNs, the first of
                // equals.
                const bool right = beats(b, a);
                const T upper = pick(right, b, a);
                const std::int64_t upperAt = at + static_cast<std::int64_t>(right);
                const bool low = beats(c, upper);
                const T three = pick(low, c, upper);
                const std::int64_t threeAt = pick(low, at + width, upperAt);
                const bool last = beats(d, three);
                values[i] = pick(last, d, three);
                indices[i] = pick(last, at + width + 1, threeAt);
            }
            values += columns;
            indices += columns;
        }
        x += height * width;
    }
}

template <class T>
void maxPoolTyped(const PoolShape& s, const T* input, T* values, std::int64_t* indices) {
    using Pair = std::array<std::int64_t, 2>;
    if (s.kernel == Pair{2, 2} && s.stride == Pair{2, 2} && s.padding == Pair{0, 0}) {
        const std::int64_t in = s.input[0] * s.input[1];
        const std::int64_t out = s.output[0] * s.output[1];
        parallelFor(s.planes, std::max<std::int64_t>(kGrain / in, 1),
                    [&](std::int64_t begin, std::int64_t end) {
                        maxPool2x2<T>(end - begin, s.input[0], s.input[1], input + begin * in,
                                      values + begin * out, indices + begin * out);
                    });
        return;
    }
    const NnLoops<T>& loops = nnLoops<T>();
    const std::int64_t columns = s.output[1];
    forEachPlane(s, [&](std::int64_t in, std::int64_t out) {
        thread_local std::vector<std::int32_t> at;
        at.resize(static_cast<std::size_t>(columns));
        for (std::int64_t oh = 0; oh < s.output[0]; ++oh) {
            T* best = values + out + oh * columns;
            std::fill_n(best, columns, -std::numeric_limits<T>::infinity());
            // Nothing above -infinity: the window's first element.
            const std::int64_t top = window(s, 0, oh).begin * s.input[1];
            for (std::int64_t ow = 0; ow < columns; ++ow)
                at[static_cast<std::size_t>(ow)] =
                    static_cast<std::int32_t>(top + window(s, 1, ow).begin);
            forEachTap(s, oh, [&](std::int64_t ih, const TapRange& r) {
                const std::int64_t from = ih * s.input[1] + r.column;
                loops.maxTap(r.end - r.begin, input + in + from, s.stride[1],
                             static_cast<std::int32_t>(from), best + r.begin, at.data() + r.begin);
            });
            std::copy_n(at.begin(), columns, indices + out + oh * columns);
        }
    });
}

template <class T>
void avgPoolTyped(const PoolShape& s, const T* input, T* result) {
    const NnLoops<T>& loops = nnLoops<T>();
    const std::int64_t columns = s.output[1];
    const T scale = T(1) / static_cast<T>(s.kernel[0] * s.kernel[1]);
    forEachPlane(s, [&](std::int64_t in, std::int64_t out) {
        for (std::int64_t oh = 0; oh < s.output[0]; ++oh) {
            T* sums = result + out + oh * columns;
            std::fill_n(sums, columns, T(0));
            forEachTap(s, oh, [&](std::int64_t ih, const TapRange& r) {
                loops.addTap(r.end - r.begin, input + in + ih * s.input[1] + r.column, s.stride[1],
                             sums + r.begin);
            });
            for (std::int64_t ow = 0; ow < columns; ++ow) sums[ow] *= scale;
        }
    });
}

template <class T>
void avgPoolBackwardTyped(const PoolShape& s, const T* grad, T* result) {
    const T scale = T(1) / static_cast<T>(s.kernel[0] * s.kernel[1]);
    forEachPlane(s, [&](std::int64_t in, std::int64_t out) {
        std::fill_n(result + in, s.input[0] * s.input[1], T(0));
        for (std::int64_t oh = 0; oh < s.output[0]; ++oh) {
            const T* g = grad + out + oh * s.output[1];
            forEachTap(s, oh, [&](std::int64_t ih, const TapRange& r) {
                T* to = result + in + ih * s.input[1] + r.column;
                for (std::int64_t ow = r.begin; ow < r.end; ++ow)
                    to[(ow - r.begin) * s.stride[1]] += g[ow] * scale;
            });
        }
    });
}

/// fn(row window, column window, output offset in the plane) for every output.
template <class Fn>
void forEachAdaptive(const PoolShape& s, const Fn& fn) {
    for (std::int64_t oh = 0; oh < s.output[0]; ++oh)
        for (std::int64_t ow = 0; ow < s.output[1]; ++ow)
            fn(adaptiveWindow(s, 0, oh), adaptiveWindow(s, 1, ow), oh * s.output[1] + ow);
}

template <class T>
void adaptiveTyped(const PoolShape& s, const T* input, T* result) {
    const NnLoops<T>& loops = nnLoops<T>();
    forEachPlane(s, [&](std::int64_t in, std::int64_t out) {
        forEachAdaptive(s, [&](const Window& rows, const Window& columns, std::int64_t at) {
            const std::int64_t width = columns.end - columns.begin;
            double total = 0;
            for (std::int64_t ih = rows.begin; ih < rows.end; ++ih)
                total += loops.sum(width, input + in + ih * s.input[1] + columns.begin);
            result[out + at] =
                static_cast<T>(total / static_cast<double>((rows.end - rows.begin) * width));
        });
    });
}

template <class T>
void adaptiveBackwardTyped(const PoolShape& s, const T* grad, T* result) {
    forEachPlane(s, [&](std::int64_t in, std::int64_t out) {
        std::fill_n(result + in, s.input[0] * s.input[1], T(0));
        forEachAdaptive(s, [&](const Window& rows, const Window& columns, std::int64_t at) {
            const std::int64_t count = (rows.end - rows.begin) * (columns.end - columns.begin);
            const T share = grad[out + at] / static_cast<T>(count);
            for (std::int64_t ih = rows.begin; ih < rows.end; ++ih)
                for (std::int64_t iw = columns.begin; iw < columns.end; ++iw)
                    result[in + ih * s.input[1] + iw] += share;
        });
    });
}

}  // namespace

void maxPool(const PoolShape& shape, const Tensor& input, const Tensor& values,
             const Tensor& indices) {
    const Tensor x = dense(input);
    visitFloating(x.dtype(), [&]<class T>() {
        maxPoolTyped<T>(shape, x.data<T>(), values.data<T>(), indices.data<std::int64_t>());
    });
}

void maxPoolBackward(const PoolShape& shape, const Tensor& grad, const Tensor& indices,
                     const Tensor& out) {
    const Tensor g = dense(grad);
    const Tensor where = dense(indices);
    const std::int64_t planeIn = shape.input[0] * shape.input[1];
    const std::int64_t planeOut = shape.output[0] * shape.output[1];
    const auto* at = where.data<std::int64_t>();
    constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
    std::atomic<std::int64_t> stray{kNone};
    visitFloating(out.dtype(), [&]<class T>() {
        const T* from = g.data<T>();
        T* to = out.data<T>();
        forEachPlane(shape, [&](std::int64_t in, std::int64_t begin) {
            std::fill_n(to + in, planeIn, T(0));
            for (std::int64_t i = begin; i < begin + planeOut; ++i) {
                if (at[i] < 0 || at[i] >= planeIn)
                    stray.store(at[i], std::memory_order_relaxed);
                else
                    to[in + at[i]] += from[i];
            }
        });
    });
    if (stray.load(std::memory_order_relaxed) != kNone)
        throw IndexError(message("max_pool2d_backward: index ", stray.load(),
                                 " is out of range for a plane of ", planeIn, " elements"));
}

void avgPool(const PoolShape& shape, const Tensor& input, const Tensor& out) {
    const Tensor x = dense(input);
    visitFloating(x.dtype(),
                  [&]<class T>() { avgPoolTyped<T>(shape, x.data<T>(), out.data<T>()); });
}
void avgPoolBackward(const PoolShape& shape, const Tensor& grad, const Tensor& out) {
    const Tensor g = dense(grad);
    visitFloating(g.dtype(),
                  [&]<class T>() { avgPoolBackwardTyped<T>(shape, g.data<T>(), out.data<T>()); });
}
void adaptiveAvgPool(const PoolShape& shape, const Tensor& input, const Tensor& out) {
    const Tensor x = dense(input);
    visitFloating(x.dtype(),
                  [&]<class T>() { adaptiveTyped<T>(shape, x.data<T>(), out.data<T>()); });
}
void adaptiveAvgPoolBackward(const PoolShape& shape, const Tensor& grad, const Tensor& out) {
    const Tensor g = dense(grad);
    visitFloating(g.dtype(),
                  [&]<class T>() { adaptiveBackwardTyped<T>(shape, g.data<T>(), out.data<T>()); });
}

}  // namespace tapescope::engine::cpu
