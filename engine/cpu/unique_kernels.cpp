// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/unique_kernels.h"

#include "engine/cpu/copy.h"
#include "engine/cpu/dense.h"
#include "engine/cpu/sort_items.h"
#include "engine/ops/checks.h"
#include "engine/tensor/tensor_impl.h"

#include <numeric>
#include <vector>

namespace tapescope::engine::cpu {
namespace {

/// The input as `count` slices of `length` elements, one after another.
struct Slices {
    Tensor data;
    std::int64_t count = 0;
    std::int64_t length = 1;
};
Slices slicesOf(const Tensor& x, const AttrValue& dimAttr) {
    if (dimAttr.index() == 0 || x.dim() == 0) return {dense(x), x.numel(), 1};
    const int dim = wrapDim("unique", std::get<std::int64_t>(dimAttr), x.dim());
    Dims sizes = x.sizes();
    Dims strides = x.strides();
    const std::int64_t count = sizes[dim];
    sizes.erase(dim);
    const std::int64_t stride = strides[dim];
    strides.erase(dim);
    sizes.insert(0, count);
    strides.insert(0, stride);
    const std::int64_t length = count == 0 ? 0 : x.numel() / count;
    return {dense(makeView(x, sizes, strides, x.storage_offset())), count, length};
}

/// Groups of equal slices: where each slice of `order` belongs, and the first slice of each group.
struct Groups {
    std::vector<std::int64_t> first;    ///< group -> position in order
    std::vector<std::int64_t> groupOf;  ///< slice -> group
};
template <class T>
Groups group(const Slices& s, const std::vector<std::int64_t>& order) {
    const T* const data = s.data.data<T>();
    Groups g;
    g.groupOf.resize(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        const T* const now = data + order[i] * s.length;
        const bool same = i > 0 && std::equal(now, now + s.length, data + order[i - 1] * s.length);
        if (!same) g.first.push_back(static_cast<std::int64_t>(i));
        g.groupOf[static_cast<std::size_t>(order[i])] =
            static_cast<std::int64_t>(g.first.size()) - 1;
    }
    return g;
}

template <class T>
std::vector<std::int64_t> sortedOrder(const Slices& s) {
    const T* const data = s.data.data<T>();
    std::vector<std::int64_t> order(static_cast<std::size_t>(s.count));
    if (s.length == 1) {
        const auto items = roomFor<T>(s.count);
        const auto spare = roomFor<T>(s.count);
        loadItems(data, 1, s.count, items.get());
        const Item<T>* sorted = sortItems(items.get(), spare.get(), s.count, Before<false, T>{});
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = sorted[i].index;
        return order;
    }
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        const T* const x = data + a * s.length;
        const T* const y = data + b * s.length;
        return std::lexicographical_compare(x, x + s.length, y, y + s.length, lessWithNan<T>);
    });
    return order;
}

/// Sizes of a tensor of `count` of x's slices.
Dims groupSizes(const Tensor& x, const AttrValue& dimAttr, std::int64_t count) {
    if (dimAttr.index() == 0 || x.dim() == 0) return {count};
    Dims sizes = x.sizes();
    sizes[wrapDim("unique", std::get<std::int64_t>(dimAttr), x.dim())] = count;
    return sizes;
}

