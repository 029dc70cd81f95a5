// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"

#include <span>

namespace tapescope::engine::cpu {

// Kernels whose outputs are as large as the data say: they allocate them.
// unique: attributes sorted, return_inverse, return_counts, dim or none; unique_consecutive:
// return_inverse, return_counts, dim or none. Outputs: values[, inverse][, counts].
void unique(const OpArgs& args, std::span<Tensor> outputs);
void uniqueConsecutive(const OpArgs& args, std::span<Tensor> outputs);

/// Inputs: sequence, values, sorter or none; attribute right.
void searchsorted(const OpArgs& args, std::span<Tensor> outputs);

}  // namespace tapescope::engine::cpu
