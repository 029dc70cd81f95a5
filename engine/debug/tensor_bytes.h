// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <cstddef>
#include <span>

namespace tapescope::engine::debug {

/// Copies the tensor's bytes [offset, offset + out.size()) as if it lay contiguous in row-major
/// order, and returns how many there were: fewer than asked for at the end. Dispatches no operator.
/// Throws Error for an undefined tensor.
std::size_t copyBytes(const Tensor& tensor, std::size_t offset, std::span<std::byte> out);

}  // namespace tapescope::engine::debug
