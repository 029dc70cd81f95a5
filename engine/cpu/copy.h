// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/isa/loops.h"
#include "engine/tensor/tensor.h"

namespace tapescope::engine::cpu {

/// out = source, broadcast to out's sizes and converted to its dtype as PyTorch converts (float to
/// int64 truncates, NaN and out-of-range values give INT64_MIN; narrower integers go by way of
/// int32 and wrap; anything but 0 is true; 16-bit floats are rounded from float32, ties to even).
/// Both may be strided; they must not overlap. A complex number becomes its real part (true unless
/// 0 as bool), a real one gets the imaginary part 0.
void copyTensor(const Tensor& out, const Tensor& source);
/// A contiguous copy of source as dtype.
Tensor converted(const Tensor& source, DType dtype);
/// Converts a row of elements.
UnaryLoop convertLoop(DType to, DType from);

}  // namespace tapescope::engine::cpu
