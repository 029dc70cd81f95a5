// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/debug/debugger.h"

#include <string>

namespace tapescope::app {

/// The tensor an expression names: a tensor of the frame ("input", "output", "grad_output"), or a
/// parameter or buffer of the model by its full name, each with ".grad" for its gradient, then a
/// NumPy slice in brackets, or several: "input[0, :, 2:5]". root may be null. Throws RequestError
/// with the nearest names, or engine::Error from a wrong slice.
engine::Tensor evaluateTensor(const std::string& expression, const engine::debug::Frame& frame,
                              const engine::nn::Module* root);

}  // namespace tapescope::app
