// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <span>
#include <vector>

namespace tapescope::engine {

/// torch.autograd.backward: accumulates into leaves' grad. gradients[i] may be undefined for
/// 1-element roots. Throws AutogradError (no graph, freed graph, wrong gradient shape) or
/// InPlaceError, before any leaf is touched by the failing node.
void backward(std::span<const Tensor> roots, std::span<const Tensor> gradients = {},
              bool retain_graph = false, bool create_graph = false, Site site = {});

/// torch.autograd.grad: gradients of the outputs' sum with respect to inputs, without touching
/// .grad. Throws AutogradError if an input is not used, unless allow_unused (then undefined).
std::vector<Tensor> grad(std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                         std::span<const Tensor> grad_outputs = {}, bool retain_graph = false,
                         bool create_graph = false, bool allow_unused = false, Site site = {});

}  // namespace tapescope::engine
