// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/module.h"

namespace tapescope::engine::nn {

/// Zeroes each element with probability p while training and scales the rest by 1/(1-p); the
/// identity in evaluation.
class Dropout final : public Module {
public:
    /// Throws Error unless 0 <= p <= 1.
    explicit Dropout(double p = 0.5);
    Tensor forward(const Tensor& x) override;
    std::string details() const override;

private:
    double m_p;
};

}  // namespace tapescope::engine::nn
