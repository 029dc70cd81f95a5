// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <functional>
#include <span>
#include <vector>

namespace tapescope::engine {

struct CheckpointOptions {
    bool preserve_rng_state = true;  ///< draw the same random numbers when run again
    bool early_stop = true;          ///< end running again once everything backward needs is there
};

/// torch.utils.checkpoint.checkpoint(use_reentrant=False): runs function, keeping its inputs
/// instead of what its operators save; backward runs it again (under the modes forward had) to get
/// those. function must do the same work each time: another number, shape or dtype of saved tensors
/// throws AutogradError naming operator and shapes. Checkpoints nest. What function captures stays
/// alive until the graph goes.
Tensor checkpoint(std::function<Tensor(const Tensor&)> function, const Tensor& input,
                  CheckpointOptions options = {}, Site site = {});
std::vector<Tensor> checkpoint(std::function<std::vector<Tensor>(std::span<const Tensor>)> function,
                               std::span<const Tensor> inputs, CheckpointOptions options = {},
                               Site site = {});

/// torch.utils.checkpoint.checkpoint_sequential: the functions one after another in `segments` runs
/// of equal length, each a checkpoint but the last. Throws Error unless 1 <= segments <= number of
/// functions.
Tensor checkpoint_sequential(std::span<const std::function<Tensor(const Tensor&)>> functions,
                             std::int64_t segments, const Tensor& input,
                             CheckpointOptions options = {}, Site site = {});

/// Thrown through a function that is run again when nothing more is needed of it.
struct RecomputationDone {};

}  // namespace tapescope::engine
