// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

namespace tapescope::engine::cpu {

// Transforms along dimensions of float32 and complex64 tensors of any strides; out is contiguous.
// Every result is multiplied by scale. At least one dimension; none may come twice. Throws
// OutOfMemoryError.

/// Complex to complex, the same sizes; out may be x itself.
void fftComplex(const Tensor& x, const Dims& dims, bool forward, double scale, const Tensor& out);
/// Real to complex, forward: along the last of dims out has half of x's size plus 1, or all of it.
void fftFromReal(const Tensor& x, const Dims& dims, double scale, const Tensor& out);
/// Complex to real, backward: out's size n along the last of dims says which half is given, n / 2 +
/// 1 numbers of x. The imaginary parts of the first and, for even n, the last do not count.
void fftToReal(const Tensor& x, const Dims& dims, double scale, const Tensor& out);

}  // namespace tapescope::engine::cpu
