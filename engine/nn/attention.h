// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/linear.h"
#include "engine/nn/module.h"
#include "engine/ops/attention.h"

#include <optional>

namespace tapescope::engine::nn {

struct MultiheadAttentionOptions {
    double dropout = 0;  ///< of the weights, while training
    bool bias = true;
    bool add_bias_kv = false;
    bool add_zero_attn = false;
    std::optional<std::int64_t> kdim;  ///< embed_dim unless given
    std::optional<std::int64_t> vdim;
    bool batch_first = false;
};

/// Attention in several heads. Parameters: in_proj_weight [3E, E] (or q_, k_, v_proj_weight where
/// kdim or vdim differ), in_proj_bias, bias_k, bias_v, out_proj.weight, out_proj.bias.
class MultiheadAttention final : public Module {
public:
    struct Masks {
        Tensor key_padding_mask;
        Tensor attn_mask;
        bool is_causal = false;
    };
    /// Throws Error unless embed_dim is a multiple of num_heads.
    MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads,
                       const MultiheadAttentionOptions& options = {});
    /// Self-attention without masks or weights. x [L, N, E] ([N, L, E] if batch_first, or [L, E]).
    Tensor forward(const Tensor& x) override;
    MultiHeadAttentionResult run(const Tensor& query, const Tensor& key, const Tensor& value,
                                 const Masks& masks, bool need_weights = true,
                                 bool average_attn_weights = true, Site site = {});
    std::string details() const override;

    Tensor in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight, in_proj_bias, bias_k,
        bias_v;
    ModuleRef<Linear> out_proj;

private:
    struct Call {
        Tensor key;
        Tensor value;
        Masks masks;
        bool needWeights = false;
        bool average = true;
    };
    std::int64_t m_heads;
    MultiheadAttentionOptions m_options;
    const Call* m_call = nullptr;  // of run(), while it lasts
    Tensor m_weights;
};

}  // namespace tapescope::engine::nn
