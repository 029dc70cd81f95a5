// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

// Whole sequences of one recurrent layer and direction, time first. gates: what the input gives to
// every gate at every time [T, B, k * H]; reverse: from the last time to the first.
namespace tapescope::engine::cpu {

/// output [T, B, H]: h = tanh or relu(gates + h w^T).
void rnnLayerInto(const Tensor& gates, const Tensor& h0, const Tensor& weight, bool relu,
                  bool reverse, const Tensor& output);
void rnnLayerBackwardInto(const Tensor& grad, const Tensor& output, const Tensor& weight, bool relu,
                          bool reverse, const Tensor& dgates, const Tensor& dh0);

/// cells [T, B, H]; kept [T, B, 4H]: the gates i, f, g, o after their activations.
void lstmLayerInto(const Tensor& gates, const Tensor& h0, const Tensor& c0, const Tensor& weight,
                   bool reverse, const Tensor& output, const Tensor& cells, const Tensor& kept);
/// gradOutput and gradCells may be undefined.
void lstmLayerBackwardInto(const Tensor& gradOutput, const Tensor& gradCells, const Tensor& kept,
                           const Tensor& cells, const Tensor& c0, const Tensor& weight,
                           bool reverse, const Tensor& dgates, const Tensor& dh0,
                           const Tensor& dc0);

/// kept [T, B, 4H]: r, z, n, and the state's share of n. bias (the state's, may be undefined) [3H].
void gruLayerInto(const Tensor& gates, const Tensor& h0, const Tensor& weight, const Tensor& bias,
                  bool reverse, const Tensor& output, const Tensor& kept);
/// dgates, dhidden [T, B, 3H]: of the input's and the state's share of the gates.
void gruLayerBackwardInto(const Tensor& grad, const Tensor& kept, const Tensor& output,
                          const Tensor& h0, const Tensor& weight, bool reverse,
                          const Tensor& dgates, const Tensor& dhidden, const Tensor& dh0);

}  // namespace tapescope::engine::cpu
