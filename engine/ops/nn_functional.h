// SPDX-License-Identifier: Apache-2.0
#pragma once

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

struct Conv2dParams {
    Dims stride{1, 1};
    Dims padding{0, 0};
    Dims dilation{1, 1};
    std::int64_t groups = 1;
};
/// input [N, C, H, W], weight [O, C/groups, kH, kW], bias [O] or undefined.
Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias = {},
              const Conv2dParams& params = {}, Site site = {});
/// The adjoints, operators of their own so that second order works. input_sizes: of conv2d's input.
Tensor conv2d_input_grad(const Tensor& grad, const Tensor& weight, const Dims& input_sizes,
                         const Conv2dParams& params, Site site = {});
Tensor conv2d_weight_grad(const Tensor& grad, const Tensor& input, const Dims& weight_sizes,
                          const Conv2dParams& params, Site site = {});

struct Pool2dParams {
    Dims kernel{2, 2};
    Dims stride{2, 2};
    Dims padding{0, 0};
};
Tensor max_pool2d(const Tensor& input, const Pool2dParams& params, Site site = {});
Tensor avg_pool2d(const Tensor& input, const Pool2dParams& params, Site site = {});
Tensor adaptive_avg_pool2d(const Tensor& input, std::int64_t height, std::int64_t width,
                           Site site = {});

/// input [N, C, ...]. training: batch statistics, and running_mean/var are updated in place
/// (momentum as PyTorch's, the running variance unbiased); else the running statistics are used.
/// weight, bias, running_* [C], may be undefined.
Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                  const Tensor& running_mean, const Tensor& running_var, bool training,
                  double momentum = 0.1, double eps = 1e-5, Site site = {});
/// Over the last dims of normalized_shape.
Tensor layer_norm(const Tensor& input, const Dims& normalized_shape, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5, Site site = {});
Tensor softmax(const Tensor& x, std::int64_t dim, Site site = {});
Tensor log_softmax(const Tensor& x, std::int64_t dim, Site site = {});
/// Scales the kept elements by 1/(1-p). x itself unless training.
Tensor dropout(const Tensor& x, double p, bool training, Site site = {});
/// weight [V, D], index any shape of int64.
Tensor embedding(const Tensor& weight, const Tensor& index, Site site = {});

enum class Reduction : std::uint8_t { None, Mean, Sum };
/// log_probabilities [N, C], target [N] int64 in [0, C).
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target,
                Reduction reduction = Reduction::Mean, Site site = {});
Tensor cross_entropy(const Tensor& logits, const Tensor& target,
                     Reduction reduction = Reduction::Mean, Site site = {});
Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::Mean,
                Site site = {});
Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::Mean,
               Site site = {});
Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target,
                                        Reduction reduction = Reduction::Mean, Site site = {});

}  // namespace tapescope::engine
