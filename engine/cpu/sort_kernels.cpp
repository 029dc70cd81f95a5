// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/sort_kernels.h"

#include "engine/cpu/copy.h"
#include "engine/cpu/reduce_kernels.h"
#include "engine/cpu/sort_items.h"
#include "engine/ops/checks.h"
#include "engine/tensor/tensor_impl.h"

#include <limits>

namespace tapescope::engine::cpu {
namespace {

/// Cost of an element of a sort against one of a simple loop.
constexpr std::int64_t kSortCost = 32;

/// fn.template operator()<descending>() for a flag of run time.
template <class Fn>
void withFlag(bool flag, const Fn& fn) {
    if (flag) {
        fn.template operator()<true>();
    } else {
        fn.template operator()<false>();
    }
}

int dimAttr(const OpArgs& args, int at) {
    return wrapDim("sort", args.attrs.integer(at), args[0].dim());
}

template <bool descending, class T>
void sortTyped(const Tensor& x, int dim, std::span<Tensor> outputs) {
    const Lines from(x, dim);
    const Lines to(outputs[0], dim);
    const std::int64_t n = from.length();
    const bool longLines = n > kGrain;
    const auto room = roomFor<T>(x.numel());
    const auto spare = roomFor<T>(longLines ? x.numel() : 0);
    const T* const source = x.data<T>();
    T* const values = outputs[0].data<T>();
    auto* const indices = outputs[1].data<std::int64_t>();
    const auto line = [&](std::int64_t i) {
        Item<T>* items = room.get() + i * n;
        loadItems(source + from.offset(i), from.stride(), n, items);
        items =
            sortLine(items, longLines ? spare.get() + i * n : nullptr, n, Before<descending, T>{});
        const std::int64_t at = to.offset(i);
        const std::int64_t step = to.stride();
        for (std::int64_t k = 0; k < n; ++k) {
            values[at + k * step] = items[k].value;
            indices[at + k * step] = items[k].index;
        }
    };
    if (longLines) {  // one after another, each on all threads
        for (std::int64_t i = 0; i < from.count(); ++i) line(i);
    } else {
        from.forEach(kSortCost, line);
    }
}

constexpr std::int64_t kFewOf = 16;

/// items: the first k of x, k > 0; afterwards the k that come first in order, as a heap.
template <class T, class Before>
void keepFirst(const T* x, std::int64_t stride, std::int64_t n, Item<T>* items, std::int64_t k,
               const Before& before) {
    std::make_heap(items, items + k, before);
    for (std::int64_t j = k; j < n; ++j) {
        const Item<T> next{x[j * stride], j};
        if (!before(next, items[0])) continue;
        std::pop_heap(items, items + k, before);
        items[k - 1] = next;
        std::push_heap(items, items + k, before);
    }
}

template <bool descending, class T>
void topkTyped(const Tensor& x, int dim, std::int64_t k, std::span<Tensor> outputs) {
    const Lines from(x, dim);
    const Lines to(outputs[0], dim);
    const std::int64_t n = from.length();
    // A few are kept while the rest passes by; many are told apart together.
    const bool few = k <= n / kFewOf;
    const std::int64_t held = few ? k : n;
    const auto room = roomFor<T>(from.count() * held);
    const T* const source = x.data<T>();
    T* const values = outputs[0].data<T>();
    auto* const indices = outputs[1].data<std::int64_t>();
    from.forEach(few ? 2 : 8, [&](std::int64_t i) {
        Item<T>* const items = room.get() + i * held;
        const T* const line = source + from.offset(i);
        const Before<descending, T> before;
        loadItems(line, from.stride(), held, items);
        if (few) {
            keepFirst(line, from.stride(), n, items, k, before);
        } else if (k < n) {
            std::nth_element(items, items + k, items + n, before);
        }
        std::sort(items, items + k, before);
        const std::int64_t at = to.offset(i);
        const std::int64_t step = to.stride();
        for (std::int64_t j = 0; j < k; ++j) {
            values[at + j * step] = items[j].value;
            indices[at + j * step] = items[j].index;
        }
    });
}

/// outputs: value and, if there are two, place of the element that pick(items, n) leaves at the
/// position it returns, for every line.
template <class T, class Pick>
void pickFrom(const Tensor& x, int dim, std::span<Tensor> outputs, std::int64_t cost,
              const Pick& pick) {
    const Lines from(x, dim);
    const std::int64_t n = from.length();
    const auto room = roomFor<T>(x.numel());
    const T* const source = x.data<T>();
    T* const values = outputs[0].data<T>();
    auto* const indices = outputs.size() > 1 ? outputs[1].data<std::int64_t>() : nullptr;
    from.forEach(cost, [&](std::int64_t i) {
        Item<T>* const items = room.get() + i * n;
        loadItems(source + from.offset(i), from.stride(), n, items);
        const Item<T>& item = items[pick(items, n)];
        values[i] = item.value;
        if (indices) indices[i] = item.index;
    });
}

template <class T>
std::int64_t pickKth(Item<T>* items, std::int64_t n, std::int64_t k) {
    std::nth_element(items, items + k, items + n, Before<false, T>{});
    return k;
}

/// The lower of the two in the middle; NaN if there is one, unless they are to be ignored.
template <bool ignoreNan, class T>
std::int64_t pickMedian(Item<T>* items, std::int64_t n) {
    const std::int64_t numbers =
        std::count_if(items, items + n, [](const Item<T>& item) { return !isNan(item.value); });
    if (numbers < n && (!ignoreNan || numbers == 0)) {
        return std::find_if(items, items + n,
                            [](const Item<T>& item) { return isNan(item.value); }) -
               items;
    }
    return pickKth(items, n, (numbers - 1) / 2);  // NaN would be behind all numbers
}

/// The smallest of the most frequent values, where it comes last.
template <class T>
std::int64_t pickMode(Item<T>* items, std::int64_t n) {
    std::sort(items, items + n, Before<false, T>{});
    std::int64_t best = 0;
    std::int64_t most = 0;
    for (std::int64_t begin = 0; begin < n;) {
        std::int64_t end = begin + 1;
        while (end < n && items[end].value == items[begin].value) ++end;
        if (end - begin > most) {
            most = end - begin;
            best = end - 1;
        }
        begin = end;
    }
    return best;
}

/// x as it is for a dimension, flat without one.
Tensor flatUnlessDim(const OpArgs& args) {
    if (args.attrs.has(0)) return args[0];
    Tensor flat = Tensor::empty({args[0].numel()}, args[0].dtype(), MemoryRole::Temporary);
    copyTensor(makeView(flat, args[0].sizes(), contiguousStrides(args[0].sizes()), 0), args[0]);
    return flat;
}
int dimOrFirst(const OpArgs& args) { return args.attrs.has(0) ? dimAttr(args, 0) : 0; }

template <bool ignoreNan>
void medianOf(const OpArgs& args, std::span<Tensor> outputs) {
    const Tensor x = flatUnlessDim(args);
    visitDType(x.dtype(), [&]<class T>() {
        if (x.numel() == 0) {  // of nothing: NaN, as the shape rule lets only floating ones through
            for (std::int64_t i = 0; i < outputs[0].numel(); ++i)
                outputs[0].data<T>()[i] = static_cast<T>(std::numeric_limits<T>::quiet_NaN());
            return;
        }
        pickFrom<T>(x, dimOrFirst(args), outputs, 8, pickMedian<ignoreNan, T>);
    });
}

/// The first of the extreme elements; NaN is more extreme than any number.
template <bool largest>
void extreme(const OpArgs& args, std::span<Tensor> outputs) {
    const Tensor& x = args[0];
    const Lines from(x, dimAttr(args, 0));
    const std::int64_t n = from.length();
    const std::int64_t step = from.stride();
    visitDType(x.dtype(), [&]<class T>() {
        const T* const source = x.data<T>();
        T* const values = outputs[0].data<T>();
        auto* const indices = outputs[1].data<std::int64_t>();
        from.forEach(1, [&](std::int64_t i) {
            const T* const line = source + from.offset(i);
            std::int64_t best = 0;
            T value = line[0];
            for (std::int64_t k = 1; k < n && !isNan(value); ++k) {
                const T candidate = line[k * step];
                if ((largest ? candidate > value : candidate < value) || isNan(candidate)) {
                    value = candidate;
                    best = k;
                }
            }
            values[i] = value;
            indices[i] = best;
        });
    });
}

}  // namespace

void sort(const OpArgs& args, std::span<Tensor> outputs) {
    const Tensor& x = args[0];
    if (x.numel() == 0) return;
    const int dim = dimAttr(args, 0);
    visitDType(x.dtype(), [&]<class T>() {
        withFlag(args.attrs.flag(1),
                 [&]<bool descending>() { sortTyped<descending, T>(x, dim, outputs); });
    });
}

void topk(const OpArgs& args, std::span<Tensor> outputs) {
    const Tensor& x = args[0];
    if (outputs[0].numel() == 0) return;
    const int dim = dimAttr(args, 1);
    // A 0-d tensor gives itself, also where none is asked for.
    const std::int64_t k = x.dim() == 0 ? 1 : args.attrs.integer(0);
    visitDType(x.dtype(), [&]<class T>() {
        withFlag(args.attrs.flag(2),
                 [&]<bool largest>() { topkTyped<largest, T>(x, dim, k, outputs); });
    });
}

void kthvalue(const OpArgs& args, std::span<Tensor> outputs) {
    if (outputs[0].numel() == 0) return;
    const std::int64_t k = args.attrs.integer(0) - 1;
    visitDType(args[0].dtype(), [&]<class T>() {
        pickFrom<T>(args[0], dimAttr(args, 1), outputs, 8,
                    [k](Item<T>* items, std::int64_t n) { return pickKth(items, n, k); });
    });
}

void median(const OpArgs& args, std::span<Tensor> outputs) { medianOf<false>(args, outputs); }
void nanmedian(const OpArgs& args, std::span<Tensor> outputs) { medianOf<true>(args, outputs); }

void mode(const OpArgs& args, std::span<Tensor> outputs) {
    if (outputs[0].numel() == 0) return;
    visitDType(args[0].dtype(), [&]<class T>() {
        pickFrom<T>(args[0], dimAttr(args, 0), outputs, kSortCost, pickMode<T>);
    });
}

void largest(const OpArgs& args, std::span<Tensor> outputs) {
    if (outputs[0].numel() == 0) return;
    if (args.attrs.has(0)) return extreme<true>(args, outputs);
    amax({args.inputs, Attrs{Dims{}, false}}, outputs);
}
void smallest(const OpArgs& args, std::span<Tensor> outputs) {
    if (outputs[0].numel() == 0) return;
    if (args.attrs.has(0)) return extreme<false>(args, outputs);
    amin({args.inputs, Attrs{Dims{}, false}}, outputs);
}

}  // namespace tapescope::engine::cpu
