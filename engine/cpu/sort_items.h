// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/lines.h"

#include <algorithm>
#include <cstdint>
#include <memory>

namespace tapescope::engine::cpu {

/// An element with its place in the line. Ordered by value and then place, which makes every order
/// total: any sorting algorithm is stable.
template <class T>
struct Item {
    T value;
    std::int64_t index;
};

template <bool descending, class T>
struct Before {
    bool operator()(const Item<T>& a, const Item<T>& b) const {
        const T& low = descending ? b.value : a.value;
        const T& high = descending ? a.value : b.value;
        if (lessWithNan(low, high)) return true;
        if (lessWithNan(high, low)) return false;
        return a.index < b.index;
    }
};

template <class T>
void loadItems(const T* from, std::int64_t stride, std::int64_t n, Item<T>* items) {
    for (std::int64_t i = 0; i < n; ++i) items[i] = {from[i * stride], i};
}

/// Uninitialised room for n items.
template <class T>
std::unique_ptr<Item<T>[]> roomFor(std::int64_t n) {
    return std::make_unique_for_overwrite<Item<T>[]>(static_cast<std::size_t>(n));
}

/// == std::sort(items, items + n, less), in parallel for a long line: pieces, then merges of
/// neighbours, back and forth between items and spare. Returns which of the two holds the result.
template <class T, class Less>
Item<T>* sortItems(Item<T>* items, Item<T>* spare, std::int64_t n, const Less& less) {
    constexpr std::int64_t kPiece = kGrain;
    parallelFor(n, kPiece, [&](std::int64_t begin, std::int64_t end) {
        std::sort(items + begin, items + end, less);
    });
    for (std::int64_t width = kPiece; width < n; width *= 2) {
        parallelFor(n, 2 * width, [&](std::int64_t begin, std::int64_t end) {
            const std::int64_t middle = std::min(begin + width, end);
            std::merge(items + begin, items + middle, items + middle, items + end, spare + begin,
                       less);
        });
        std::swap(items, spare);
    }
    return items;
}

/// Sorts a line of its own, or a share of a parallel region's.
template <class T, class Less>
Item<T>* sortLine(Item<T>* items, Item<T>* spare, std::int64_t n, const Less& less) {
    if (n > kGrain) return sortItems(items, spare, n, less);
    std::sort(items, items + n, less);
    return items;
}

}  // namespace tapescope::engine::cpu
