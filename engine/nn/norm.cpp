// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/norm.h"

#include "engine/errors.h"
#include "engine/nn/init.h"
#include "engine/nn/number_text.h"
#include "engine/ops/nn_norm.h"
#include "engine/ops/shape.h"

namespace tapescope::engine::nn {

InstanceNorm::InstanceNorm(const char* typeName, int rank, std::int64_t channels,
                           InstanceNormOptions options)
    : Module(typeName), m_rank(rank), m_channels(channels), m_options(options) {
    if (channels < 1)
        throw Error(std::string(typeName) + ": the number of channels must be at least 1, but is " +
                    std::to_string(channels));
    if (options.affine) {
        weight = register_parameter("weight", init::ones_(Tensor::empty({channels})));
        bias = register_parameter("bias", init::zeros_(Tensor::empty({channels})));
    }
    if (options.track_running_stats) {
        running_mean = register_buffer("running_mean", init::zeros_(Tensor::empty({channels})));
        running_var = register_buffer("running_var", init::ones_(Tensor::empty({channels})));
    }
}

Tensor InstanceNorm::forward(const Tensor& x) {
    const Site site = callSite();
    if (x.dim() != m_rank && x.dim() != m_rank - 1)
        throw ShapeError("instance_norm: " + type_name() + " takes " + std::to_string(m_rank - 1) +
                         " or " + std::to_string(m_rank) + " dimensions, but got " +
                         x.meta().toString() + placeSuffix(path(), site));
    const bool batched = x.dim() == m_rank;
    const Tensor y =
        instance_norm(batched ? x : unsqueeze(x, 0, site), weight, bias,
                      {.running_mean = running_mean,
                       .running_var = running_var,
                       .use_input_stats = is_training() || !m_options.track_running_stats,
                       .momentum = m_options.momentum},
                      m_options.eps, site);
    return batched ? y : squeeze(y, 0, site);
}

std::string InstanceNorm::details() const {
    return std::to_string(m_channels) + (m_options.affine ? ", affine" : "") +
           (m_options.track_running_stats ? ", running statistics" : "");
}

GroupNorm::GroupNorm(std::int64_t groups, std::int64_t channels, double eps, bool affine)
    : Module("GroupNorm"), m_groups(groups), m_channels(channels), m_eps(eps) {
    if (groups < 1 || channels < 1 || channels % groups != 0)
        throw Error("GroupNorm: " + std::to_string(channels) + " channels do not divide into " +
                    std::to_string(groups) + " groups");
    if (!affine) return;
    weight = register_parameter("weight", init::ones_(Tensor::empty({channels})));
    bias = register_parameter("bias", init::zeros_(Tensor::empty({channels})));
}
Tensor GroupNorm::forward(const Tensor& x) {
    return group_norm(x, m_groups, weight, bias, m_eps, callSite());
}
std::string GroupNorm::details() const {
    return std::to_string(m_groups) + " groups of " + std::to_string(m_channels / m_groups) +
           (weight.defined() ? "" : ", not affine");
}

RMSNorm::RMSNorm(Dims normalized_shape, double eps, bool affine)
    : Module("RMSNorm"), m_shape(normalized_shape), m_eps(eps) {
    if (affine) weight = register_parameter("weight", init::ones_(Tensor::empty(m_shape)));
}
Tensor RMSNorm::forward(const Tensor& x) { return rms_norm(x, m_shape, weight, m_eps, callSite()); }
std::string RMSNorm::details() const {
    return toString(m_shape) + (weight.defined() ? "" : ", not affine");
}

LocalResponseNorm::LocalResponseNorm(std::int64_t size, double alpha, double beta, double k)
    : Module("LocalResponseNorm"), m_size(size), m_alpha(alpha), m_beta(beta), m_k(k) {}
Tensor LocalResponseNorm::forward(const Tensor& x) {
    return local_response_norm(x, m_size, m_alpha, m_beta, m_k, callSite());
}
std::string LocalResponseNorm::details() const {
    return std::to_string(m_size) + " channels, alpha " + numberText(m_alpha) + ", beta " +
           numberText(m_beta) + ", k " + numberText(m_k);
}

}  // namespace tapescope::engine::nn
