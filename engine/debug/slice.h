// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tapescope::engine::debug {

/// One entry of a NumPy slice: an index, start:stop:step, or "...".
struct SliceItem {
    enum class Kind : std::uint8_t { Index, Range, Ellipsis };
    Kind kind = Kind::Index;
    std::int64_t index = 0;
    std::optional<std::int64_t> start;
    std::optional<std::int64_t> stop;
    std::int64_t step = 1;
};

/// Parses "0, :, 2:5", "-1", "..., ::2"; "" is no entry. Throws Error naming the entry that is
/// wrong.
std::vector<SliceItem> parseSlice(std::string_view text);

/// The view NumPy's basic indexing gives: an index takes its axis away, a range keeps it (its ends
/// are clipped), axes not named are kept whole. No copy, no operator dispatched; strides may come
/// out negative, so only read it. Throws Error: too many entries, an index out of range.
Tensor applySlice(const Tensor& tensor, std::string_view text);

}  // namespace tapescope::engine::debug
