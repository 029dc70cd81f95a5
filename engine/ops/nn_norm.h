// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

namespace tapescope::engine {

/// input [N, C, ...]. training: batch statistics, and running_mean/var are updated in place
/// (momentum as PyTorch's, the running variance unbiased); else the running statistics are used.
/// weight, bias, running_* [C], may be undefined.
Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                  const Tensor& running_mean, const Tensor& running_var, bool training,
                  double momentum = 0.1, double eps = 1e-5, Site site = {});
/// Over the last dims of normalized_shape.
Tensor layer_norm(const Tensor& input, const Dims& normalized_shape, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5, Site site = {});
/// input [N, C, ...], C a multiple of num_groups; weight, bias [C] or undefined.
Tensor group_norm(const Tensor& input, std::int64_t num_groups, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5, Site site = {});
struct InstanceNormStatistics {
    Tensor running_mean{};  ///< [C], with running_var, or both undefined
    Tensor running_var{};
    bool use_input_stats = true;  ///< else the running statistics normalise
    double momentum = 0.1;
};
/// input [N, C, d...]: each channel of each sample by itself. Running statistics are folded in
/// place, averaged over the batch.
Tensor instance_norm(const Tensor& input, const Tensor& weight = {}, const Tensor& bias = {},
                     const InstanceNormStatistics& statistics = {}, double eps = 1e-5,
                     Site site = {});
/// x / sqrt(mean(x^2) + eps) * weight over the last dims of normalized_shape. eps below 0: the
/// dtype's machine epsilon, as in PyTorch.
Tensor rms_norm(const Tensor& input, const Dims& normalized_shape, const Tensor& weight = {},
                double eps = -1, Site site = {});
/// input [N, C, d...]: x / (k + alpha * mean of squares over `size` neighbouring channels)^beta.
Tensor local_response_norm(const Tensor& input, std::int64_t size, double alpha = 1e-4,
                           double beta = 0.75, double k = 1, Site site = {});
/// x / max(p-norm of x along dim, eps).
Tensor normalize(const Tensor& x, double p = 2, std::int64_t dim = 1, double eps = 1e-12,
                 Site site = {});
/// v * g / norm of v over all dimensions but dim (over all for -1), as weight_norm parametrises a
/// weight.
Tensor weight_norm(const Tensor& v, const Tensor& g, std::int64_t dim = 0, Site site = {});

}  // namespace tapescope::engine
