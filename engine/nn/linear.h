// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/module.h"

namespace tapescope::engine::nn {

/// y = x · weightᵀ + bias. x: [..., in_features]. Parameters: weight [out, in], bias [out].
class Linear final : public Module {
public:
    /// Throws Error if a size is not positive. PyTorch's default initialisation.
    Linear(std::int64_t in_features, std::int64_t out_features, bool with_bias = true);
    Tensor forward(const Tensor& x) override;
    std::string details() const override;

    Tensor weight;
    Tensor bias;  ///< undefined without bias
};

}  // namespace tapescope::engine::nn
