// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/nn_conv.h"
#include "engine/ops/nn_embedding.h"
#include "engine/ops/nn_loss.h"
#include "engine/ops/nn_norm.h"
#include "engine/ops/nn_pool.h"
#include "engine/ops/nn_vision.h"
#include "engine/tensor/tensor.h"

#include <tuple>
#include <utility>

namespace tapescope::engine {

/// PyTorch's rank rules: 1-d · 1-d, matrix · vector, batches with broadcasting.
Tensor matmul(const Tensor& a, const Tensor& b, Site site = {});
Tensor mm(const Tensor& a, const Tensor& b, Site site = {});   ///< [n,k] x [k,m]
Tensor bmm(const Tensor& a, const Tensor& b, Site site = {});  ///< [b,n,k] x [b,k,m]
/// input [..., in], weight [out, in], bias [out] or undefined.
Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {}, Site site = {});

Tensor softmax(const Tensor& x, std::int64_t dim, Site site = {});
Tensor log_softmax(const Tensor& x, std::int64_t dim, Site site = {});
/// Converted first, so that a narrow or integral x does not overflow.
Tensor softmax(const Tensor& x, std::int64_t dim, DType dtype, Site site = {});
Tensor log_softmax(const Tensor& x, std::int64_t dim, DType dtype, Site site = {});
/// softmax(-x)
Tensor softmin(const Tensor& x, std::int64_t dim, Site site = {});
/// A draw from the distribution of logits along dim that gradients flow through (Jang et al. 2017);
/// hard: one-hot in value.
Tensor gumbel_softmax(const Tensor& logits, double tau = 1, bool hard = false,
                      std::int64_t dim = -1, Site site = {});
/// Scales the kept elements by 1/(1-p). x itself unless training.
Tensor dropout(const Tensor& x, double p, bool training, Site site = {});

}  // namespace tapescope::engine
