// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

namespace tapescope::engine::cpu {

/// out = source, broadcast to out's sizes and converted to its dtype as PyTorch converts (float to
/// int64 truncates, NaN and out-of-range values give INT64_MIN; anything but 0 is true). Both may
/// be strided; they must not overlap.
void copyTensor(const Tensor& out, const Tensor& source);

}  // namespace tapescope::engine::cpu
