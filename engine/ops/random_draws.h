// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

namespace tapescope::engine {

// Random numbers beyond those of shape.h, all from the Context's Generator. Which words of it an
// element takes depends on its row-major position only (engine/cpu/random_draws.h), so the same
// seed gives the same values whatever the number of threads.

Tensor rand_like(const Tensor& x, Site site = {});
Tensor randn_like(const Tensor& x, Site site = {});
/// Whole numbers of [low, high). Throws Error unless low < high.
Tensor randint(std::int64_t low, std::int64_t high, const Dims& sizes,
               TensorOptions options = {.dtype = DType::I64}, Site site = {});
Tensor randint(std::int64_t high, const Dims& sizes, TensorOptions options = {.dtype = DType::I64},
               Site site = {});
Tensor randint_like(const Tensor& x, std::int64_t low, std::int64_t high, Site site = {});
/// mean + std z, element by element, broadcast. Throws Error for a negative std. No gradient flows.
Tensor normal(const Tensor& mean, const Tensor& std, Site site = {});
Tensor normal(const Tensor& mean, double std = 1, Site site = {});
Tensor normal(double mean, const Tensor& std, Site site = {});
Tensor normal(double mean, double std, const Dims& sizes, TensorOptions options = {},
              Site site = {});
/// Indices, int64, drawn in proportion to the weights of the last dimension. weights: [n] or
/// [rows, n], floating. Throws Error for a negative or non-finite weight, a row without weight, or
/// more draws without replacement than there are positive weights.
Tensor multinomial(const Tensor& weights, std::int64_t num_samples, bool replacement = false,
                   Site site = {});
/// Poisson numbers of the given rates. Throws Error for a negative rate.
Tensor poisson(const Tensor& rate, Site site = {});

// In place, of floating tensors (random_ and bernoulli_: of any); return x.
Tensor uniform_(const Tensor& x, double from = 0, double to = 1, Site site = {});
Tensor normal_(const Tensor& x, double mean = 0, double std = 1, Site site = {});
Tensor exponential_(const Tensor& x, double lambd = 1, Site site = {});
Tensor bernoulli_(const Tensor& x, double p = 0.5, Site site = {});
/// Whole numbers of [from, to).
Tensor random_(const Tensor& x, std::int64_t from, std::int64_t to, Site site = {});

// Dropout. x itself unless training. Throws Error unless 0 <= p <= 1.

/// Keeps mean and variance of what selu gives: dropped elements become selu's lower limit.
Tensor alpha_dropout(const Tensor& x, double p = 0.5, bool training = true, Site site = {});
/// Whole channels: x [N, C, L] or [C, L].
Tensor dropout1d(const Tensor& x, double p = 0.5, bool training = true, Site site = {});
Tensor dropout2d(const Tensor& x, double p = 0.5, bool training = true, Site site = {});
Tensor dropout3d(const Tensor& x, double p = 0.5, bool training = true, Site site = {});
Tensor feature_alpha_dropout(const Tensor& x, double p = 0.5, bool training = true, Site site = {});

}  // namespace tapescope::engine
