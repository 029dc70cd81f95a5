// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/advanced_index.h"

#include "engine/cpu/dense.h"
#include "engine/cpu/masked_kernels.h"
#include "engine/cpu/strided.h"
#include "engine/ops/checks.h"
#include "engine/tensor/tensor_impl.h"

#include <algorithm>
#include <type_traits>

namespace tapescope::engine::cpu {
namespace {

/// Where each of the chosen parts starts in t, in the order of the index tensors' common shape.
std::vector<std::int64_t> partOffsets(std::string_view op, const Tensor& t,
                                      std::span<const Tensor> indices, const IndexShape& shape) {
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(numelOf(shape.broadcast)), 0);
    for (std::size_t k = 0; k < indices.size(); ++k) {
        if (!indices[k].defined()) continue;
        const int dim = static_cast<int>(k);
        const std::int64_t size = t.sizes()[dim];
        const std::int64_t stride = t.strides()[dim];
        const Tensor index = dense(broadcastView(indices[k], shape.broadcast));
        const auto* const at = index.data<std::int64_t>();
        for (std::size_t i = 0; i < offsets.size(); ++i) {
            if (at[i] < -size || at[i] >= size)
                throw IndexError(message(op, ": index ", at[i], " is out of range for dimension ",
                                         dim, " of size ", size));
            offsets[i] += (at[i] < 0 ? at[i] + size : at[i]) * stride;
        }
    }
    return offsets;
}

/// Strides of the dimensions without an index: x's, and the result's.
Dims restStrides(const Dims& strides, const IndexShape& shape) {
    Dims rest;
    for (const int d : shape.restDims) rest.push_back(strides[d]);
    return rest;
}
Dims restStridesOfResult(const Dims& strides, const IndexShape& shape) {
    Dims rest;
    for (int i = 0; i < shape.rest.size(); ++i)
        rest.push_back(strides[i < shape.at ? i : i + shape.broadcast.size()]);
    return rest;
}

}  // namespace

Dims IndexShape::sizes() const {
    Dims result;
    for (int i = 0; i < at; ++i) result.push_back(rest[i]);
    for (const std::int64_t size : broadcast) result.push_back(size);
    for (int i = at; i < rest.size(); ++i) result.push_back(rest[i]);
    return result;
}

IndexShape indexShape(std::string_view op, const Dims& sizes, std::span<const Tensor> indices) {
    if (indices.size() > static_cast<std::size_t>(sizes.size()))
        throw IndexError(message(op, ": ", static_cast<std::int64_t>(indices.size()),
                                 " indices for the ", sizes.size(), " dimensions of ", sizes));
    IndexShape shape;
    int first = -1;
    int last = -1;
    int count = 0;
    for (int d = 0; d < sizes.size(); ++d) {
        const auto k = static_cast<std::size_t>(d);
        if (k >= indices.size() || !indices[k].defined()) {
            shape.rest.push_back(sizes[d]);
            shape.restDims.push_back(d);
            continue;
        }
        const Dims before = shape.broadcast;
        if (!broadcastShapes(before, indices[k].sizes(), shape.broadcast))
            throw IndexError(message(op, ": the indices do not broadcast: ", before, " and ",
                                     indices[k].sizes()));
        if (first < 0) first = d;
        last = d;
        ++count;
    }
    shape.at = count > 0 && last - first + 1 == count ? first : 0;
    return shape;
}

std::vector<Tensor> expandMasks(std::string_view op, const Dims& sizes,
                                std::span<const Tensor> indices) {
    std::vector<Tensor> expanded;
    for (const Tensor& index : indices) {
        if (!index.defined() || index.dtype() != DType::Bool) {
            expanded.push_back(index);
            continue;
        }
        const int from = static_cast<int>(expanded.size());
        if (index.dim() == 0)
            throw IndexError(message(op, ": a bool mask must have at least 1 dimension"));
        bool fits = from + index.dim() <= sizes.size();
        for (int d = 0; fits && d < index.dim(); ++d) fits = index.sizes()[d] == sizes[from + d];
        if (!fits)
            throw IndexError(message(op, ": the mask ", index.sizes(), " does not fit the sizes ",
                                     sizes, " from dimension ", from, " on"));
        const Tensor places = nonzeroOf(index);
        const std::int64_t n = places.size(0);
        for (int d = 0; d < index.dim(); ++d)
            expanded.push_back(makeView(places, {n}, {index.dim()}, d));
    }
    return expanded;
}

