// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/module.h"
#include "engine/nn/pair.h"

namespace tapescope::engine::nn {

struct Conv2dOptions {
    Pair stride = 1;
    Pair padding = 0;
    Pair dilation = 1;
    std::int64_t groups = 1;
    bool bias = true;
};

/// Cross-correlation over images. x: [N, in, H, W]. Parameters: weight [out, in/groups, kH, kW],
/// bias [out].
class Conv2d final : public Module {
public:
    /// Throws Error for sizes below 1 or channels that groups do not divide. PyTorch's default
    /// initialisation.
    Conv2d(std::int64_t in_channels, std::int64_t out_channels, Pair kernel,
           Conv2dOptions options = {});
    Tensor forward(const Tensor& x) override;
    std::string details() const override;

    Tensor weight;
    Tensor bias;  ///< undefined without bias

private:
    std::int64_t m_inChannels;
    Pair m_kernel;
    Conv2dOptions m_options;
};

}  // namespace tapescope::engine::nn
