// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"

#include <functional>
#include <span>
#include <vector>

namespace tapescope::engine {

/// An operator's outputs computed from its inputs by other operators that have gradients.
using Composition = std::function<std::vector<Tensor>(std::span<const Tensor> inputs)>;

/// Gradients of an operator through an equivalent composition: for rows whose own backward kernel
/// has no gradient (second order), or needs none. The row must save its inputs. Outputs that the
/// composition leaves undefined, or beyond its end, carry no gradient.
void vjpByComposition(const VjpArgs& v, std::span<Tensor> grads, const Composition& composition);

}  // namespace tapescope::engine
