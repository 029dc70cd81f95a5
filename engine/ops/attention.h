// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <optional>

namespace tapescope::engine {

struct AttentionParams {
    double dropout_p = 0;
    bool is_causal = false;
    std::optional<double> scale;  ///< 1 / sqrt(E) unless given
    bool enable_gqa = false;      ///< fewer key and value heads than query heads
};
/// softmax(query key^T * scale + mask) value. query [..., L, E], key [..., S, E], value [..., S,
/// Ev]; attn_mask (bool: true = takes part; or added; may be undefined) broadcasts to [..., L, S].
/// A row whose keys are all masked gives 0. Without dropout and without a gradient for the mask one
/// kernel that never holds all scores; else by softmax and matmul. Throws ShapeError, DTypeError,
/// and Error where both a mask and is_causal are given.
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask = {},
                                    const AttentionParams& params = {}, Site site = {});

/// What torch.nn.functional.multi_head_attention_forward takes besides the inputs. Undefined
/// tensors are left out.
struct MultiHeadAttentionParams {
    std::int64_t num_heads = 1;
    Tensor in_proj_weight;  ///< [3E, E]; or the three below, [E, E], [E, kdim], [E, vdim]
    Tensor q_proj_weight;
    Tensor k_proj_weight;
    Tensor v_proj_weight;
    Tensor in_proj_bias;  ///< [3E]
    Tensor bias_k;        ///< [1, 1, E], appended to the keys, as bias_v to the values
    Tensor bias_v;
    bool add_zero_attn = false;
    double dropout_p = 0;
    Tensor out_proj_weight;  ///< [E, E]
    Tensor out_proj_bias;
    bool training = true;
    Tensor key_padding_mask;  ///< [N, S] (or [S]): bool true = ignored, or added
    bool need_weights = true;
    Tensor attn_mask;  ///< [L, S] or [N * heads, L, S]: bool true = not allowed, or added
    bool average_attn_weights = true;
    bool is_causal = false;  ///< a hint that attn_mask is causal; used where weights are not needed
};
struct MultiHeadAttentionResult {
    Tensor output;   ///< [L, N, E]
    Tensor weights;  ///< [N, L, S], or [N, heads, L, S]; undefined unless need_weights
};
/// query [L, N, E], key [S, N, ...], value [S, N, ...]; without N for one sequence.
MultiHeadAttentionResult multi_head_attention_forward(const Tensor& query, const Tensor& key,
                                                      const Tensor& value,
                                                      const MultiHeadAttentionParams& params,
                                                      Site site = {});

}  // namespace tapescope::engine
