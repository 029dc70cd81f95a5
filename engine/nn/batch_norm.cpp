// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/batch_norm.h"

#include "engine/errors.h"
#include "engine/nn/init.h"
#include "engine/ops/nn_functional.h"

namespace tapescope::engine::nn {

BatchNorm::BatchNorm(const char* typeName, std::int64_t channels, BatchNormOptions options)
    : Module(typeName), m_channels(channels), m_options(options) {
    if (channels < 1) {
        throw Error(std::string(typeName) + ": the number of channels must be at least 1, but is " +
                    std::to_string(channels));
    }
    if (options.affine) {
        weight = register_parameter("weight", init::ones_(Tensor::empty({channels})));
        bias = register_parameter("bias", init::zeros_(Tensor::empty({channels})));
    }
    if (options.track_running_stats) {
        running_mean = register_buffer("running_mean", init::zeros_(Tensor::empty({channels})));
        running_var = register_buffer("running_var", init::ones_(Tensor::empty({channels})));
    }
}

Tensor BatchNorm::forward(const Tensor& x) {
    checkInput(x);
    const bool batchStatistics = is_training() || !m_options.track_running_stats;
    return batch_norm(x, weight, bias, running_mean, running_var, batchStatistics,
                      m_options.momentum, m_options.eps, callSite());
}

std::string BatchNorm::details() const {
    return std::to_string(m_channels) + (m_options.affine ? "" : ", not affine") +
           (m_options.track_running_stats ? "" : ", no running statistics");
}

void BatchNorm::refuse(const Tensor& x, const char* expected) const {
    throw ShapeError("batch_norm: " + type_name() + " takes " + expected + ", but got " +
                     x.meta().toString() + placeSuffix(path(), callSite()));
}

BatchNorm1d::BatchNorm1d(std::int64_t channels, BatchNormOptions options)
    : BatchNorm("BatchNorm1d", channels, options) {}

void BatchNorm1d::checkInput(const Tensor& x) const {
    if (x.dim() != 2 && x.dim() != 3) refuse(x, "[N, C] or [N, C, L]");
}

BatchNorm2d::BatchNorm2d(std::int64_t channels, BatchNormOptions options)
    : BatchNorm("BatchNorm2d", channels, options) {}

void BatchNorm2d::checkInput(const Tensor& x) const {
    if (x.dim() != 4) refuse(x, "[N, C, H, W]");
}

BatchNorm3d::BatchNorm3d(std::int64_t channels, BatchNormOptions options)
    : BatchNorm("BatchNorm3d", channels, options) {}

void BatchNorm3d::checkInput(const Tensor& x) const {
    if (x.dim() != 5) refuse(x, "[N, C, D, H, W]");
}

}  // namespace tapescope::engine::nn
