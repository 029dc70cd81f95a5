// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/complex.h"

namespace tapescope::engine {

// complex64 tensors, PyTorch's names. There is no complex128: what would give one throws
// DTypeError. Gradients follow PyTorch's convention: that of a real loss L with respect to z = a +
// bi is dL/da + i dL/db. Arithmetic, sums, views, joins and indexing take complex tensors as they
// are; operators that do not take them say so.

/// From float32 parts, which broadcast.
Tensor complex(const Tensor& real, const Tensor& imag, Site site = {});
/// From a float32 magnitude and an angle in radians, which broadcast.
Tensor polar(const Tensor& abs, const Tensor& angle, Site site = {});
/// A view of the real parts; a real tensor is its own.
Tensor real(const Tensor& x, Site site = {});
/// A view of the imaginary parts. Throws DTypeError for a real tensor.
Tensor imag(const Tensor& x, Site site = {});
/// The conjugates (a new tensor, where PyTorch marks a view); a real tensor is its own.
Tensor conj(const Tensor& x, Site site = {});
/// In radians, from -pi to pi; of a real number 0 or pi.
Tensor angle(const Tensor& x, Site site = {});
/// A view [..., 2] of the parts. Throws DTypeError for a real tensor.
Tensor view_as_real(const Tensor& x, Site site = {});
/// A view of float32 pairs [..., 2], which must lie next to each other at even places in memory.
/// Throws DTypeError, ShapeError.
Tensor view_as_complex(const Tensor& x, Site site = {});
inline bool is_complex(const Tensor& x) { return isComplex(x.dtype()); }

/// A complex number as an operand, as in mul(x, wrappedNumber(std::complex<double>(0, 1))).
Tensor wrappedNumber(std::complex<double> number);

}  // namespace tapescope::engine
