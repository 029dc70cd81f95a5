// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/module.h"

namespace tapescope::engine::nn {

// One operator of engine/ops each, as a module for Sequential. Shape in = shape out.

class Identity final : public Module {
public:
    Identity() : Module("Identity") {}
    Tensor forward(const Tensor& x) override { return x; }
};

class ReLU final : public Module {
public:
    ReLU() : Module("ReLU") {}
    Tensor forward(const Tensor& x) override;
};

class LeakyReLU final : public Module {
public:
    explicit LeakyReLU(double negative_slope = 0.01)
        : Module("LeakyReLU"), m_slope(negative_slope) {}
    Tensor forward(const Tensor& x) override;
    std::string details() const override;

private:
    double m_slope;
};

class ELU final : public Module {
public:
    explicit ELU(double alpha = 1) : Module("ELU"), m_alpha(alpha) {}
    Tensor forward(const Tensor& x) override;
    std::string details() const override;

private:
    double m_alpha;
};

class GELU final : public Module {
public:
    GELU() : Module("GELU") {}
    Tensor forward(const Tensor& x) override;
};

class SiLU final : public Module {
public:
    SiLU() : Module("SiLU") {}
    Tensor forward(const Tensor& x) override;
};

class Softplus final : public Module {
public:
    Softplus() : Module("Softplus") {}
    Tensor forward(const Tensor& x) override;
};

class Tanh final : public Module {
public:
    Tanh() : Module("Tanh") {}
    Tensor forward(const Tensor& x) override;
};

class Sigmoid final : public Module {
public:
    Sigmoid() : Module("Sigmoid") {}
    Tensor forward(const Tensor& x) override;
};

class Softmax final : public Module {
public:
    explicit Softmax(std::int64_t dim) : Module("Softmax"), m_dim(dim) {}
    Tensor forward(const Tensor& x) override;
    std::string details() const override;

private:
    std::int64_t m_dim;
};

class Softmin final : public Module {
public:
    explicit Softmin(std::int64_t dim) : Module("Softmin"), m_dim(dim) {}
    Tensor forward(const Tensor& x) override;
    std::string details() const override;

private:
    std::int64_t m_dim;
};

class LogSoftmax final : public Module {
public:
    explicit LogSoftmax(std::int64_t dim) : Module("LogSoftmax"), m_dim(dim) {}
    Tensor forward(const Tensor& x) override;
    std::string details() const override;

private:
    std::int64_t m_dim;
};

}  // namespace tapescope::engine::nn
