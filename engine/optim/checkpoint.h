// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/optim/optimizer.h"

#include <string>

namespace tapescope::engine::optim {

/// An optimiser's state as a safetensors file: tensors by their names, numbers in its metadata,
/// exact to the last bit. load throws DataError for a file that is not one, Error for one of
/// another optimiser or model.
void save_optimizer(const Optimizer& optimizer, const std::string& path);
void load_optimizer(Optimizer& optimizer, const std::string& path);

}  // namespace tapescope::engine::optim
