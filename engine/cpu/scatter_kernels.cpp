// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/scatter_kernels.h"

#include "engine/cpu/dense.h"
#include "engine/cpu/index_kernels.h"
#include "engine/cpu/lines.h"
#include "engine/cpu/shape_kernels.h"
#include "engine/cpu/strided.h"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace tapescope::engine::cpu {
namespace {

/// A 0-d tensor counts as one of size 1.
Dims sizesOf(const Tensor& t) { return t.dim() == 0 ? Dims{1} : t.sizes(); }
Dims stridesOf(const Tensor& t) { return t.dim() == 0 ? Dims{1} : t.strides(); }

/// Positions of index off dim, and the steps along it.
struct Walk {
    StridedPlan<3> plan;  ///< out, index, source
    std::int64_t length;
    std::int64_t outStep, atStep, fromStep;
};
Walk walkOf(const Tensor& out, int dim, const Tensor& index, const Tensor& source) {
    const Dims outSizes = sizesOf(out);
    const int rank = outSizes.size();
    Dims sizes = outSizes;
    Dims atStrides = Dims::filled(rank, 0);
    if (sizesOf(index).size() == rank) {
        sizes = sizesOf(index);
        atStrides = stridesOf(index);
    } else {  // 1-d, for whole slices
        sizes[dim] = index.numel();
        atStrides[dim] = stridesOf(index)[0];
    }
    Dims outStrides = stridesOf(out);
    Dims fromStrides = source.defined() ? stridesOf(source) : Dims::filled(rank, 0);
    Walk walk{};
    walk.length = sizes[dim];
    walk.outStep = outStrides[dim];
    walk.atStep = atStrides[dim];
    walk.fromStep = fromStrides[dim];
    for (Dims* d : {&sizes, &outStrides, &atStrides, &fromStrides}) d->erase(dim);
    walk.plan = planStrided<3>(sizes, {outStrides, atStrides, fromStrides});
    return walk;
}

/// apply(place, value) for every element, along dim in order. Positions off dim never meet in the
/// output, so that they may run in parallel.
template <class T, class Apply>
void scatterTyped(const Walk& w, T* out, const std::int64_t* at, const T* from,
                  const Apply& apply) {
    const std::int64_t os = w.plan.innerStride(0);
    const std::int64_t is = w.plan.innerStride(1);
    const std::int64_t ss = w.plan.innerStride(2);
    const std::int64_t grain =
        std::max<std::int64_t>(kGrain / std::max<std::int64_t>(w.length, 1), 1);
    parallelFor(w.plan.numel, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = 0; k < w.length; ++k) {
            forEachRow(w.plan, begin, end,
                       [&](const std::array<std::int64_t, 3>& offsets, std::int64_t n) {
                           T* const o = out + offsets[0];
                           const std::int64_t* const i = at + offsets[1] + k * w.atStep;
                           const T* const s = from + offsets[2] + k * w.fromStep;
                           for (std::int64_t e = 0; e < n; ++e)
                               apply(o[e * os + i[e * is] * w.outStep], s[e * ss]);
                       });
        }
    });
}

constexpr auto kAssign = [](auto& place, auto value) { place = value; };
constexpr auto kAdd = [](auto& place, auto value) {
    using T = std::remove_reference_t<decltype(place)>;
    if constexpr (std::is_same_v<T, bool>)
        place = place || value;
    else
        place = static_cast<T>(place + value);
};
constexpr auto kMultiply = [](auto& place, auto value) {
    using T = std::remove_reference_t<decltype(place)>;
    if constexpr (std::is_same_v<T, bool>)
        place = place && value;
    else
        place = static_cast<T>(place * value);
};
constexpr auto kRaise = [](auto& place, auto value) {
    if (value > place || isNan(value)) place = value;
};
constexpr auto kLower = [](auto& place, auto value) {
    if (value < place || isNan(value)) place = value;
};

