// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

namespace tapescope::engine::cpu {

/// x seen with sizes, to which it broadcasts; not a copy.
Tensor broadcastView(const Tensor& x, const Dims& sizes);
/// The places of what is not 0 in row-major order: [n, rank], int64, freshly allocated.
Tensor nonzeroOf(const Tensor& x);
/// The elements of x under mask (bool), both broadcast to sizes; freshly allocated.
Tensor maskedSelect(const Tensor& x, const Tensor& mask, const Dims& sizes);
/// out, of mask's sizes once broadcast, takes source's elements one after another where mask is
/// true. Throws ShapeError if they are too few; nothing is written then.
void maskedScatterInto(const Tensor& out, const Tensor& mask, const Tensor& source);
/// out[i] = x's element number index[i], row-major, negative ones from the end. Throws IndexError.
void takeInto(const Tensor& x, const Tensor& index, const Tensor& out);
/// The reverse: out's element number index[i] becomes, or grows by, source[i].
void putInto(const Tensor& out, const Tensor& index, const Tensor& source, bool accumulate);

}  // namespace tapescope::engine::cpu
