// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/dense.h"
#include "engine/cpu/nn_isa.h"
#include "engine/cpu/pool_windows.h"
#include "engine/ops/checks.h"

#include <atomic>
#include <bit>
#include <limits>
#include <type_traits>
#include <vector>

namespace tapescope::engine::cpu {

namespace {

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

/// 2 x 2 windows side by side that leave nothing over at an edge.
bool isPlain2x2(const PoolShape& s) {
    using Triple = PoolShape::Triple;
    return s.kernel == Triple{1, 2, 2} && s.stride[1] == 2 && s.stride[2] == 2 &&
           s.padding == Triple{0, 0, 0} && s.dilation == Triple{1, 1, 1} && s.input[0] == 1 &&
           s.output[1] == s.input[1] / 2 && s.output[2] == s.input[2] / 2;
}

template <class T>
constexpr T kLeast = std::is_integral_v<T> ? std::numeric_limits<T>::lowest()
                                           : -std::numeric_limits<T>::infinity();

/// One row of the window's elements against the best so far.
template <class T>
void maxTap(std::int64_t n, const T* x, std::int64_t stride, std::int32_t first, T* best,
            std::int32_t* at) {
    if constexpr (std::is_integral_v<T>) {
        for (std::int64_t i = 0; i < n; ++i) {
            if (x[i * stride] <= best[i]) continue;
            best[i] = x[i * stride];
            at[i] = first + static_cast<std::int32_t>(i * stride);
        }
    } else {
        nnLoops<T>().maxTap(n, x, stride, first, best, at);
    }
}

template <class T>
void maxPoolTyped(const PoolShape& s, const T* input, T* values, std::int64_t* indices) {
    if (isPlain2x2(s)) {
        const std::int64_t in = s.inPlane();
        const std::int64_t out = s.outPlane();
        parallelFor(s.planes, std::max<std::int64_t>(kGrain / in, 1),
                    [&](std::int64_t begin, std::int64_t end) {
                        maxPool2x2<T>(end - begin, s.input[1], s.input[2], input + begin * in,
                                      values + begin * out, indices + begin * out);
                    });
        return;
    }
    const std::int64_t columns = s.output[2];
    const auto firstIn = [&](unsigned axis, std::int64_t at) {
        return std::min(windowOf(s, axis, at).begin, s.input[axis] - 1);
    };
    forEachPlane(s, [&](std::int64_t in, std::int64_t out) {
        thread_local std::vector<std::int32_t> at;
        at.resize(static_cast<std::size_t>(columns));
        forEachOutputRow(s, [&](std::int64_t od, std::int64_t oh, std::int64_t row) {
            T* best = values + out + row * columns;
            std::fill_n(best, columns, kLeast<T>);
            // Nothing above -infinity: the window's first element.
            const std::int64_t top = (firstIn(0, od) * s.input[1] + firstIn(1, oh)) * s.input[2];
            for (std::int64_t ow = 0; ow < columns; ++ow)
                at[static_cast<std::size_t>(ow)] = static_cast<std::int32_t>(top + firstIn(2, ow));
            forEachTap(s, od, oh, [&](std::int64_t ih, const TapRange& r) {
                const std::int64_t from = ih * s.input[2] + r.column;
                maxTap(r.end - r.begin, input + in + from, s.stride[2],
                       static_cast<std::int32_t>(from), best + r.begin, at.data() + r.begin);
            });
            std::copy_n(at.begin(), columns, indices + out + row * columns);
        });
    });
}

template <class T>
void adaptiveMaxTyped(const PoolShape& s, const T* input, T* values, std::int64_t* indices) {
    forEachPlane(s, [&](std::int64_t in, std::int64_t out) {
        forEachOutputRow(s, [&](std::int64_t od, std::int64_t oh, std::int64_t row) {
            const Window depths = adaptiveWindow(s, 0, od);
            const Window rows = adaptiveWindow(s, 1, oh);
            for (std::int64_t ow = 0; ow < s.output[2]; ++ow) {
                const Window columns = adaptiveWindow(s, 2, ow);
                T best = -std::numeric_limits<T>::infinity();
                std::int64_t where =
                    (depths.begin * s.input[1] + rows.begin) * s.input[2] + columns.begin;
                for (std::int64_t id = depths.begin; id < depths.end; ++id)
                    for (std::int64_t ih = rows.begin; ih < rows.end; ++ih)
                        for (std::int64_t iw = columns.begin; iw < columns.end; ++iw) {
                            const std::int64_t at = (id * s.input[1] + ih) * s.input[2] + iw;
                            if (!beats(input[in + at], best)) continue;
                            best = input[in + at];
                            where = at;
                        }
                values[out + row * s.output[2] + ow] = best;
                indices[out + row * s.output[2] + ow] = where;
            }
        });
    });
}

/// put(element of the plane, value) for every value at its index.
template <class Put>
void scatter(std::string_view op, const PoolShape& shape, const Tensor& from, const Tensor& indices,
             const Tensor& out, const Put& put) {
    const Tensor values = dense(from);
    const Tensor where = dense(indices);
    const std::int64_t planeIn = shape.inPlane();
    const std::int64_t planeOut = shape.outPlane();
    const auto* at = where.data<std::int64_t>();
    constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
    std::atomic<std::int64_t> stray{kNone};
    visitFloating(out.dtype(), [&]<class T>() {
        const T* source = values.data<T>();
        T* to = out.data<T>();
        forEachPlane(shape, [&](std::int64_t in, std::int64_t begin) {
            std::fill_n(to + in, planeIn, T(0));
            for (std::int64_t i = begin; i < begin + planeOut; ++i) {
                if (at[i] < 0 || at[i] >= planeIn)
                    stray.store(at[i], std::memory_order_relaxed);
                else
                    put(to[in + at[i]], source[i]);
            }
        });
    });
    if (stray.load(std::memory_order_relaxed) != kNone)
        throw IndexError(message(op, ": index ", stray.load(), " is out of range for a plane of ",
                                 planeIn, " elements"));
}

}  // namespace

void maxPool(const PoolShape& shape, const Tensor& input, const Tensor& values,
             const Tensor& indices) {
    const Tensor x = dense(input);
    if (x.dtype() == DType::I64)
        return maxPoolTyped<std::int64_t>(shape, x.data<std::int64_t>(),
                                          values.data<std::int64_t>(),
                                          indices.data<std::int64_t>());
    visitFloating(x.dtype(), [&]<class T>() {
        maxPoolTyped<T>(shape, x.data<T>(), values.data<T>(), indices.data<std::int64_t>());
    });
}
void adaptiveMaxPool(const PoolShape& shape, const Tensor& input, const Tensor& values,
                     const Tensor& indices) {
    const Tensor x = dense(input);
    visitFloating(x.dtype(), [&]<class T>() {
        adaptiveMaxTyped<T>(shape, x.data<T>(), values.data<T>(), indices.data<std::int64_t>());
    });
}
void maxPoolBackward(std::string_view op, const PoolShape& shape, const Tensor& grad,
                     const Tensor& indices, const Tensor& out) {
    scatter(op, shape, grad, indices, out, [](auto& to, auto value) { to += value; });
}
void maxUnpool(std::string_view op, const PoolShape& shape, const Tensor& input,
               const Tensor& indices, const Tensor& out) {
    scatter(op, shape, input, indices, out, [](auto& to, auto value) { to = value; });
}

}  // namespace tapescope::engine::cpu
