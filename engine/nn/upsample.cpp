// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/upsample.h"

#include "engine/nn/dims_text.h"
#include "engine/nn/number_text.h"

namespace tapescope::engine::nn {

Tensor Upsample::forward(const Tensor& x) { return interpolate(x, m_options, callSite()); }

std::string Upsample::details() const {
    static constexpr const char* kModes[] = {"nearest",   "nearest-exact", "linear", "bilinear",
                                             "trilinear", "bicubic",       "area"};
    std::string text;
    if (!m_options.size.empty()) {
        text = "to " + timesText(m_options.size);
    } else {
        for (const double scale : m_options.scale_factor)
            text += (text.empty() ? "by " : "×") + numberText(scale);
    }
    return text + ", " + kModes[static_cast<int>(m_options.mode)];
}

}  // namespace tapescope::engine::nn
