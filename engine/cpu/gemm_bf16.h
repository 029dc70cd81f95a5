// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <cstdint>

namespace tapescope::engine::cpu {

/// Where bfloat16 products are calculated: by oneDNN's bfloat16 kernels, or by the float32 ones on
/// converted operands. Both add in float32 and round once.
enum class BFloat16Path : std::uint8_t { Fastest, OneDnn, Float32 };

/// out = a x b (+ bias, which may be undefined), all bfloat16, by matmul's rank rules. b may be
/// transposed (a weight seen as [in, out]). OneDnn is only taken where the processor has the
/// instructions (AVX512_BF16) and the operands have at least two dimensions.
void matmulBFloat16(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out,
                    BFloat16Path path = BFloat16Path::Fastest);

}  // namespace tapescope::engine::cpu
