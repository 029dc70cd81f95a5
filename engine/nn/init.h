// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

namespace tapescope::engine::nn::init {

/// Fill x in place, without a graph, from the Context's generator. Return x.
Tensor uniform_(const Tensor& x, double low = 0, double high = 1);
Tensor normal_(const Tensor& x, double mean = 0, double std = 1);
Tensor constant_(const Tensor& x, double value);
Tensor zeros_(const Tensor& x);
Tensor ones_(const Tensor& x);

enum class FanMode : std::uint8_t { FanIn, FanOut };
enum class Nonlinearity : std::uint8_t { Linear, Sigmoid, Tanh, Relu, LeakyRelu, Selu };

/// What an activation shrinks a signal by, inverted; slope is LeakyRelu's. Source:
/// torch.nn.init.calculate_gain.
double gain(Nonlinearity nonlinearity, double slope = 0.01);

/// He et al. 2015. x: at least 2-d, [out, in, ...]. slope is LeakyRelu's negative slope (a in
/// PyTorch).
Tensor kaiming_uniform_(const Tensor& x, double slope = 0, FanMode mode = FanMode::FanIn,
                        Nonlinearity nonlinearity = Nonlinearity::LeakyRelu);
Tensor kaiming_normal_(const Tensor& x, double slope = 0, FanMode mode = FanMode::FanIn,
                       Nonlinearity nonlinearity = Nonlinearity::LeakyRelu);
/// Glorot and Bengio 2010. x: at least 2-d.
Tensor xavier_uniform_(const Tensor& x, double gain = 1);
Tensor xavier_normal_(const Tensor& x, double gain = 1);

/// The identity. x: 2-d.
Tensor eye_(const Tensor& x);
/// Keeps the channels of a convolution's input. x: a weight of 3 to 5 dimensions.
Tensor dirac_(const Tensor& x, std::int64_t groups = 1);
/// normal(mean, std), drawn between low and high.
Tensor trunc_normal_(const Tensor& x, double mean = 0, double std = 1, double low = -2,
                     double high = 2);
/// Rows (or columns, whichever are fewer) of length gain, at right angles. x: at least 2-d, all
/// dimensions but the first as one. Source: Saxe et al. 2013.
Tensor orthogonal_(const Tensor& x, double gain = 1);
/// normal(0, std) with a share of zeros in each column. x: 2-d. Source: Martens 2010.
Tensor sparse_(const Tensor& x, double sparsity, double std = 0.01);

struct Fans {
    double in = 0;
    double out = 0;
};
/// Inputs and outputs a weight [out, in, ...] connects one unit to. Throws ShapeError below two
/// dimensions.
Fans fans(const Tensor& weight);

/// PyTorch's default for Linear and Conv2d: weights by kaiming_uniform_ with a = sqrt(5), the bias
/// (may be undefined) uniform within ±1/sqrt(fan in).
void defaultWeightAndBias(const Tensor& weight, const Tensor& bias);

}  // namespace tapescope::engine::nn::init
