// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/module.h"

namespace tapescope::engine::nn {

/// Normalises over the last dimensions. x: [..., normalized_shape]. Parameters: weight, bias
/// [normalized_shape].
class LayerNorm final : public Module {
public:
    explicit LayerNorm(Dims normalized_shape, double eps = 1e-5, bool affine = true);
    Tensor forward(const Tensor& x) override;
    std::string details() const override;

    Tensor weight;
    Tensor bias;

private:
    Dims m_shape;
    double m_eps;
};

}  // namespace tapescope::engine::nn
