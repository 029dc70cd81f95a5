// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/autograd/checkpoint.h"

namespace tapescope::engine::nn {

class Module;

/// torch.utils.checkpoint.checkpoint_sequential of a container: its children one after another in
/// `segments` runs, each a checkpoint but the last. Throws Error unless 1 <= segments <= children.
Tensor checkpoint_sequential(const Module& sequence, std::int64_t segments, const Tensor& input,
                             CheckpointOptions options = {}, Site site = {});

}  // namespace tapescope::engine::nn
