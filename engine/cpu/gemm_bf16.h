// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

namespace tapescope::engine::cpu {

/// out = a x b (+ bias, which may be undefined), all bfloat16, by matmul's rank rules; sums are
/// float32 and rounded once. On oneDNN's bfloat16 kernels where the processor has the instructions,
/// else by way of float32. b may be transposed (a weight seen as [in, out]).
void matmulBFloat16(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out);

/// Whether the processor has bfloat16 products (AVX512_BF16).
bool haveBFloat16Products();

}  // namespace tapescope::engine::cpu
