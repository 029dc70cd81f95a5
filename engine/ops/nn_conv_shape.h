// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/conv.h"
#include "engine/ops/op_def.h"

namespace tapescope::engine {

/// Checks sizes and attributes (stride, padding, dilation, groups from `first` on) of a
/// convolution with `rank` spatial dimensions and works out the output's sizes. input may lack the
/// batch.
cpu::ConvShape convShape(std::string_view op, int rank, const Dims& input, const Dims& weight,
                         const Attrs& attrs, int first);
/// The output's sizes for an input of these sizes: without a batch where it has none.
Dims convOutputSizes(const cpu::ConvShape& s, const Dims& input);

/// Multiply-adds of every output element with every tap, padding included.
Cost convCost(const OpArgs& a, std::span<const Tensor> outputs, double outputElements,
              const Dims& weight);

}  // namespace tapescope::engine
