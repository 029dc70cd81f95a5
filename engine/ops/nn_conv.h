// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

namespace tapescope::engine {

/// One number stands for every spatial dimension.
struct ConvParams {
    Dims stride{1};
    Dims padding{0};
    Dims dilation{1};
    std::int64_t groups = 1;
};
/// conv2d's with two numbers each.
struct Conv2dParams {
    Dims stride{1, 1};
    Dims padding{0, 0};
    Dims dilation{1, 1};
    std::int64_t groups = 1;
};

/// input [N, C, L] or [C, L], weight [O, C/groups, kL], bias [O] or undefined.
Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias = {},
              const ConvParams& params = {}, Site site = {});
/// input [N, C, H, W] or [C, H, W], weight [O, C/groups, kH, kW], bias [O] or undefined.
Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias = {},
              const Conv2dParams& params = {}, Site site = {});
/// input [N, C, D, H, W] or [C, D, H, W], weight [O, C/groups, kD, kH, kW], bias [O] or undefined.
Tensor conv3d(const Tensor& input, const Tensor& weight, const Tensor& bias = {},
              const ConvParams& params = {}, Site site = {});

/// padding='valid' (none) or 'same': as much that the output has the input's sizes, the odd one
/// after the last element; stride is then 1. params.padding is not read.
enum class ConvPadding : std::uint8_t { Valid, Same };
Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias, ConvPadding padding,
              const ConvParams& params = {}, Site site = {});
Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias, ConvPadding padding,
              const ConvParams& params = {}, Site site = {});
Tensor conv3d(const Tensor& input, const Tensor& weight, const Tensor& bias, ConvPadding padding,
              const ConvParams& params = {}, Site site = {});

/// The adjoints, operators of their own so that second order works. input_sizes: of conv2d's input.
Tensor conv2d_input_grad(const Tensor& grad, const Tensor& weight, const Dims& input_sizes,
                         const Conv2dParams& params, Site site = {});
Tensor conv2d_weight_grad(const Tensor& grad, const Tensor& input, const Dims& weight_sizes,
                          const Conv2dParams& params, Site site = {});
/// The same for 1 to 3 spatial dimensions, as weight's rank says.
Tensor conv_input_grad(const Tensor& grad, const Tensor& weight, const Dims& input_sizes,
                       const ConvParams& params, Site site = {});
Tensor conv_weight_grad(const Tensor& grad, const Tensor& input, const Dims& weight_sizes,
                        const ConvParams& params, Site site = {});

struct ConvTransposeParams {
    Dims stride{1};
    Dims padding{0};
    Dims output_padding{0};
    std::int64_t groups = 1;
    Dims dilation{1};
};
/// The adjoint of a convolution as a layer: input [N, C, ...] or [C, ...], weight [C, O/groups,
/// kernel ...], bias [O] or undefined. Each output size is (in - 1) * stride - 2 * padding +
/// dilation * (kernel - 1) + output_padding + 1.
Tensor conv_transpose1d(const Tensor& input, const Tensor& weight, const Tensor& bias = {},
                        const ConvTransposeParams& params = {}, Site site = {});
Tensor conv_transpose2d(const Tensor& input, const Tensor& weight, const Tensor& bias = {},
                        const ConvTransposeParams& params = {}, Site site = {});
Tensor conv_transpose3d(const Tensor& input, const Tensor& weight, const Tensor& bias = {},
                        const ConvTransposeParams& params = {}, Site site = {});

}  // namespace tapescope::engine