void indexInto(const Tensor& x, std::span<const Tensor> indices, const Tensor& out) {
    const IndexShape shape = indexShape("index", x.sizes(), indices);
    const std::vector<std::int64_t> offsets = partOffsets("index", x, indices, shape);
    if (out.numel() == 0) return;
    const auto count = static_cast<std::int64_t>(offsets.size());
    const Dims outRest = restStridesOfResult(out.strides(), shape);
    const auto plan = planStrided<2>(shape.rest, {outRest, restStrides(x.strides(), shape)});
    // out is dense: its parts are this far apart.
    std::int64_t step = 1;
    for (int i = shape.at; i < shape.rest.size(); ++i) step *= shape.rest[i];
    const std::int64_t os = plan.innerStride(0);
    const std::int64_t xs = plan.innerStride(1);
    visitDType(x.dtype(), [&]<class T>() {
        const T* const from = x.data<T>();
        T* const to = out.data<T>();
        parallelFor(count, std::max<std::int64_t>(1, kGrain / 4 / plan.numel),
                    [&](std::int64_t begin, std::int64_t end) {
                        for (std::int64_t b = begin; b < end; ++b) {
                            const T* const source = from + offsets[static_cast<std::size_t>(b)];
                            T* const target = to + b * step;
                            forEachRow(plan, 0, plan.numel,
                                       [&](const std::array<std::int64_t, 2>& at, std::int64_t n) {
                                           T* const o = target + at[0];
                                           const T* const i = source + at[1];
                                           if (os == 1 && xs == 1) {
                                               std::copy_n(i, n, o);
                                               return;
                                           }
                                           for (std::int64_t e = 0; e < n; ++e)
                                               o[e * os] = i[e * xs];
                                       });
                        }
                    });
    });
}

void indexPutInto(std::string_view op, const Tensor& out, std::span<const Tensor> indices,
                  const Tensor& values, bool accumulate) {
    const IndexShape shape = indexShape(op, out.sizes(), indices);
    const std::vector<std::int64_t> offsets = partOffsets(op, out, indices, shape);
    const Dims result = shape.sizes();
    if (numelOf(result) == 0) return;
    const Dims valueStrides = broadcastStrides(values, result);
    const auto plan = planStrided<2>(
        shape.rest, {restStrides(out.strides(), shape), restStridesOfResult(valueStrides, shape)});
    std::vector<std::int64_t> valueOffsets(offsets.size());
    Dims broadcast = Dims::filled(shape.broadcast.size(), 0);
    for (std::int64_t& offset : valueOffsets) {
        offset = 0;
        for (int d = 0; d < broadcast.size(); ++d)
            offset += broadcast[d] * valueStrides[shape.at + d];
        for (int d = broadcast.size() - 1; d >= 0 && ++broadcast[d] == shape.broadcast[d]; --d)
            broadcast[d] = 0;
    }
    const std::int64_t os = plan.innerStride(0);
    const std::int64_t vs = plan.innerStride(1);
    const auto count = static_cast<std::int64_t>(offsets.size());
    visitDType(out.dtype(), [&]<class T>() {
        T* const to = out.data<T>();
        const T* const from = values.data<T>();
        // Parts may name one place several times: each position off the indices goes through them
        // in order.
        parallelFor(plan.numel, std::max<std::int64_t>(1, kGrain / count),
                    [&](std::int64_t begin, std::int64_t end) {
                        for (std::size_t b = 0; b < offsets.size(); ++b) {
                            forEachRow(
                                plan, begin, end,
                                [&](const std::array<std::int64_t, 2>& at, std::int64_t n) {
                                    T* const o = to + offsets[b] + at[0];
                                    const T* const v = from + valueOffsets[b] + at[1];
                                    for (std::int64_t e = 0; e < n; ++e) {
                                        T& place = o[e * os];
                                        if constexpr (std::is_same_v<T, bool>)
                                            place = accumulate ? place || v[e * vs] : v[e * vs];
                                        else
                                            place = accumulate ? static_cast<T>(place + v[e * vs])
                                                               : v[e * vs];
                                    }
                                });
                        }
                    });
    });
}

}  // namespace tapescope::engine::cpu
