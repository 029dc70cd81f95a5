// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

namespace tapescope::engine::cpu {

/// out, contiguous, becomes all zero bytes.
void fillZero(const Tensor& out);
/// out = x with the order of the elements reversed along dims (not negative).
void flipInto(const Tensor& x, const Dims& dims, const Tensor& out);
/// out = x with `value` around it; padding as pad()'s, negative numbers cut off.
void padInto(const Tensor& x, const Dims& padding, double value, const Tensor& out);

}  // namespace tapescope::engine::cpu
