// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/module.h"
#include "engine/ops/nn_vision.h"

namespace tapescope::engine::nn {

/// interpolate as a layer. x: [N, C, d...].
class Upsample final : public Module {
public:
    explicit Upsample(InterpolateOptions options)
        : Module("Upsample"), m_options(std::move(options)) {}
    Tensor forward(const Tensor& x) override;
    std::string details() const override;

private:
    InterpolateOptions m_options;
};

}  // namespace tapescope::engine::nn
