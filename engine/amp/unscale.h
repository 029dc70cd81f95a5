// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

namespace tapescope::engine::amp {

/// grad *= inv_scale, in place, and found_inf = 1 if an element of grad was inf or NaN (else it
/// stays). found_inf: 0-d float32. Source: torch._amp_foreach_non_finite_check_and_unscale_.
Tensor check_and_unscale_(const Tensor& grad, const Tensor& found_inf, double inv_scale,
                          Site site = {});

}  // namespace tapescope::engine::amp
