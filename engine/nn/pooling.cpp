// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/pooling.h"

#include "engine/ops/nn_functional.h"

namespace tapescope::engine::nn {
namespace {

std::string windowText(Pair kernel, Pair stride, Pair padding) {
    std::string text = kernel.text();
    if (stride != kernel) text += ", stride " + stride.shortText();
    if (padding != 0) text += ", padding " + padding.shortText();
    return text;
}

Pool2dParams params(Pair kernel, Pair stride, Pair padding) {
    return {.kernel = kernel.dims(), .stride = stride.dims(), .padding = padding.dims()};
}

}  // namespace

MaxPool2d::MaxPool2d(Pair kernel, std::optional<Pair> stride, Pair padding)
    : Module("MaxPool2d"),
      m_kernel(kernel),
      m_stride(stride.value_or(kernel)),
      m_padding(padding) {}

Tensor MaxPool2d::forward(const Tensor& x) {
    return max_pool2d(x, params(m_kernel, m_stride, m_padding), callSite());
}

std::string MaxPool2d::details() const { return windowText(m_kernel, m_stride, m_padding); }

AvgPool2d::AvgPool2d(Pair kernel, std::optional<Pair> stride, Pair padding)
    : Module("AvgPool2d"),
      m_kernel(kernel),
      m_stride(stride.value_or(kernel)),
      m_padding(padding) {}

Tensor AvgPool2d::forward(const Tensor& x) {
    return avg_pool2d(x, params(m_kernel, m_stride, m_padding), callSite());
}

std::string AvgPool2d::details() const { return windowText(m_kernel, m_stride, m_padding); }

AdaptiveAvgPool2d::AdaptiveAvgPool2d(Pair output) : Module("AdaptiveAvgPool2d"), m_output(output) {}

Tensor AdaptiveAvgPool2d::forward(const Tensor& x) {
    return adaptive_avg_pool2d(x, m_output.height, m_output.width, callSite());
}

std::string AdaptiveAvgPool2d::details() const { return "to " + m_output.text(); }

}  // namespace tapescope::engine::nn
