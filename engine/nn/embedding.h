// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/module.h"

namespace tapescope::engine::nn {

/// Rows of a table by index. x: int64, any shape; gives [..., dim]. Parameter: weight [count, dim],
/// normal(0, 1).
class Embedding final : public Module {
public:
    Embedding(std::int64_t count, std::int64_t dim);
    Tensor forward(const Tensor& x) override;
    std::string details() const override;

    Tensor weight;
};

}  // namespace tapescope::engine::nn
