// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"

#include <cstdint>
#include <span>

namespace tapescope::engine::cpu {

// All from the Context's Generator. Values are the same on every machine: the arithmetic uses only
// operations that IEEE 754 rounds exactly. Words per element: one for float32 and bernoulli, two
// for float64.

/// [0, 1): the upper 24 (float64: 53) bits.
void rand(const OpArgs& args, std::span<Tensor> outputs);
/// Box and Muller: elements 2k and 2k+1 are r cos(t) and r sin(t) of uniform numbers 2k and 2k+1.
void randn(const OpArgs& args, std::span<Tensor> outputs);
/// Fisher and Yates, one word a step; the bias is below n / 2^32.
void randperm(const OpArgs& args, std::span<Tensor> outputs);
/// 1 where the element's uniform number (32 bits) is below the probability. Throws Error outside
/// [0, 1].
void bernoulli(const OpArgs& args, std::span<Tensor> outputs);

inline constexpr std::int64_t kMaxRandperm = std::int64_t{1} << 31;

}  // namespace tapescope::engine::cpu
