// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/window_kernels.h"

#include "engine/cpu/dense.h"
#include "engine/cpu/shape_kernels.h"
#include "engine/cpu/strided.h"

#include <algorithm>
#include <vector>

namespace tapescope::engine::cpu {

void unfoldBackwardInto(const Tensor& grad, int dim, std::int64_t step, const Tensor& out) {
    fillZero(out);
    if (grad.numel() == 0) return;
    const int last = grad.dim() - 1;
    Dims sizes = grad.sizes();
    Dims gradStrides = grad.strides();
    const std::int64_t size = sizes[last];
    const std::int64_t gradStep = gradStrides[last];
    sizes.erase(last);
    gradStrides.erase(last);
    Dims outStrides = out.strides();
    const std::int64_t outStep = out.dim() == 0 ? 1 : outStrides[dim];
    // Not followed for a single window, so that a huge step may not overflow it.
    if (out.dim() > 0 && sizes[dim] > 1) outStrides[dim] *= step;
    const auto plan = planStrided<2>(sizes, {outStrides, gradStrides});
    visitFloating(out.dtype(), [&]<class T>() {
        T* const to = out.data<T>();
        const T* const from = grad.data<T>();
        // A window's elements one after another, so that no two write one place at a time.
        for (std::int64_t k = 0; k < size; ++k) {
            parallelRows(plan, kGrain, [&](const std::array<std::int64_t, 2>& at, std::int64_t n) {
                T* const o = to + at[0] + k * outStep;
                const T* const g = from + at[1] + k * gradStep;
                for (std::int64_t i = 0; i < n; ++i)
                    o[i * plan.innerStride(0)] += g[i * plan.innerStride(1)];
            });
        }
    });
}

std::int64_t Geometry::end() const {
    std::int64_t last = offset;
    for (int d = 0; d < sizes.size(); ++d) {
        if (sizes[d] == 0) return 0;
        last += (sizes[d] - 1) * strides[d];
    }
    return last + 1;
}

void restrideInto(const Tensor& grad, const Geometry& from, const Geometry& to, const Tensor& out) {
    const std::int64_t extent = std::max<std::int64_t>({from.end(), to.end(), 0});
    const Tensor buffer = Tensor::empty({extent}, out.dtype(), MemoryRole::Temporary);
    fillZero(buffer);
    visitFloating(out.dtype(), [&]<class T>() {
        T* const data = buffer.data<T>();
        if (grad.numel() > 0) {
            const T* const g = grad.data<T>();
            const auto plan = planStrided<2>(from.sizes, {from.strides, grad.strides()});
            forEachRow(plan, 0, plan.numel,
                       [&](const std::array<std::int64_t, 2>& at, std::int64_t n) {
                           for (std::int64_t i = 0; i < n; ++i)
                               data[from.offset + at[0] + i * plan.innerStride(0)] +=
                                   g[at[1] + i * plan.innerStride(1)];
                       });
        }
        if (out.numel() == 0) return;
        T* const o = out.data<T>();
        const auto plan = planStrided<2>(to.sizes, {out.strides(), to.strides});
        forEachRow(plan, 0, plan.numel, [&](const std::array<std::int64_t, 2>& at, std::int64_t n) {
            for (std::int64_t i = 0; i < n; ++i)
                o[at[0] + i * plan.innerStride(0)] =
                    data[to.offset + at[1] + i * plan.innerStride(1)];
        });
    });
}

Pair Blocks::counts() const {
    Pair result{};
    for (std::size_t i = 0; i < 2; ++i) {
        const std::int64_t free = image[i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1;
        result[i] = free < 0 ? 0 : free / stride[i] + 1;
    }
    return result;
}

namespace {

/// fn(element of the columns, its place in the image or null in the padding): all elements of one
/// image and channel, in the columns' order.
template <class T, class Fn>
void forBlocks(T* columns, T* image, const Blocks& b, const Fn& fn) {
    const Pair counts = b.counts();
    for (std::int64_t ky = 0; ky < b.kernel[0]; ++ky) {
        for (std::int64_t kx = 0; kx < b.kernel[1]; ++kx) {
            for (std::int64_t by = 0; by < counts[0]; ++by) {
                const std::int64_t y = by * b.stride[0] - b.padding[0] + ky * b.dilation[0];
                const bool inside = y >= 0 && y < b.image[0];
                for (std::int64_t bx = 0; bx < counts[1]; ++bx, ++columns) {
                    const std::int64_t x = bx * b.stride[1] - b.padding[1] + kx * b.dilation[1];
                    const bool within = inside && x >= 0 && x < b.image[1];
                    fn(*columns, within ? image + y * b.image[1] + x : nullptr);
                }
            }
        }
    }
}
/// fn(columns, image) for every image and channel, in parallel.
template <class T, class Fn>
void forPlanes(const Tensor& columns, const Tensor& images, const Blocks& b, const Fn& fn) {
    const Pair counts = b.counts();
    const std::int64_t perColumn = b.kernel[0] * b.kernel[1] * counts[0] * counts[1];
    const std::int64_t perImage = b.image[0] * b.image[1];
    const std::int64_t planes = images.size(0) * images.size(1);
    T* const column = columns.data<T>();
    T* const image = images.data<T>();
    parallelFor(planes, std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, perColumn)),
                [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t p = begin; p < end; ++p)
                        fn(column + p * perColumn, image + p * perImage);
                });
}

}  // namespace

