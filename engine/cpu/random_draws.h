// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/random_kernels.h"

namespace tapescope::engine::cpu {

// Words of the Generator an element takes, i being its row-major position. "A uniform number" is
// one word for float32 (24 bits) and two for float64 (53 bits), as rand() draws it. Outputs may be
// strided.

/// from + (to - from) u, with one uniform number an element. Attributes: from, to.
void uniform(const OpArgs& args, std::span<Tensor> outputs);
/// mean + std z, z as randn() draws it. Attributes: mean, std.
void normal(const OpArgs& args, std::span<Tensor> outputs);
/// -log(1 - u) / lambd. Attribute: lambd.
void exponential(const OpArgs& args, std::span<Tensor> outputs);
/// 1 where a word (32 bits) is below p. Attribute: p.
void bernoulliOf(const OpArgs& args, std::span<Tensor> outputs);
/// low + floor(w (high - low) / 2^64) with two words w an element.
void randint(std::int64_t low, std::int64_t high, const Tensor& out);
/// Inputs mean and std, z as randn() draws it.
void normalOf(const OpArgs& args, std::span<Tensor> outputs);
/// Four words (two 53-bit numbers u, v) an element: inversion of u, and above a rate of 1e8 the
/// rounded normal number of u and v.
void poisson(const OpArgs& args, std::span<Tensor> outputs);
/// Two words (u) a draw with replacement: inversion; a row's draws follow each other. Without:
/// two words a weight, and the draws are those with the smallest -log(1 - u) / weight, in order.
void multinomial(const Tensor& weights, std::int64_t samples, bool replacement, const Tensor& out);

}  // namespace tapescope::engine::cpu
