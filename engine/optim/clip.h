// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tapescope::engine::optim {

/// The norm of all gradients together, 0-d. norm_type: 2 Euclidean, infinity the largest, any p.
/// Parameters without a gradient count as 0. In float32 it is infinite where the sum of the powers
/// is beyond float32, as PyTorch's. Throws Error if error_if_nonfinite and it is NaN or infinite.
/// Source: torch.nn.utils.get_total_norm.
Tensor get_total_norm(const std::vector<Tensor>& params, double norm_type = 2,
                      bool error_if_nonfinite = false, Site site = {});

/// Scales the gradients by max_norm / (total_norm + 1e-6) where that is below 1. Source:
/// torch.nn.utils.clip_grads_with_norm_.
void clip_grads_with_norm_(const std::vector<Tensor>& params, double max_norm,
                           const Tensor& total_norm, Site site = {});

/// Both: the gradients' joint norm becomes at most max_norm; returns the norm before. Source:
/// torch.nn.utils.clip_grad_norm_.
Tensor clip_grad_norm_(const std::vector<Tensor>& params, double max_norm, double norm_type = 2,
                       bool error_if_nonfinite = false, Site site = {});

/// Clamps every gradient to [-clip_value, clip_value]. Source: torch.nn.utils.clip_grad_value_.
void clip_grad_value_(const std::vector<Tensor>& params, double clip_value, Site site = {});

/// Why a total norm is what it is, and what clipping by it does.
struct GradientNorm {
    enum class Verdict : std::uint8_t {
        Finite,
        /// Every gradient is finite, their norm is not in their dtype: clipping makes them all 0.
        Overflow,
        /// A gradient holds NaN or an infinity: clipping makes every gradient NaN.
        NonFinite,
    };
    Verdict verdict = Verdict::Finite;
    double norm = 0;                     ///< as get_total_norm gives it
    double wideNorm = 0;                 ///< accumulated in doubles
    std::vector<std::string> nonFinite;  ///< the parameters whose gradients are not finite
    /// One sentence for the user: "overflow of the norm: …"; empty for Verdict::Finite.
    std::string sentence() const;
};

/// Looks at the Euclidean norm of the named parameters' gradients. Before clipping: afterwards the
/// cause is gone.
GradientNorm explain_gradient_norm(std::span<const std::pair<std::string, Tensor>> params);

}  // namespace tapescope::engine::optim