void im2col(const Tensor& images, const Blocks& blocks, const Tensor& columns) {
    if (columns.numel() == 0) return;
    visitDType(images.dtype(), [&]<class T>() {
        forPlanes<T>(columns, images, blocks, [&](T* column, T* image) {
            forBlocks(column, image, blocks,
                      [](T& element, const T* place) { element = place ? *place : T{}; });
        });
    });
}

void col2im(const Tensor& columns, const Blocks& blocks, const Tensor& images) {
    fillZero(images);
    if (columns.numel() == 0) return;
    visitFloating(images.dtype(), [&]<class T>() {
        forPlanes<T>(columns, images, blocks, [&](T* column, T* image) {
            forBlocks(column, image, blocks, [](const T& element, T* place) {
                if (place) *place += element;
            });
        });
    });
}

namespace {

/// The last three dimensions, with size 1 where there are fewer, and what each place of the padded
/// ones is a copy of.
struct PadPlan {
    std::int64_t outer = 1;
    std::array<std::int64_t, 3> from{1, 1, 1};
    std::array<std::int64_t, 3> to{1, 1, 1};
    std::array<std::vector<std::int64_t>, 3> source;

    PadPlan(const Dims& sizes, const Dims& padded, const Dims& padding, PadMode mode) {
        const int count = padding.size() / 2;
        for (int d = 0; d < sizes.size() - count; ++d) outer *= sizes[d];
        for (int i = 0; i < 3; ++i) {
            const auto slot = static_cast<std::size_t>(2 - i);
            if (i >= count) {
                source[slot] = {0};
                continue;
            }
            const int d = sizes.size() - 1 - i;
            from[slot] = sizes[d];
            to[slot] = padded[d];
            for (std::int64_t o = 0; o < to[slot]; ++o)
                source[slot].push_back(
                    place(o - padding[2 * i], sizes[d], padding[2 * i], padding[2 * i + 1], mode));
        }
    }

    /// Where place `at` of the padded dimension, counted from the input's first, comes from.
    static std::int64_t place(std::int64_t at, std::int64_t size, std::int64_t before,
                              std::int64_t after, PadMode mode) {
        switch (mode) {
            case PadMode::Reflect:
                return at < 0 ? -at : at >= size ? 2 * (size - 1) - at : at;
            case PadMode::Replicate:
                return std::clamp<std::int64_t>(at, 0, size - 1);
            case PadMode::Circular: {  // around what negative padding leaves
                const std::int64_t first = std::max<std::int64_t>(-before, 0);
                const std::int64_t left = size - first - std::max<std::int64_t>(-after, 0);
                return first + ((at - first) % left + left) % left;
            }
        }
        return 0;
    }

    /// fn(padded element, its source), for all of one outer position.
    template <class P, class S, class Fn>
    void forEach(P* padded, S* plain, const Fn& fn) const {
        for (const std::int64_t a : source[0]) {
            for (const std::int64_t b : source[1]) {
                S* const row = plain + (a * from[1] + b) * from[2];
                for (const std::int64_t c : source[2]) fn(*padded++, row[c]);
            }
        }
    }
    std::int64_t fromSize() const { return from[0] * from[1] * from[2]; }
    std::int64_t toSize() const { return to[0] * to[1] * to[2]; }
    std::int64_t grain() const {
        return std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, toSize()));
    }
};

}  // namespace

void padModeInto(const Tensor& input, const Dims& padding, PadMode mode, const Tensor& out) {
    if (out.numel() == 0) return;
    const Tensor x = dense(input);
    const PadPlan plan(x.sizes(), out.sizes(), padding, mode);
    visitDType(x.dtype(), [&]<class T>() {
        const T* const from = x.data<T>();
        T* const to = out.data<T>();
        parallelFor(plan.outer, plan.grain(), [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i)
                plan.forEach(to + i * plan.toSize(), from + i * plan.fromSize(),
                             [](T& padded, const T& source) { padded = source; });
        });
    });
}

void padModeBackwardInto(const Tensor& given, const Dims& padding, PadMode mode,
                         const Tensor& out) {
    fillZero(out);
    if (given.numel() == 0) return;
    const Tensor grad = dense(given);
    const PadPlan plan(out.sizes(), grad.sizes(), padding, mode);
    visitFloating(grad.dtype(), [&]<class T>() {
        const T* const from = grad.data<T>();
        T* const to = out.data<T>();
        parallelFor(plan.outer, plan.grain(), [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i)
                plan.forEach(from + i * plan.toSize(), to + i * plan.fromSize(),
                             [](const T& padded, T& source) { source += padded; });
        });
    });
}

}  // namespace tapescope::engine::cpu
