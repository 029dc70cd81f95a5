// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/random.h"

#include <cstdint>
#include <vector>

namespace tapescope::engine::data {

/// 0 … count-1 in random order (Fisher–Yates, without modulo bias): the same on every machine for
/// one generator state. Throws Error from 2^32 on.
std::vector<std::int64_t> shuffledIndices(std::int64_t count, Generator& generator);

}  // namespace tapescope::engine::data
