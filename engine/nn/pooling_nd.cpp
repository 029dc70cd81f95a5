// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/pooling_nd.h"

#include "engine/nn/dims_text.h"
#include "engine/nn/number_text.h"

namespace tapescope::engine::nn {

WindowPool::WindowPool(const char* typeName, int rank, const PoolParams& params)
    : Module(typeName), m_params(params) {
    m_params.kernel = spread(params.kernel, rank);
    m_params.stride = params.stride.empty() ? m_params.kernel : spread(params.stride, rank);
}

std::string WindowPool::details() const {
    std::string text = timesText(m_params.kernel);
    if (m_params.stride != m_params.kernel) text += ", stride " + timesText(m_params.stride, true);
    if (m_params.padding != Dims::filled(m_params.padding.size(), 0))
        text += ", padding " + timesText(m_params.padding, true);
    if (m_params.dilation != Dims::filled(m_params.dilation.size(), 1))
        text += ", dilation " + timesText(m_params.dilation, true);
    return m_params.ceil_mode ? text + ", ceil" : text;
}

Tensor MaxPool1d::forward(const Tensor& x) { return max_pool1d(x, params(), callSite()); }
Tensor MaxPool3d::forward(const Tensor& x) { return max_pool3d(x, params(), callSite()); }
Tensor AvgPool1d::forward(const Tensor& x) { return avg_pool1d(x, params(), callSite()); }
Tensor AvgPool3d::forward(const Tensor& x) { return avg_pool3d(x, params(), callSite()); }

std::string LPPool::details() const {
    return "p " + numberText(m_normType) + ", " + WindowPool::details();
}
Tensor LPPool1d::forward(const Tensor& x) { return lp_pool1d(x, normType(), params(), callSite()); }
Tensor LPPool2d::forward(const Tensor& x) { return lp_pool2d(x, normType(), params(), callSite()); }
Tensor LPPool3d::forward(const Tensor& x) { return lp_pool3d(x, normType(), params(), callSite()); }

SizedPool::SizedPool(const char* typeName, int rank, const Dims& output_size)
    : Module(typeName), m_outputSize(spread(output_size, rank)) {}
std::string SizedPool::details() const { return "to " + timesText(m_outputSize); }

Tensor AdaptiveAvgPool1d::forward(const Tensor& x) {
    return adaptive_avg_pool1d(x, outputSize(), callSite());
}
Tensor AdaptiveAvgPool3d::forward(const Tensor& x) {
    return adaptive_avg_pool3d(x, outputSize(), callSite());
}
Tensor AdaptiveMaxPool1d::forward(const Tensor& x) {
    return adaptive_max_pool1d(x, outputSize(), callSite()).first;
}
Tensor AdaptiveMaxPool2d::forward(const Tensor& x) {
    return adaptive_max_pool2d(x, outputSize(), callSite()).first;
}
Tensor AdaptiveMaxPool3d::forward(const Tensor& x) {
    return adaptive_max_pool3d(x, outputSize(), callSite()).first;
}

}  // namespace tapescope::engine::nn
