// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/embedding.h"

#include "engine/errors.h"
#include "engine/nn/init.h"
#include "engine/ops/nn_functional.h"

namespace tapescope::engine::nn {

Embedding::Embedding(std::int64_t count, std::int64_t dim) : Module("Embedding") {
    if (count < 1 || dim < 1) {
        throw Error("Embedding: the table must be at least 1×1, but is " + std::to_string(count) +
                    "×" + std::to_string(dim));
    }
    weight = register_parameter("weight", Tensor::empty({count, dim}));
    init::normal_(weight);
}

Tensor Embedding::forward(const Tensor& x) { return embedding(weight, x, callSite()); }

std::string Embedding::details() const {
    return std::to_string(weight.size(0)) + "×" + std::to_string(weight.size(1));
}

}  // namespace tapescope::engine::nn
