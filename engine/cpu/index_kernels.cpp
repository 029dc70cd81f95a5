// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/index_kernels.h"

#include "engine/cpu/shape_kernels.h"
#include "engine/cpu/strided.h"
#include "engine/ops/checks.h"
#include "engine/tensor/complex.h"

#include <algorithm>
#include <type_traits>

namespace tapescope::engine::cpu {

namespace {

/// A tensor as the walks below see it: a 0-d tensor counts as one of size 1.
struct Walked {
    Dims sizes;
    Dims strides;
};
Walked walked(const Tensor& t) {
    if (t.dim() == 0) return {{1}, {1}};
    return {t.sizes(), t.strides()};
}

/// index's strides over `sizes`: its own, or, for a 1-d index along dim, 0 everywhere else.
Dims indexStrides(const Tensor& index, int dim, int rank) {
    const Walked w = walked(index);
    if (w.sizes.size() == rank) return w.strides;
    Dims strides = Dims::filled(rank, 0);
    strides[dim] = w.strides[0];
    return strides;
}

template <class T>
void gatherTyped(const Tensor& x, int dim, const Tensor& index, const Tensor& out) {
    const Walked to = walked(out);
    const Walked from = walked(x);
    Dims fromStrides = from.strides;
    const std::int64_t step = fromStrides[dim];
    fromStrides[dim] = 0;
    const auto plan = planStrided<3>(
        to.sizes, {to.strides, indexStrides(index, dim, to.sizes.size()), fromStrides});
    T* const o = static_cast<T*>(out.data_ptr());
    const std::int64_t* const at = index.data<std::int64_t>();
    const T* const source = static_cast<const T*>(x.data_ptr());
    const std::int64_t os = plan.innerStride(0);
    const std::int64_t is = plan.innerStride(1);
    const std::int64_t xs = plan.innerStride(2);
    parallelRows(plan, kGrain, [&](const std::array<std::int64_t, 3>& offsets, std::int64_t n) {
        T* dst = o + offsets[0];
        const std::int64_t* idx = at + offsets[1];
        const T* src = source + offsets[2];
        if (is == 0) {
            src += idx[0] * step;
            if (os == 1 && xs == 1) {
                std::copy_n(src, n, dst);
            } else {
                for (std::int64_t i = 0; i < n; ++i) dst[i * os] = src[i * xs];
            }
            return;
        }
        for (std::int64_t i = 0; i < n; ++i) dst[i * os] = src[i * xs + idx[i * is] * step];
    });
}

template <class T>
void scatterAddTyped(const Tensor& out, int dim, const Tensor& index, const Tensor& source) {
    const Walked to = walked(out);
    const Walked from = walked(source);
    const Walked idx = walked(index);
    const int rank = to.sizes.size();
    Dims sizes = idx.sizes.size() == rank ? idx.sizes : from.sizes;
    const std::int64_t length = sizes[dim];
    Dims outStrides = to.strides;
    Dims atStrides = indexStrides(index, dim, rank);
    Dims fromStrides = from.strides;
    const std::int64_t outStep = outStrides[dim];
    const std::int64_t atStep = atStrides[dim];
    const std::int64_t fromStep = fromStrides[dim];
    for (Dims* d : {&sizes, &outStrides, &atStrides, &fromStrides}) d->erase(dim);
    // Positions off dim never meet in the output, so that they may run in parallel; along dim it
    // goes in order.
    const auto plan = planStrided<3>(sizes, {outStrides, atStrides, fromStrides});
    T* const o = out.data<T>();
    const std::int64_t* const at = index.data<std::int64_t>();
    const T* const src = source.data<T>();
    const std::int64_t os = plan.innerStride(0);
    const std::int64_t is = plan.innerStride(1);
    const std::int64_t ss = plan.innerStride(2);
    const std::int64_t grain =
        std::max<std::int64_t>(kGrain / std::max<std::int64_t>(length, 1), 1);
    parallelFor(plan.numel, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = 0; k < length; ++k) {
            forEachRow(plan, begin, end,
                       [&](const std::array<std::int64_t, 3>& offsets, std::int64_t n) {
                           T* dst = o + offsets[0];
                           const std::int64_t* where = at + offsets[1] + k * atStep;
                           const T* value = src + offsets[2] + k * fromStep;
                           if (is == 0) {
                               dst += where[0] * outStep;
                               for (std::int64_t i = 0; i < n; ++i)
                                   dst[i * os] = static_cast<T>(dst[i * os] + value[i * ss]);
                               return;
                           }
                           for (std::int64_t i = 0; i < n; ++i) {
                               T& sum = dst[i * os + where[i * is] * outStep];
                               sum = static_cast<T>(sum + value[i * ss]);
                           }
                       });
        }
    });
}

}  // namespace

void checkIndexRange(std::string_view op, const Tensor& index, int dim, std::int64_t size) {
    const Walked w = walked(index);
    const auto plan = planStrided<1>(w.sizes, {w.strides});
    const std::int64_t* const values = index.data<std::int64_t>();
    const std::int64_t step = plan.innerStride(0);
    if (plan.numel == 0) return;
    forEachRow(plan, 0, plan.numel,
               [&](const std::array<std::int64_t, 1>& offsets, std::int64_t n) {
                   for (std::int64_t i = 0; i < n; ++i) {
                       const std::int64_t value = values[offsets[0] + i * step];
                       if (value < 0 || value >= size)
                           throw IndexError(message(op, ": index ", value,
                                                    " is out of range for dimension ", dim,
                                                    " of size ", size));
                   }
               });
}

void gatherInto(const Tensor& x, int dim, const Tensor& index, const Tensor& out) {
    if (out.numel() == 0) return;
    // Elements are only moved: their size is all that matters.
    switch (itemSize(x.dtype())) {
        case 1:
            return gatherTyped<std::uint8_t>(x, dim, index, out);
        case 2:
            return gatherTyped<std::uint16_t>(x, dim, index, out);
        case 4:
            return gatherTyped<std::uint32_t>(x, dim, index, out);
        default:
            return gatherTyped<std::uint64_t>(x, dim, index, out);
    }
}

void scatterAddInto(const Tensor& out, int dim, const Tensor& index, const Tensor& source) {
    if (index.numel() == 0 || source.numel() == 0 || out.numel() == 0) return;
    if (isComplex(out.dtype())) return scatterAddTyped<Complex64>(out, dim, index, source);
    visitDType(out.dtype(), [&]<class T>() { scatterAddTyped<T>(out, dim, index, source); });
}

void oneHotInto(const Tensor& index, const Tensor& out) {
    fillZero(out);
    if (out.numel() == 0) return;
    Dims outStrides = out.strides();
    outStrides.resize(out.dim() - 1);
    const auto plan = planStrided<2>(index.sizes(), {outStrides, index.strides()});
    std::int64_t* const o = out.data<std::int64_t>();
    const std::int64_t* const at = index.data<std::int64_t>();
    const std::int64_t os = plan.innerStride(0);
    const std::int64_t is = plan.innerStride(1);
    parallelRows(plan, kGrain, [&](const std::array<std::int64_t, 2>& offsets, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) o[offsets[0] + i * os + at[offsets[1] + i * is]] = 1;
    });
}

}  // namespace tapescope::engine::cpu
