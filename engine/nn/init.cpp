// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/init.h"

#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"

#include <cmath>

namespace tapescope::engine::nn::init {
namespace {

double fanOf(const Tensor& x, FanMode mode) {
    const Fans both = fans(x);
    return mode == FanMode::FanIn ? both.in : both.out;
}

double xavierStd(const Tensor& x, double gainValue) {
    const Fans both = fans(x);
    return gainValue * std::sqrt(2.0 / (both.in + both.out));
}

}  // namespace

Tensor uniform_(const Tensor& x, double low, double high) {
    const NoGradGuard guard;
    return copy_(x, add(mul(rand(x.sizes(), {.dtype = x.dtype()}), high - low), low));
}

Tensor normal_(const Tensor& x, double mean, double std) {
    const NoGradGuard guard;
    return copy_(x, add(mul(randn(x.sizes(), {.dtype = x.dtype()}), std), mean));
}

Tensor constant_(const Tensor& x, double value) {
    const NoGradGuard guard;
    return fill_(x, value);
}

Tensor zeros_(const Tensor& x) { return constant_(x, 0); }
Tensor ones_(const Tensor& x) { return constant_(x, 1); }

double gain(Nonlinearity nonlinearity, double slope) {
    switch (nonlinearity) {
        case Nonlinearity::Linear:
        case Nonlinearity::Sigmoid:
            return 1;
        case Nonlinearity::Tanh:
            return 5.0 / 3.0;
        case Nonlinearity::Relu:
            return std::sqrt(2.0);
        case Nonlinearity::LeakyRelu:
            return std::sqrt(2.0 / (1 + slope * slope));
        case Nonlinearity::Selu:
            return 3.0 / 4.0;
    }
    return 1;
}

Tensor kaiming_uniform_(const Tensor& x, double slope, FanMode mode, Nonlinearity nonlinearity) {
    const double bound = std::sqrt(3.0) * gain(nonlinearity, slope) / std::sqrt(fanOf(x, mode));
    return uniform_(x, -bound, bound);
}

Tensor kaiming_normal_(const Tensor& x, double slope, FanMode mode, Nonlinearity nonlinearity) {
    return normal_(x, 0, gain(nonlinearity, slope) / std::sqrt(fanOf(x, mode)));
}

Tensor xavier_uniform_(const Tensor& x, double gainValue) {
    const double bound = std::sqrt(3.0) * xavierStd(x, gainValue);
    return uniform_(x, -bound, bound);
}

Tensor xavier_normal_(const Tensor& x, double gainValue) {
    return normal_(x, 0, xavierStd(x, gainValue));
}

Fans fans(const Tensor& weight) {
    if (weight.dim() < 2) {
        throw ShapeError(
            "init: fan in and fan out need a weight of at least 2 dimensions, but it is " +
            weight.meta().toString());
    }
    double receptive = 1;
    for (int i = 2; i < weight.dim(); ++i) receptive *= static_cast<double>(weight.size(i));
    return {static_cast<double>(weight.size(1)) * receptive,
            static_cast<double>(weight.size(0)) * receptive};
}

void defaultWeightAndBias(const Tensor& weight, const Tensor& bias) {
    kaiming_uniform_(weight, std::sqrt(5.0));
    if (!bias.defined()) return;
    const double bound = 1 / std::sqrt(fans(weight).in);
    uniform_(bias, -bound, bound);
}

}  // namespace tapescope::engine::nn::init
