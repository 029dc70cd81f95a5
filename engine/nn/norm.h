// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/module.h"

namespace tapescope::engine::nn {

struct InstanceNormOptions {
    double eps = 1e-5;
    double momentum = 0.1;
    bool affine = false;
    bool track_running_stats = false;
};
/// What the instance norms share: each channel of each sample by itself. Parameters (if affine):
/// weight, bias [C]; buffers (if tracked): running_mean, running_var [C], used in evaluation.
class InstanceNorm : public Module {
public:
    Tensor forward(const Tensor& x) final;
    std::string details() const override;

    Tensor weight;
    Tensor bias;
    Tensor running_mean;
    Tensor running_var;

protected:
    InstanceNorm(const char* typeName, int rank, std::int64_t channels,
                 InstanceNormOptions options);

private:
    int m_rank;  ///< of the input, with a batch
    std::int64_t m_channels;
    InstanceNormOptions m_options;
};
/// x: [N, C, L] or [C, L].
class InstanceNorm1d final : public InstanceNorm {
public:
    explicit InstanceNorm1d(std::int64_t channels, InstanceNormOptions options = {})
        : InstanceNorm("InstanceNorm1d", 3, channels, options) {}
};
/// x: [N, C, H, W] or [C, H, W].
class InstanceNorm2d final : public InstanceNorm {
public:
    explicit InstanceNorm2d(std::int64_t channels, InstanceNormOptions options = {})
        : InstanceNorm("InstanceNorm2d", 4, channels, options) {}
};
/// x: [N, C, D, H, W] or [C, D, H, W].
class InstanceNorm3d final : public InstanceNorm {
public:
    explicit InstanceNorm3d(std::int64_t channels, InstanceNormOptions options = {})
        : InstanceNorm("InstanceNorm3d", 5, channels, options) {}
};

/// x: [N, C, ...]. Parameters: weight, bias [C].
class GroupNorm final : public Module {
public:
    /// Throws Error unless groups divide channels.
    GroupNorm(std::int64_t groups, std::int64_t channels, double eps = 1e-5, bool affine = true);
    Tensor forward(const Tensor& x) override;
    std::string details() const override;

    Tensor weight;
    Tensor bias;

private:
    std::int64_t m_groups;
    std::int64_t m_channels;
    double m_eps;
};

/// x: [..., normalized_shape]. Parameter: weight. eps below 0: the dtype's machine epsilon.
class RMSNorm final : public Module {
public:
    explicit RMSNorm(Dims normalized_shape, double eps = -1, bool affine = true);
    Tensor forward(const Tensor& x) override;
    std::string details() const override;

    Tensor weight;

private:
    Dims m_shape;
    double m_eps;
};

/// x: [N, C, ...].
class LocalResponseNorm final : public Module {
public:
    explicit LocalResponseNorm(std::int64_t size, double alpha = 1e-4, double beta = 0.75,
                               double k = 1);
    Tensor forward(const Tensor& x) override;
    std::string details() const override;

private:
    std::int64_t m_size;
    double m_alpha;
    double m_beta;
    double m_k;
};

}  // namespace tapescope::engine::nn
