// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/module.h"

namespace tapescope::engine::nn {

struct BatchNormOptions {
    double eps = 1e-5;
    double momentum = 0.1;  ///< weight of the new statistics in the running ones
    bool affine = true;
    bool track_running_stats = true;
};

/// What BatchNorm1d to BatchNorm3d share. Parameters: weight, bias [C]; buffers: running_mean,
/// running_var [C] (there is no num_batches_tracked: momentum is always a number). Training
/// normalises by the batch and updates the running statistics.
class BatchNorm : public Module {
public:
    Tensor forward(const Tensor& x) final;
    std::string details() const override;

    Tensor weight;
    Tensor bias;
    Tensor running_mean;
    Tensor running_var;

protected:
    BatchNorm(const char* typeName, std::int64_t channels, BatchNormOptions options);
    /// Throws ShapeError unless x has a rank this module takes.
    virtual void checkInput(const Tensor& x) const = 0;
    [[noreturn]] void refuse(const Tensor& x, const char* expected) const;

private:
    std::int64_t m_channels;
    BatchNormOptions m_options;
};

/// x: [N, C] or [N, C, L].
class BatchNorm1d final : public BatchNorm {
public:
    explicit BatchNorm1d(std::int64_t channels, BatchNormOptions options = {});

private:
    void checkInput(const Tensor& x) const override;
};

/// x: [N, C, H, W].
class BatchNorm2d final : public BatchNorm {
public:
    explicit BatchNorm2d(std::int64_t channels, BatchNormOptions options = {});

private:
    void checkInput(const Tensor& x) const override;
};

/// x: [N, C, D, H, W].
class BatchNorm3d final : public BatchNorm {
public:
    explicit BatchNorm3d(std::int64_t channels, BatchNormOptions options = {});

private:
    void checkInput(const Tensor& x) const override;
};

}  // namespace tapescope::engine::nn
