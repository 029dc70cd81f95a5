// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <utility>

namespace tapescope::engine {

// Inputs are [N, C, ...] or [C, ...] with one (…1d) to three (…3d) spatial dimensions; one number
// stands for all of them.

/// An empty stride is the kernel's size. dilation is max pooling's; count_include_pad and
/// divisor_override (0: none) are average pooling's. ceil_mode: also windows that begin inside and
/// end beyond the padded input.
struct PoolParams {
    Dims kernel{2};
    Dims stride{};
    Dims padding{0};
    Dims dilation{1};
    bool ceil_mode = false;
    bool count_include_pad = true;
    std::int64_t divisor_override = 0;
};
struct Pool2dParams {
    Dims kernel{2, 2};
    Dims stride{2, 2};
    Dims padding{0, 0};
    Dims dilation{1, 1};
    bool ceil_mode = false;
    bool count_include_pad = true;
    std::int64_t divisor_override = 0;
};

Tensor max_pool1d(const Tensor& input, const PoolParams& params, Site site = {});
Tensor max_pool2d(const Tensor& input, const Pool2dParams& params, Site site = {});
Tensor max_pool3d(const Tensor& input, const PoolParams& params, Site site = {});
/// return_indices=True: also where in its plane each maximum was found (int64).
std::pair<Tensor, Tensor> max_pool1d_with_indices(const Tensor& input, const PoolParams& params,
                                                  Site site = {});
std::pair<Tensor, Tensor> max_pool2d_with_indices(const Tensor& input, const PoolParams& params,
                                                  Site site = {});
std::pair<Tensor, Tensor> max_pool3d_with_indices(const Tensor& input, const PoolParams& params,
                                                  Site site = {});

/// Puts the values of a max pooling back where they came from, zeros elsewhere. output_size: the
/// spatial sizes, or empty: (in - 1) * stride - 2 * padding + kernel.
Tensor max_unpool1d(const Tensor& input, const Tensor& indices, const PoolParams& params,
                    const Dims& output_size = {}, Site site = {});
Tensor max_unpool2d(const Tensor& input, const Tensor& indices, const PoolParams& params,
                    const Dims& output_size = {}, Site site = {});
Tensor max_unpool3d(const Tensor& input, const Tensor& indices, const PoolParams& params,
                    const Dims& output_size = {}, Site site = {});

Tensor avg_pool1d(const Tensor& input, const PoolParams& params, Site site = {});
Tensor avg_pool2d(const Tensor& input, const Pool2dParams& params, Site site = {});
Tensor avg_pool3d(const Tensor& input, const PoolParams& params, Site site = {});

/// (sum of x^p over the window)^(1/p).
Tensor lp_pool1d(const Tensor& input, double norm_type, const PoolParams& params, Site site = {});
Tensor lp_pool2d(const Tensor& input, double norm_type, const PoolParams& params, Site site = {});
Tensor lp_pool3d(const Tensor& input, double norm_type, const PoolParams& params, Site site = {});

// output_size: one number for all spatial dimensions or one each; -1 keeps the input's.
Tensor adaptive_avg_pool1d(const Tensor& input, const Dims& output_size, Site site = {});
Tensor adaptive_avg_pool2d(const Tensor& input, std::int64_t height, std::int64_t width,
                           Site site = {});
Tensor adaptive_avg_pool2d(const Tensor& input, const Dims& output_size, Site site = {});
Tensor adaptive_avg_pool3d(const Tensor& input, const Dims& output_size, Site site = {});
/// Maxima and where in its plane each was found.
std::pair<Tensor, Tensor> adaptive_max_pool1d(const Tensor& input, const Dims& output_size,
                                              Site site = {});
std::pair<Tensor, Tensor> adaptive_max_pool2d(const Tensor& input, const Dims& output_size,
                                              Site site = {});
std::pair<Tensor, Tensor> adaptive_max_pool3d(const Tensor& input, const Dims& output_size,
                                              Site site = {});

}  // namespace tapescope::engine
