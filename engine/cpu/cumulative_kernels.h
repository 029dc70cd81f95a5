// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"

#include <span>

namespace tapescope::engine::cpu {

// Running values along attribute 0 = dim.
void cumprod(const OpArgs& args, std::span<Tensor> outputs);
void cummax(const OpArgs& args, std::span<Tensor> outputs);
void cummin(const OpArgs& args, std::span<Tensor> outputs);
void logcumsumexp(const OpArgs& args, std::span<Tensor> outputs);
/// Inputs g, x, y = logcumsumexp(x); attribute 1 = forward. The sum over j >= i of
/// g_j exp(x_i - y_j), or with forward the sum over i <= j of g_i exp(x_i - y_j). In one pass, as
/// both satisfy a recurrence in exp(y_i - y_{i+1}) <= 1, so that nothing overflows.
void logcumsumexpGrad(const OpArgs& args, std::span<Tensor> outputs);

}  // namespace tapescope::engine::cpu
