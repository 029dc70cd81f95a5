// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/module.h"

namespace tapescope::engine::nn {

/// Joins the dimensions start_dim … end_dim; by default everything but the batch.
class Flatten final : public Module {
public:
    explicit Flatten(std::int64_t start_dim = 1, std::int64_t end_dim = -1);
    Tensor forward(const Tensor& x) override;
    std::string details() const override;

private:
    std::int64_t m_startDim;
    std::int64_t m_endDim;
};

}  // namespace tapescope::engine::nn
