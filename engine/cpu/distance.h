// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

namespace tapescope::engine::cpu {

/// out [..., p, r] = the p-norm distance of rows of x1 [..., p, m] and x2 [..., r, m].
void cdistInto(const Tensor& x1, const Tensor& x2, double p, const Tensor& out);

}  // namespace tapescope::engine::cpu
