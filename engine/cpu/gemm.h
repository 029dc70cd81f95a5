// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

namespace tapescope::engine::cpu {

/// out = a x b for 1-d to N-d operands by matmul's rank rules; batches broadcast. float32 runs on
/// oneDNN.
void matmulInto(const Tensor& a, const Tensor& b, const Tensor& out);
/// out [..., n] = input [..., k] x weight [n, k] transposed + bias [n] (or undefined).
void linearInto(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& out);

}  // namespace tapescope::engine::cpu
