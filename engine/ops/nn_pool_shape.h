// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/pool.h"
#include "engine/ops/op_def.h"

namespace tapescope::engine {

/// Where a pooling row keeps its attributes.
struct PoolAttrs {
    int kernel = 0;
    int stride = 1;
    int padding = 2;
    int dilation = -1;  ///< -1: it has none
    int ceilMode = -1;
};

/// Checks input and attributes and works out the output's sizes.
cpu::PoolShape poolShape(std::string_view op, int rank, const Dims& input, const Attrs& attrs,
                         const PoolAttrs& at);
/// The same for an output of given sizes; -1 keeps the input's.
cpu::PoolShape adaptiveShape(std::string_view op, int rank, const Dims& input,
                             const Dims& output_size);
/// Planes of `input`, pooled to grad's sizes, whatever the windows were. Throws unless grad has
/// input's planes.
cpu::PoolShape pooledShape(std::string_view op, int rank, const Dims& input, const Tensor& grad);
/// The output's sizes.
Dims pooledSizes(const Dims& input, const cpu::PoolShape& s);
void checkPooledGrad(std::string_view op, const Tensor& grad, const Dims& input,
                     const cpu::PoolShape& s);

/// One operation for every element that a window covers. kernelAt: the attribute; pooled: the
/// tensor with one element a window.
Cost poolCost(const OpArgs& a, std::span<const Tensor> outputs, int kernelAt, const Tensor& pooled,
              int rank);

}  // namespace tapescope::engine