/// What leaves every value as it is.
template <class T>
T neutral(Scatter how) {
    using Limits = std::numeric_limits<T>;
    switch (how) {
        case Scatter::Prod:
            return T{1};
        case Scatter::Amax:
            return Limits::has_infinity ? static_cast<T>(-Limits::infinity()) : Limits::lowest();
        case Scatter::Amin:
            return Limits::has_infinity ? Limits::infinity() : Limits::max();
        default:
            return T{0};
    }
}

template <class T>
T share(T total, std::int64_t count) {
    if constexpr (std::is_floating_point_v<T>) {
        return total / static_cast<T>(count);
    } else {  // rounded down
        const auto n = static_cast<std::int64_t>(total);
        return static_cast<T>(n / count - (n % count < 0 ? 1 : 0));
    }
}

template <class T>
void meanOver(const Tensor& out, int dim, const Tensor& index, bool includeSelf) {
    const Tensor counts = Tensor::empty(out.sizes(), DType::I64, MemoryRole::Temporary);
    fillZero(counts);
    const Tensor one = Tensor::scalar(1, DType::I64);
    const Walk counting = walkOf(counts, dim, index, {});
    scatterTyped<std::int64_t>(counting, counts.data<std::int64_t>(), index.data<std::int64_t>(),
                               one.data<std::int64_t>(), kAdd);
    const auto plan = planStrided<2>(sizesOf(out), {stridesOf(out), stridesOf(counts)});
    T* const y = out.data<T>();
    const auto* const c = counts.data<std::int64_t>();
    const std::int64_t self = includeSelf ? 1 : 0;
    forEachRow(plan, 0, plan.numel,
               [&](const std::array<std::int64_t, 2>& offsets, std::int64_t n) {
                   for (std::int64_t i = 0; i < n; ++i) {
                       const std::int64_t count = c[offsets[1] + i * plan.innerStride(1)] + self;
                       T& place = y[offsets[0] + i * plan.innerStride(0)];
                       if (count > 1) place = share(place, count);
                   }
               });
}

}  // namespace

void scatterInto(std::string_view op, Scatter how, const Tensor& out, int dim, const Tensor& index,
                 const Tensor& source, double value, bool includeSelf) {
    checkIndexRange(op, index, dim, out.dim() == 0 ? 1 : out.sizes()[dim]);
    if (index.numel() == 0 || out.numel() == 0) return;
    const Walk w = walkOf(out, dim, index, source);
    const auto* const at = index.data<std::int64_t>();
    visitDType(out.dtype(), [&]<class T>() {
        T* const o = out.data<T>();
        const T single = static_cast<T>(value);
        const T* const from = source.defined() ? source.data<T>() : &single;
        if (how != Scatter::Assign && !includeSelf) {
            const T start = neutral<T>(how);
            scatterTyped<T>(walkOf(out, dim, index, {}), o, at, &start, kAssign);
        }
        switch (how) {
            case Scatter::Assign:
                scatterTyped<T>(w, o, at, from, kAssign);
                break;
            case Scatter::Sum:
            case Scatter::Mean:
                scatterTyped<T>(w, o, at, from, kAdd);
                break;
            case Scatter::Prod:
                scatterTyped<T>(w, o, at, from, kMultiply);
                break;
            case Scatter::Amax:
                scatterTyped<T>(w, o, at, from, kRaise);
                break;
            case Scatter::Amin:
                scatterTyped<T>(w, o, at, from, kLower);
                break;
        }
        if (how == Scatter::Mean) meanOver<T>(out, dim, index, includeSelf);
    });
}

Tensor apartFrom(const Tensor& x, const Tensor& written) {
    if (!x.defined() || x.storage().get() != written.storage().get()) return x;
    Tensor copy = Tensor::empty(x.sizes(), x.dtype(), MemoryRole::Temporary);
    copyTensor(copy, x);
    return copy;
}

}  // namespace tapescope::engine::cpu
