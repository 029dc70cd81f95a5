// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

namespace tapescope::engine::cpu {

/// out = a x b for 1-d to N-d operands by matmul's rank rules; batches broadcast. float32 runs on
/// oneDNN. accumulate: added to what out holds.
void matmulInto(const Tensor& a, const Tensor& b, const Tensor& out, bool accumulate = false);
/// out [..., n] = input [..., k] x weight [n, k] transposed + bias [n] (or undefined).
void linearInto(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& out);

/// out = beta * input + alpha * (a x b), input broadcast to out; beta 0: input is not read.
void addProductInto(const Tensor& input, const Tensor& a, const Tensor& b, double beta,
                    double alpha, const Tensor& out);
/// The same with the sum of the products of a batch, [b, n, k] x [b, k, m] into [n, m].
void addBatchProductInto(const Tensor& input, const Tensor& a, const Tensor& b, double beta,
                         double alpha, const Tensor& out);
/// out [n, m] = x [n] times y [m], element by element; and added to input.
void outerInto(const Tensor& x, const Tensor& y, const Tensor& out);
void addOuterInto(const Tensor& input, const Tensor& x, const Tensor& y, double beta, double alpha,
                  const Tensor& out);

}  // namespace tapescope::engine::cpu
