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

MaxPool2d::MaxPool2d(Pair kernel, std::optional<Pair> stride, Pair padding, Pair dilation,
                     bool ceil_mode)
    : Module("MaxPool2d"),
      m_kernel(kernel),
      m_stride(stride.value_or(kernel)),
      m_padding(padding),
      m_dilation(dilation),
      m_ceilMode(ceil_mode) {}

Tensor MaxPool2d::forward(const Tensor& x) {
    Pool2dParams p = params(m_kernel, m_stride, m_padding);
    p.dilation = m_dilation.dims();
    p.ceil_mode = m_ceilMode;
    return max_pool2d(x, p, callSite());
}

std::string MaxPool2d::details() const {
    return windowText(m_kernel, m_stride, m_padding) +
           (m_dilation != 1 ? ", dilation " + m_dilation.shortText() : "") +
           (m_ceilMode ? ", ceil" : "");
}

AvgPool2d::AvgPool2d(Pair kernel, std::optional<Pair> stride, Pair padding, bool ceil_mode,
                     bool count_include_pad, std::int64_t divisor_override)
    : Module("AvgPool2d"),
      m_kernel(kernel),
      m_stride(stride.value_or(kernel)),
      m_padding(padding),
      m_ceilMode(ceil_mode),
      m_countIncludePad(count_include_pad),
      m_divisor(divisor_override) {}

Tensor AvgPool2d::forward(const Tensor& x) {
    Pool2dParams p = params(m_kernel, m_stride, m_padding);
    p.ceil_mode = m_ceilMode;
    p.count_include_pad = m_countIncludePad;
    p.divisor_override = m_divisor;
    return avg_pool2d(x, p, callSite());
}

std::string AvgPool2d::details() const {
    return windowText(m_kernel, m_stride, m_padding) + (m_ceilMode ? ", ceil" : "") +
           (m_countIncludePad ? "" : ", padding not counted") +
           (m_divisor != 0 ? ", divisor " + std::to_string(m_divisor) : "");
}

AdaptiveAvgPool2d::AdaptiveAvgPool2d(Pair output) : Module("AdaptiveAvgPool2d"), m_output(output) {}

Tensor AdaptiveAvgPool2d::forward(const Tensor& x) {
    return adaptive_avg_pool2d(x, m_output.height, m_output.width, callSite());
}

std::string AdaptiveAvgPool2d::details() const { return "to " + m_output.text(); }

}  // namespace tapescope::engine::nn
