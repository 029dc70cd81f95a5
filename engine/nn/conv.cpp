// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/conv.h"

#include "engine/errors.h"
#include "engine/nn/init.h"
#include "engine/ops/nn_functional.h"

namespace tapescope::engine::nn {

Conv2d::Conv2d(std::int64_t in_channels, std::int64_t out_channels, Pair kernel,
               Conv2dOptions options)
    : Module("Conv2d"), m_inChannels(in_channels), m_kernel(kernel), m_options(options) {
    if (in_channels < 1 || out_channels < 1 || options.groups < 1 ||
        in_channels % options.groups != 0 || out_channels % options.groups != 0) {
        throw Error(
            "Conv2d: channels must be at least 1 and multiples of groups, but in_channels is " +
            std::to_string(in_channels) + ", out_channels " + std::to_string(out_channels) +
            ", groups " + std::to_string(options.groups));
    }
    if (kernel.height < 1 || kernel.width < 1) {
        throw Error("Conv2d: the kernel must be at least 1×1, but is " + kernel.text());
    }
    weight = register_parameter("weight", Tensor::empty({out_channels, in_channels / options.groups,
                                                         kernel.height, kernel.width}));
    bias = register_parameter("bias", options.bias ? Tensor::empty({out_channels}) : Tensor());
    init::defaultWeightAndBias(weight, bias);
}

Tensor Conv2d::forward(const Tensor& x) {
    return conv2d(x, weight, bias,
                  {.stride = m_options.stride.dims(),
                   .padding = m_options.padding.dims(),
                   .dilation = m_options.dilation.dims(),
                   .groups = m_options.groups},
                  callSite());
}

std::string Conv2d::details() const {
    std::string text = std::to_string(m_inChannels) + "→" + std::to_string(weight.size(0)) + ", " +
                       m_kernel.text();
    if (m_options.stride != 1) text += ", stride " + m_options.stride.shortText();
    if (m_options.padding != 0) text += ", padding " + m_options.padding.shortText();
    if (m_options.dilation != 1) text += ", dilation " + m_options.dilation.shortText();
    if (m_options.groups != 1) text += ", groups " + std::to_string(m_options.groups);
    if (!m_options.bias) text += ", no bias";
    return text;
}

}  // namespace tapescope::engine::nn
