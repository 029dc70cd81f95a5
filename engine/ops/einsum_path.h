// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tapescope::engine {

/// A set of index labels, one bit each.
using LabelSet = std::uint64_t;

/// Positions in the list of operands: both are taken out and their product is put at the end.
using ContractionPair = std::pair<std::size_t, std::size_t>;

/// In which order to contract operands with these labels to `output`: the fewest multiplications up
/// to 6 operands (every order is weighed), beyond that the pair with the smallest growth each time.
/// sizes[l]: of label l.
std::vector<ContractionPair> contractionPath(std::span<const LabelSet> operands, LabelSet output,
                                             std::span<const std::int64_t> sizes);

}  // namespace tapescope::engine