void uniqueOf(const Tensor& x, bool sorted, bool inverse, bool counts, const AttrValue& dimAttr,
              std::span<Tensor> outputs) {
    const Slices s = slicesOf(x, dimAttr);
    visitDType(x.dtype(), [&]<class T>() {
        std::vector<std::int64_t> order(static_cast<std::size_t>(s.count));
        if (sorted)
            order = sortedOrder<T>(s);
        else
            std::iota(order.begin(), order.end(), 0);
        const Groups groups = group<T>(s, order);
        const auto count = static_cast<std::int64_t>(groups.first.size());
        outputs[0] = Tensor::empty(groupSizes(x, dimAttr, count), x.dtype());

        // Slices go to the front, then to their dimension.
        const bool flat = dimAttr.index() == 0 || x.dim() == 0;
        const int dim = flat ? 0 : wrapDim("unique", std::get<std::int64_t>(dimAttr), x.dim());
        Dims front = outputs[0].sizes();
        Dims strides = outputs[0].strides();
        const std::int64_t step = strides[dim];
        front.erase(dim);
        strides.erase(dim);
        const T* const data = s.data.data<T>();
        const Tensor& out = outputs[0];
        for (std::int64_t g = 0; g < count; ++g) {
            const auto slice =
                order[static_cast<std::size_t>(groups.first[static_cast<std::size_t>(g)])];
            if (flat) {
                out.data<T>()[g] = data[slice];
            } else if (s.length > 0) {
                copyTensor(makeView(out, front, strides, out.storage_offset() + g * step),
                           makeView(s.data, front, contiguousStrides(front),
                                    s.data.storage_offset() + slice * s.length));
            }
        }
        std::size_t next = 1;
        if (inverse) {
            const Dims sizes = flat && dimAttr.index() == 0 ? x.sizes() : Dims{s.count};
            outputs[next] = Tensor::empty(sizes, DType::I64);
            std::copy(groups.groupOf.begin(), groups.groupOf.end(),
                      outputs[next].data<std::int64_t>());
            ++next;
        }
        if (counts) {
            outputs[next] = Tensor::empty({count}, DType::I64);
            auto* const into = outputs[next].data<std::int64_t>();
            for (std::int64_t g = 0; g < count; ++g) {
                const auto at = static_cast<std::size_t>(g);
                into[g] = (g + 1 < count ? groups.first[at + 1] : s.count) - groups.first[at];
            }
        }
    });
}

/// The first position in [0, n) whose element is not below value (right: is above it); NaN is above
/// every number.
template <class T, class At>
std::int64_t place(std::int64_t n, T value, bool right, const At& at) {
    std::int64_t low = 0;
    std::int64_t high = n;
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        const T element = at(middle);
        if (right ? !(element > value) : !(element >= value))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

}  // namespace

void unique(const OpArgs& args, std::span<Tensor> outputs) {
    const Attrs& a = args.attrs;
    uniqueOf(args[0], true, a.flag(1), a.flag(2), a[3], outputs);
}
void uniqueConsecutive(const OpArgs& args, std::span<Tensor> outputs) {
    const Attrs& a = args.attrs;
    uniqueOf(args[0], false, a.flag(0), a.flag(1), a[2], outputs);
}

void searchsorted(const OpArgs& args, std::span<Tensor> outputs) {
    const DType common = promoteTypes(args[0].dtype(), args[1].dtype());
    const auto inCommon = [&](const Tensor& t) {
        return t.dtype() == common ? dense(t) : converted(t, common);
    };
    const Tensor sequence = inCommon(args[0]);
    const Tensor values = inCommon(args[1]);
    const Tensor sorter = args.has(2) ? dense(args[2]) : Tensor();
    const bool right = args.attrs.flag(0);
    const std::int64_t n = sequence.size(-1);
    const std::int64_t perLine = sequence.dim() == 1 ? values.numel() : values.size(-1);
    auto* const out = outputs[0].data<std::int64_t>();
    const auto* const by = dataOrNull<std::int64_t>(sorter);
    if (by) {
        for (std::int64_t i = 0; i < sorter.numel(); ++i) {
            if (by[i] < 0 || by[i] >= n)
                throw IndexError(
                    message("searchsorted: sorter has ", by[i], " for a sequence of size ", n));
        }
    }
    visitDType(sequence.dtype(), [&]<class T>() {
        const T* const from = sequence.data<T>();
        const T* const what = values.data<T>();
        parallelFor(values.numel(), kGrain / 16, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                const std::int64_t base = i / perLine * n;
                out[i] = place<T>(n, what[i], right, [&](std::int64_t k) {
                    return from[base + (by ? by[base + k] : k)];
                });
            }
        });
    });
}

}  // namespace tapescope::engine::cpu
