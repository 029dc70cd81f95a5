// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"

#include <span>

namespace tapescope::engine::cpu {

// Kernels that order the elements of a dimension. NaN is above every number; of equal elements the
// one that comes first in the input comes first, so that results never depend on threads.
// Attributes: sort (dim, descending), topk (k, dim, largest, sorted), kthvalue (k, dim, keepdim),
// mode (dim, keepdim); median, nanmedian (dim or none, keepdim); max, min (dim or none, keepdim).
void sort(const OpArgs& args, std::span<Tensor> outputs);
void topk(const OpArgs& args, std::span<Tensor> outputs);
void kthvalue(const OpArgs& args, std::span<Tensor> outputs);
void median(const OpArgs& args, std::span<Tensor> outputs);
void nanmedian(const OpArgs& args, std::span<Tensor> outputs);
void mode(const OpArgs& args, std::span<Tensor> outputs);
void largest(const OpArgs& args, std::span<Tensor> outputs);
void smallest(const OpArgs& args, std::span<Tensor> outputs);

}  // namespace tapescope::engine::cpu
