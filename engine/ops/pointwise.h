// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <concepts>
#include <cstdint>

namespace tapescope::engine {

/// An operand of a C++ operator: a tensor or a number, with the place where the expression stands.
struct Operand {
    Tensor tensor;
    Site site;
    Operand(const Tensor& t, Site s = {})
        : tensor(t), site(s) {}           // NOLINT(google-explicit-constructor)
    Operand(double number, Site s = {});  // NOLINT(google-explicit-constructor)
    template <std::integral Number>
    Operand(Number number, Site s = {});  // NOLINT(google-explicit-constructor)
};

/// A number as an operand: 0-d, and in type promotion it counts only by its category.
Tensor wrappedNumber(double number);
Tensor wrappedNumber(std::int64_t number);
template <std::integral Number>
Operand::Operand(Number number, Site s)
    : Operand(wrappedNumber(static_cast<std::int64_t>(number)), s) {}

// Binary, with broadcasting and type promotion. Source: PyTorch's definitions.
Tensor add(const Tensor& a, const Tensor& b, Site site = {});
Tensor sub(const Tensor& a, const Tensor& b, Site site = {});
Tensor mul(const Tensor& a, const Tensor& b, Site site = {});
Tensor div(const Tensor& a, const Tensor& b,
           Site site = {});  ///< true division; integers give float32
Tensor pow(const Tensor& a, const Tensor& b, Site site = {});
Tensor maximum(const Tensor& a, const Tensor& b,
               Site site = {});  ///< NaN wins; at ties half the gradient each
Tensor minimum(const Tensor& a, const Tensor& b, Site site = {});
Tensor lerp(const Tensor& start, const Tensor& end, const Tensor& weight, Site site = {});
Tensor add(const Tensor& a, double b, Site site = {});
Tensor sub(const Tensor& a, double b, Site site = {});
Tensor mul(const Tensor& a, double b, Site site = {});
Tensor div(const Tensor& a, double b, Site site = {});
Tensor pow(const Tensor& a, double b, Site site = {});

inline Tensor operator+(const Operand& a, const Operand& b) {
    return add(a.tensor, b.tensor, a.site);
}
inline Tensor operator-(const Operand& a, const Operand& b) {
    return sub(a.tensor, b.tensor, a.site);
}
inline Tensor operator*(const Operand& a, const Operand& b) {
    return mul(a.tensor, b.tensor, a.site);
}
inline Tensor operator/(const Operand& a, const Operand& b) {
    return div(a.tensor, b.tensor, a.site);
}
Tensor operator-(const Operand& a);

// Unary. The float-only ones take integers as float32.
Tensor neg(const Tensor& x, Site site = {});
Tensor abs(const Tensor& x, Site site = {});
Tensor sign(const Tensor& x, Site site = {});
Tensor exp(const Tensor& x, Site site = {});
Tensor log(const Tensor& x, Site site = {});
Tensor sqrt(const Tensor& x, Site site = {});
Tensor rsqrt(const Tensor& x, Site site = {});
Tensor square(const Tensor& x, Site site = {});
Tensor reciprocal(const Tensor& x, Site site = {});
Tensor sin(const Tensor& x, Site site = {});
Tensor cos(const Tensor& x, Site site = {});
Tensor tanh(const Tensor& x, Site site = {});
Tensor sigmoid(const Tensor& x, Site site = {});
Tensor floor(const Tensor& x, Site site = {});
Tensor relu(const Tensor& x, Site site = {});
Tensor leaky_relu(const Tensor& x, double negative_slope = 0.01, Site site = {});
Tensor elu(const Tensor& x, double alpha = 1.0, Site site = {});
Tensor gelu(const Tensor& x, Site site = {});  ///< exact, with erf
Tensor silu(const Tensor& x, Site site = {});
Tensor softplus(const Tensor& x, Site site = {});
Tensor clamp(const Tensor& x, double min, double max, Site site = {});

// Comparisons give bool.
Tensor eq(const Tensor& a, const Tensor& b, Site site = {});
Tensor ne(const Tensor& a, const Tensor& b, Site site = {});
Tensor lt(const Tensor& a, const Tensor& b, Site site = {});
Tensor le(const Tensor& a, const Tensor& b, Site site = {});
Tensor gt(const Tensor& a, const Tensor& b, Site site = {});
Tensor ge(const Tensor& a, const Tensor& b, Site site = {});
Tensor logical_not(const Tensor& x, Site site = {});
Tensor logical_and(const Tensor& a, const Tensor& b, Site site = {});
Tensor logical_or(const Tensor& a, const Tensor& b, Site site = {});
Tensor isnan(const Tensor& x, Site site = {});
Tensor isinf(const Tensor& x, Site site = {});

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b, Site site = {});
Tensor masked_fill(const Tensor& x, const Tensor& mask, double value, Site site = {});

// In place; return x.
Tensor add_(const Tensor& x, const Tensor& other, Site site = {});
Tensor sub_(const Tensor& x, const Tensor& other, Site site = {});
Tensor mul_(const Tensor& x, const Tensor& other, Site site = {});
Tensor div_(const Tensor& x, const Tensor& other, Site site = {});
Tensor relu_(const Tensor& x, Site site = {});
Tensor fill_(const Tensor& x, double value, Site site = {});
Tensor zero_(const Tensor& x, Site site = {});
Tensor copy_(const Tensor& x, const Tensor& source, Site site = {});  ///< broadcasts and converts

/// The same values as dtype; x itself if it is already.
Tensor to(const Tensor& x, DType dtype, Site site = {});

}  // namespace tapescope::engine
