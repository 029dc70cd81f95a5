// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <complex>
#include <string>

namespace tapescope::engine {

/// The element of a complex64 tensor.
using Complex64 = std::complex<float>;
template <>
struct DTypeOf<Complex64> {
    static constexpr DType value = DType::C64;
};

/// "1+2j", "-0.5-1e-05j": the shortest digits that read back as the same number.
std::string complexText(Complex64 number);

/// x, complex, over the same memory as pairs: float32 [..., 2]. No operator call: for kernels and
/// inspection. Throws Error where x has kMaxRank dimensions already.
Tensor realPairs(const Tensor& x);
/// The real (part 0) or imaginary (part 1) halves of a complex tensor over the same memory.
Tensor complexPart(const Tensor& x, int part);

}  // namespace tapescope::engine
