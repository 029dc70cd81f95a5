// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/attention.h"

#include "engine/errors.h"
#include "engine/nn/init.h"
#include "engine/nn/number_text.h"
#include "engine/ops/shape.h"

#include <utility>

namespace tapescope::engine::nn {

MultiheadAttention::MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads,
                                       const MultiheadAttentionOptions& options)
    : Module("MultiheadAttention"), m_heads(num_heads), m_options(options) {
    if (embed_dim < 1 || num_heads < 1 || embed_dim % num_heads != 0)
        throw Error("MultiheadAttention: embed_dim " + std::to_string(embed_dim) +
                    " must be a positive multiple of num_heads " + std::to_string(num_heads));
    const std::int64_t kdim = options.kdim.value_or(embed_dim);
    const std::int64_t vdim = options.vdim.value_or(embed_dim);
    const auto projection = [&](const std::string& name, const Dims& sizes) {
        return register_parameter(name, init::xavier_uniform_(Tensor::empty(sizes)));
    };
    if (kdim == embed_dim && vdim == embed_dim) {
        in_proj_weight = projection("in_proj_weight", {3 * embed_dim, embed_dim});
    } else {
        q_proj_weight = projection("q_proj_weight", {embed_dim, embed_dim});
        k_proj_weight = projection("k_proj_weight", {embed_dim, kdim});
        v_proj_weight = projection("v_proj_weight", {embed_dim, vdim});
    }
    if (options.bias)
        in_proj_bias =
            register_parameter("in_proj_bias", init::zeros_(Tensor::empty({3 * embed_dim})));
    if (options.add_bias_kv) {
        bias_k =
            register_parameter("bias_k", init::xavier_normal_(Tensor::empty({1, 1, embed_dim})));
        bias_v =
            register_parameter("bias_v", init::xavier_normal_(Tensor::empty({1, 1, embed_dim})));
    }
    out_proj = register_module<Linear>("out_proj", embed_dim, embed_dim, options.bias);
    if (options.bias) init::zeros_(out_proj->bias);
}

Tensor MultiheadAttention::forward(const Tensor& x) {
    const Call alone{x, x, {}, false, true};
    const Call& c = m_call ? *m_call : alone;
    const bool swapped = m_options.batch_first && x.dim() == 3;
    // One tensor stays one: its three projections are then one product.
    const auto timeFirst = [&](const Tensor& t) { return swapped ? transpose(t, 0, 1) : t; };
    const Tensor query = timeFirst(x);
    const Tensor key = same(c.key, x) ? query : timeFirst(c.key);
    const Tensor value = same(c.value, c.key) ? key : timeFirst(c.value);
    MultiHeadAttentionParams p;
    p.num_heads = m_heads;
    p.in_proj_weight = in_proj_weight;
    p.q_proj_weight = q_proj_weight;
    p.k_proj_weight = k_proj_weight;
    p.v_proj_weight = v_proj_weight;
    p.in_proj_bias = in_proj_bias;
    p.bias_k = bias_k;
    p.bias_v = bias_v;
    p.add_zero_attn = m_options.add_zero_attn;
    p.dropout_p = m_options.dropout;
    p.out_proj_weight = out_proj->weight;
    p.out_proj_bias = out_proj->bias;
    p.training = is_training();
    p.key_padding_mask = c.masks.key_padding_mask;
    p.need_weights = c.needWeights;
    p.attn_mask = c.masks.attn_mask;
    p.average_attn_weights = c.average;
    p.is_causal = c.masks.is_causal;
    MultiHeadAttentionResult result =
        multi_head_attention_forward(query, key, value, p, callSite());
    if (m_call) m_weights = std::move(result.weights);
    return swapped ? transpose(result.output, 0, 1) : result.output;
}

MultiHeadAttentionResult MultiheadAttention::run(const Tensor& query, const Tensor& key,
                                                 const Tensor& value, const Masks& masks,
                                                 bool need_weights, bool average_attn_weights,
                                                 Site site) {
    const Call arguments{key, value, masks, need_weights, average_attn_weights};
    struct Scope {
        const Call*& place;
        ~Scope() { place = nullptr; }
    } const scope{m_call};
    m_call = &arguments;
    Tensor output = call(query, site);
    return {std::move(output), std::exchange(m_weights, Tensor())};
}

std::string MultiheadAttention::details() const {
    std::string text = std::to_string(out_proj->weight.size(0)) + ", " + std::to_string(m_heads) +
                       (m_heads == 1 ? " head" : " heads");
    if (m_options.dropout > 0) text += ", dropout " + numberText(m_options.dropout);
    return text + (m_options.batch_first ? ", batch first" : "");
}

}  // namespace tapescope::engine::nn
