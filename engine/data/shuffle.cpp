// SPDX-License-Identifier: Apache-2.0
#include "engine/data/shuffle.h"

#include "engine/errors.h"

#include <numeric>
#include <utility>

namespace tapescope::engine::data {
namespace {

/// Uniform in [0, bound): the upper half of a 32×32-bit product, redrawn in the part that would
/// favour some values (Lemire, ACM TOMACS 2019).
std::uint32_t below(std::uint32_t bound, Generator& generator) {
    const std::uint32_t threshold = (0U - bound) % bound;
    for (;;) {
        const std::uint64_t product = std::uint64_t{generator.next32()} * bound;
        if (static_cast<std::uint32_t>(product) >= threshold)
            return static_cast<std::uint32_t>(product >> 32U);
    }
}

}  // namespace

std::vector<std::int64_t> shuffledIndices(std::int64_t count, Generator& generator) {
    if (count >= std::int64_t{1} << 32U)
        throw Error("shuffle: more than 2^32 samples; use a part of the data");
    std::vector<std::int64_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size(); i > 1; --i) {
        std::swap(order[i - 1], order[below(static_cast<std::uint32_t>(i), generator)]);
    }
    return order;
}

}  // namespace tapescope::engine::data
