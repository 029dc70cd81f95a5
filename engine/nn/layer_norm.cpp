// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/layer_norm.h"

#include "engine/nn/init.h"
#include "engine/ops/nn_functional.h"

namespace tapescope::engine::nn {

LayerNorm::LayerNorm(Dims normalized_shape, double eps, bool affine)
    : Module("LayerNorm"), m_shape(normalized_shape), m_eps(eps) {
    if (!affine) return;
    weight = register_parameter("weight", init::ones_(Tensor::empty(m_shape)));
    bias = register_parameter("bias", init::zeros_(Tensor::empty(m_shape)));
}

Tensor LayerNorm::forward(const Tensor& x) {
    return layer_norm(x, m_shape, weight, bias, m_eps, callSite());
}

std::string LayerNorm::details() const {
    return toString(m_shape) + (weight.defined() ? "" : ", not affine");
}

}  // namespace tapescope::engine::nn
