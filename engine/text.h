// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tapescope::engine {

/// At most count of the candidates that a misspelt name may have meant, nearest first (edit
/// distance; a candidate that contains the name counts as near). Empty when nothing is close.
std::vector<std::string> nearestNames(std::string_view name,
                                      std::span<const std::string> candidates, int count = 3);
/// "; did you mean conv2d or conv1d?" or "".
std::string didYouMean(std::string_view name, std::span<const std::string> candidates);

}  // namespace tapescope::engine
