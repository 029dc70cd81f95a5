// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/masked_kernels.h"

#include "engine/cpu/dense.h"
#include "engine/cpu/parallel.h"
#include "engine/cpu/strided.h"
#include "engine/ops/checks.h"
#include "engine/tensor/tensor_impl.h"

#include <algorithm>
#include <type_traits>
#include <vector>

namespace tapescope::engine::cpu {
namespace {

/// How many of x's elements before each piece of kGrain are not 0; the last entry counts them all.
template <class T>
std::vector<std::int64_t> countsBefore(const T* x, std::int64_t n) {
    const std::int64_t pieces = n == 0 ? 0 : (n - 1) / kGrain + 1;
    std::vector<std::int64_t> before(static_cast<std::size_t>(pieces) + 1, 0);
    parallelFor(n, kGrain, [&](std::int64_t begin, std::int64_t end) {
        before[static_cast<std::size_t>(begin / kGrain) + 1] =
            std::count_if(x + begin, x + end, [](T v) { return v != T{}; });
    });
    for (std::size_t i = 1; i < before.size(); ++i) before[i] += before[i - 1];
    return before;
}

/// Where element number `flat` of a tensor of these sizes and strides lies.
std::int64_t offsetOf(std::int64_t flat, const Dims& sizes, const Dims& strides) {
    std::int64_t offset = 0;
    for (int d = sizes.size() - 1; d >= 0; --d) {
        offset += flat % sizes[d] * strides[d];
        flat /= sizes[d];
    }
    return offset;
}

/// index, dense, with negative numbers counted from the end. Throws IndexError.
std::vector<std::int64_t> wrapped(std::string_view op, const Tensor& index, std::int64_t count) {
    const std::vector<std::int64_t> given = index.to_vector<std::int64_t>();
    std::vector<std::int64_t> places(given.size());
    for (std::size_t i = 0; i < given.size(); ++i) {
        if (given[i] < -count || given[i] >= count)
            throw IndexError(
                message(op, ": index ", given[i], " is out of range for ", count, " elements"));
        places[i] = given[i] < 0 ? given[i] + count : given[i];
    }
    return places;
}

}  // namespace

Tensor broadcastView(const Tensor& x, const Dims& sizes) {
    return makeView(x, sizes, broadcastStrides(x, sizes), x.storage_offset());
}

Tensor nonzeroOf(const Tensor& input) {
    const Tensor x = dense(input);
    const int rank = x.dim();
    Tensor out;
    visitDType(x.dtype(), [&]<class T>() {
        const T* const data = x.data<T>();
        const std::vector<std::int64_t> before = countsBefore(data, x.numel());
        out = Tensor::empty({before.back(), rank}, DType::I64);
        auto* const places = out.data<std::int64_t>();
        parallelFor(x.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
            std::int64_t* row = places + before[static_cast<std::size_t>(begin / kGrain)] * rank;
            for (std::int64_t i = begin; i < end; ++i) {
                if (data[i] == T{}) continue;
                std::int64_t flat = i;
                for (int d = rank - 1; d >= 0; --d) {
                    row[d] = flat % x.sizes()[d];
                    flat /= x.sizes()[d];
                }
                row += rank;
            }
        });
    });
    return out;
}

Tensor maskedSelect(const Tensor& x, const Tensor& mask, const Dims& sizes) {
    const Tensor where = dense(broadcastView(mask, sizes));
    const Tensor from = dense(broadcastView(x, sizes));
    const bool* const flags = where.data<bool>();
    const std::vector<std::int64_t> before = countsBefore(flags, where.numel());
    Tensor out = Tensor::empty({before.back()}, x.dtype());
    visitDType(x.dtype(), [&]<class T>() {
        const T* const data = from.data<T>();
        T* const chosen = out.data<T>();
        parallelFor(where.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
            T* next = chosen + before[static_cast<std::size_t>(begin / kGrain)];
            for (std::int64_t i = begin; i < end; ++i)
                if (flags[i]) *next++ = data[i];
        });
    });
    return out;
}

void maskedScatterInto(const Tensor& out, const Tensor& mask, const Tensor& source) {
    const Tensor where = dense(broadcastView(mask, out.sizes()));
    const bool* const flags = where.data<bool>();
    const std::vector<std::int64_t> before = countsBefore(flags, where.numel());
    if (before.back() > source.numel())
        throw ShapeError(message("masked_scatter: the mask chooses ", before.back(),
                                 " elements, but source ", source.sizes(), " has only ",
                                 source.numel()));
    const Tensor from = dense(source);
    const Tensor to = dense(out);
    visitDType(out.dtype(), [&]<class T>() {
        const T* const data = from.data<T>();
        T* const y = to.data<T>();
        parallelFor(where.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
            const T* next = data + before[static_cast<std::size_t>(begin / kGrain)];
            for (std::int64_t i = begin; i < end; ++i)
                if (flags[i]) y[i] = *next++;
        });
    });
    if (!same(to, out)) copyTensor(out, to);
}

void takeInto(const Tensor& x, const Tensor& index, const Tensor& out) {
    const std::vector<std::int64_t> places = wrapped("take", index, x.numel());
    visitDType(x.dtype(), [&]<class T>() {
        const T* const data = x.data<T>();
        T* const y = out.data<T>();
        parallelFor(out.numel(), kGrain / 4, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i)
                y[i] = data[offsetOf(places[static_cast<std::size_t>(i)], x.sizes(), x.strides())];
        });
    });
}

void putInto(const Tensor& out, const Tensor& index, const Tensor& source, bool accumulate) {
    const std::vector<std::int64_t> places = wrapped("put", index, out.numel());
    const Tensor from = dense(source);
    visitDType(out.dtype(), [&]<class T>() {
        T* const y = out.data<T>();
        const T* const data = from.data<T>();
        for (std::size_t i = 0; i < places.size(); ++i) {
            T& place = y[offsetOf(places[i], out.sizes(), out.strides())];
            if constexpr (std::is_same_v<T, bool>)
                place = accumulate ? place || data[i] : data[i];
            else
                place = accumulate ? static_cast<T>(place + data[i]) : data[i];
        }
    });
}

}  // namespace tapescope::engine::cpu
