// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/module.h"
#include "engine/nn/pair.h"

#include <optional>

namespace tapescope::engine::nn {

/// The largest value of every window. x: [N, C, H, W]. Without a stride, windows do not overlap.
class MaxPool2d final : public Module {
public:
    explicit MaxPool2d(Pair kernel, std::optional<Pair> stride = {}, Pair padding = 0,
                       Pair dilation = 1, bool ceil_mode = false);
    Tensor forward(const Tensor& x) override;
    std::string details() const override;

private:
    Pair m_kernel;
    Pair m_stride;
    Pair m_padding;
    Pair m_dilation;
    bool m_ceilMode;
};

/// The mean of every window, padding counted in unless told otherwise. x: [N, C, H, W].
class AvgPool2d final : public Module {
public:
    explicit AvgPool2d(Pair kernel, std::optional<Pair> stride = {}, Pair padding = 0,
                       bool ceil_mode = false, bool count_include_pad = true,
                       std::int64_t divisor_override = 0);
    Tensor forward(const Tensor& x) override;
    std::string details() const override;

private:
    Pair m_kernel;
    Pair m_stride;
    Pair m_padding;
    bool m_ceilMode;
    bool m_countIncludePad;
    std::int64_t m_divisor;
};

/// Means over windows that divide any H×W into output. x: [N, C, H, W].
class AdaptiveAvgPool2d final : public Module {
public:
    explicit AdaptiveAvgPool2d(Pair output);
    Tensor forward(const Tensor& x) override;
    std::string details() const override;

private:
    Pair m_output;
};

}  // namespace tapescope::engine::nn
