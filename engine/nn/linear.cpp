// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/linear.h"

#include "engine/errors.h"
#include "engine/nn/init.h"
#include "engine/ops/nn_functional.h"

namespace tapescope::engine::nn {

Linear::Linear(std::int64_t in_features, std::int64_t out_features, bool with_bias)
    : Module("Linear") {
    if (in_features < 1 || out_features < 1) {
        throw Error("Linear: in_features and out_features must be at least 1, but are " +
                    std::to_string(in_features) + " and " + std::to_string(out_features));
    }
    weight = register_parameter("weight", Tensor::empty({out_features, in_features}));
    bias = register_parameter("bias", with_bias ? Tensor::empty({out_features}) : Tensor());
    init::defaultWeightAndBias(weight, bias);
}

Tensor Linear::forward(const Tensor& x) { return linear(x, weight, bias, callSite()); }

std::string Linear::details() const {
    return std::to_string(weight.size(1)) + "→" + std::to_string(weight.size(0)) +
           (bias.defined() ? "" : ", no bias");
}

}  // namespace tapescope::engine::nn
