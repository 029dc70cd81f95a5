// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <string_view>

namespace tapescope::engine {

// Activation functions beyond those of pointwise.h; PyTorch's definitions. They take floating
// tensors; hardtanh, relu6 and threshold integers too.

/// approximate: "none" (exact, with erf) or "tanh". Throws Error for another word.
Tensor gelu(const Tensor& x, std::string_view approximate, Site site = {});
/// Throws Error unless min_val <= max_val.
Tensor hardtanh(const Tensor& x, double min_val = -1, double max_val = 1, Site site = {});
Tensor relu6(const Tensor& x, Site site = {});
Tensor hardswish(const Tensor& x, Site site = {});    ///< x relu6(x + 3) / 6
Tensor hardsigmoid(const Tensor& x, Site site = {});  ///< relu6(x + 3) / 6
Tensor mish(const Tensor& x, Site site = {});         ///< x tanh(softplus(x))
Tensor selu(const Tensor& x, Site site = {});
/// max(0, x) + min(0, alpha (e^(x / alpha) - 1)). Throws Error for alpha = 0.
Tensor celu(const Tensor& x, double alpha = 1, Site site = {});
Tensor logsigmoid(const Tensor& x, Site site = {});
Tensor softsign(const Tensor& x, Site site = {});    ///< x / (1 + |x|)
Tensor tanhshrink(const Tensor& x, Site site = {});  ///< x - tanh(x)
/// 0 inside [-lambd, lambd], else x.
Tensor hardshrink(const Tensor& x, double lambd = 0.5, Site site = {});
/// 0 inside [-lambd, lambd], else x moved towards it. Throws Error for negative lambd.
Tensor softshrink(const Tensor& x, double lambd = 0.5, Site site = {});
/// x where x > threshold, else value.
Tensor threshold(const Tensor& x, double threshold, double value, Site site = {});

/// x where x > 0, else weight x. weight: one number, or one per channel (dimension 1 of x). Throws
/// ShapeError where it is neither.
Tensor prelu(const Tensor& x, const Tensor& weight, Site site = {});
/// The first half of dim times the sigmoid of the second. Throws ShapeError for an odd size.
Tensor glu(const Tensor& x, std::int64_t dim = -1, Site site = {});

// What their gradients call.
Tensor hardswish_backward(const Tensor& grad, const Tensor& x, Site site = {});
Tensor mish_backward(const Tensor& grad, const Tensor& x, Site site = {});
Tensor gelu_tanh_backward(const Tensor& grad, const Tensor& x, Site site = {});

}  // namespace tapescope::engine
