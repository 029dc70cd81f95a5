// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/module.h"

namespace tapescope::engine::nn {

/// One number stands for every spatial dimension.
struct ConvOptions {
    Dims stride{1};
    Dims padding{0};
    Dims dilation{1};
    std::int64_t groups = 1;
    bool bias = true;
};
struct ConvTransposeOptions {
    Dims stride{1};
    Dims padding{0};
    Dims output_padding{0};
    Dims dilation{1};
    std::int64_t groups = 1;
    bool bias = true;
};

/// What convolutions of any rank share. Throw Error for sizes below 1 or channels that groups do
/// not divide. PyTorch's default initialisation.
class ConvNd : public Module {
public:
    std::string details() const override;

    Tensor weight;
    Tensor bias;  ///< undefined without bias

protected:
    ConvNd(const char* typeName, int rank, bool transposed, std::int64_t in_channels,
           std::int64_t out_channels, const Dims& kernel, const ConvTransposeOptions& options);
    const ConvTransposeOptions& options() const { return m_options; }

private:
    std::int64_t m_inChannels;
    std::int64_t m_outChannels;
    Dims m_kernel;
    ConvTransposeOptions m_options;
};

/// x: [N, in, L]. weight [out, in/groups, k].
class Conv1d final : public ConvNd {
public:
    Conv1d(std::int64_t in_channels, std::int64_t out_channels, const Dims& kernel,
           const ConvOptions& options = {});
    Tensor forward(const Tensor& x) override;
};
/// x: [N, in, D, H, W]. weight [out, in/groups, kD, kH, kW].
class Conv3d final : public ConvNd {
public:
    Conv3d(std::int64_t in_channels, std::int64_t out_channels, const Dims& kernel,
           const ConvOptions& options = {});
    Tensor forward(const Tensor& x) override;
};
/// x: [N, in, L]. weight [in, out/groups, k].
class ConvTranspose1d final : public ConvNd {
public:
    ConvTranspose1d(std::int64_t in_channels, std::int64_t out_channels, const Dims& kernel,
                    const ConvTransposeOptions& options = {});
    Tensor forward(const Tensor& x) override;
};
/// x: [N, in, H, W]. weight [in, out/groups, kH, kW].
class ConvTranspose2d final : public ConvNd {
public:
    ConvTranspose2d(std::int64_t in_channels, std::int64_t out_channels, const Dims& kernel,
                    const ConvTransposeOptions& options = {});
    Tensor forward(const Tensor& x) override;
};
/// x: [N, in, D, H, W]. weight [in, out/groups, kD, kH, kW].
class ConvTranspose3d final : public ConvNd {
public:
    ConvTranspose3d(std::int64_t in_channels, std::int64_t out_channels, const Dims& kernel,
                    const ConvTransposeOptions& options = {});
    Tensor forward(const Tensor& x) override;
};

}  // namespace tapescope::engine::nn
