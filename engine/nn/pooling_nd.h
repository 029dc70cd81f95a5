// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/module.h"
#include "engine/ops/nn_pool.h"

namespace tapescope::engine::nn {

/// What poolings with windows share: x [N, C, ...] or [C, ...]; without a stride, windows do not
/// overlap.
class WindowPool : public Module {
public:
    std::string details() const override;

protected:
    WindowPool(const char* typeName, int rank, const PoolParams& params);
    const PoolParams& params() const { return m_params; }

private:
    PoolParams m_params;
};
class MaxPool1d final : public WindowPool {
public:
    explicit MaxPool1d(const PoolParams& params) : WindowPool("MaxPool1d", 1, params) {}
    Tensor forward(const Tensor& x) override;
};
class MaxPool3d final : public WindowPool {
public:
    explicit MaxPool3d(const PoolParams& params) : WindowPool("MaxPool3d", 3, params) {}
    Tensor forward(const Tensor& x) override;
};
class AvgPool1d final : public WindowPool {
public:
    explicit AvgPool1d(const PoolParams& params) : WindowPool("AvgPool1d", 1, params) {}
    Tensor forward(const Tensor& x) override;
};
class AvgPool3d final : public WindowPool {
public:
    explicit AvgPool3d(const PoolParams& params) : WindowPool("AvgPool3d", 3, params) {}
    Tensor forward(const Tensor& x) override;
};

/// (sum of x^norm_type over the window)^(1/norm_type).
class LPPool : public WindowPool {
public:
    std::string details() const override;

protected:
    LPPool(const char* typeName, int rank, double norm_type, const PoolParams& params)
        : WindowPool(typeName, rank, params), m_normType(norm_type) {}
    double normType() const { return m_normType; }

private:
    double m_normType;
};
class LPPool1d final : public LPPool {
public:
    LPPool1d(double norm_type, const PoolParams& params)
        : LPPool("LPPool1d", 1, norm_type, params) {}
    Tensor forward(const Tensor& x) override;
};
class LPPool2d final : public LPPool {
public:
    LPPool2d(double norm_type, const PoolParams& params)
        : LPPool("LPPool2d", 2, norm_type, params) {}
    Tensor forward(const Tensor& x) override;
};
class LPPool3d final : public LPPool {
public:
    LPPool3d(double norm_type, const PoolParams& params)
        : LPPool("LPPool3d", 3, norm_type, params) {}
    Tensor forward(const Tensor& x) override;
};

/// What poolings to a given size share; -1 keeps the input's.
class SizedPool : public Module {
public:
    std::string details() const override;

protected:
    SizedPool(const char* typeName, int rank, const Dims& output_size);
    const Dims& outputSize() const { return m_outputSize; }

private:
    Dims m_outputSize;
};
class AdaptiveAvgPool1d final : public SizedPool {
public:
    explicit AdaptiveAvgPool1d(const Dims& output_size)
        : SizedPool("AdaptiveAvgPool1d", 1, output_size) {}
    Tensor forward(const Tensor& x) override;
};
class AdaptiveAvgPool3d final : public SizedPool {
public:
    explicit AdaptiveAvgPool3d(const Dims& output_size)
        : SizedPool("AdaptiveAvgPool3d", 3, output_size) {}
    Tensor forward(const Tensor& x) override;
};
class AdaptiveMaxPool1d final : public SizedPool {
public:
    explicit AdaptiveMaxPool1d(const Dims& output_size)
        : SizedPool("AdaptiveMaxPool1d", 1, output_size) {}
    Tensor forward(const Tensor& x) override;
};
class AdaptiveMaxPool2d final : public SizedPool {
public:
    explicit AdaptiveMaxPool2d(const Dims& output_size)
        : SizedPool("AdaptiveMaxPool2d", 2, output_size) {}
    Tensor forward(const Tensor& x) override;
};
class AdaptiveMaxPool3d final : public SizedPool {
public:
    explicit AdaptiveMaxPool3d(const Dims& output_size)
        : SizedPool("AdaptiveMaxPool3d", 3, output_size) {}
    Tensor forward(const Tensor& x) override;
};

// Unpoolings take two tensors and hold no parameters: plain function objects, not Modules.
struct MaxUnpool1d {
    PoolParams params;
    Tensor operator()(const Tensor& x, const Tensor& indices, const Dims& output_size = {},
                      Site site = {}) const {
        return max_unpool1d(x, indices, params, output_size, site);
    }
};
struct MaxUnpool2d {
    PoolParams params;
    Tensor operator()(const Tensor& x, const Tensor& indices, const Dims& output_size = {},
                      Site site = {}) const {
        return max_unpool2d(x, indices, params, output_size, site);
    }
};
struct MaxUnpool3d {
    PoolParams params;
    Tensor operator()(const Tensor& x, const Tensor& indices, const Dims& output_size = {},
                      Site site = {}) const {
        return max_unpool3d(x, indices, params, output_size, site);
    }
};

}  // namespace tapescope::engine::nn
