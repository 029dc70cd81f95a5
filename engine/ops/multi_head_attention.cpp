// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/attention.h"
#include "engine/ops/checks.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

#include <array>
#include <cmath>
#include <limits>

namespace tapescope::engine {

namespace {

constexpr std::string_view kOp = "multi_head_attention_forward";

using Three = std::array<Tensor, 3>;

Tensor rowsOf(const Tensor& x, std::int64_t part, std::int64_t size) {
    return x.defined() ? narrow(x, 0, part * size, size) : Tensor();
}

/// query, key and value through their projections; as one product where they are one tensor.
Three project(const Tensor& query, const Tensor& key, const Tensor& value,
              const MultiHeadAttentionParams& p, Site site) {
    const std::int64_t width = query.size(-1);
    const bool packed = p.in_proj_weight.defined();
    if (packed && same(query, key) && same(key, value)) {
        const Tensor all = linear(query, p.in_proj_weight, p.in_proj_bias, site);
        return {narrow(all, -1, 0, width, site), narrow(all, -1, width, width, site),
                narrow(all, -1, 2 * width, width, site)};
    }
    const Three weights =
        packed ? Three{rowsOf(p.in_proj_weight, 0, width), rowsOf(p.in_proj_weight, 1, width),
                       rowsOf(p.in_proj_weight, 2, width)}
               : Three{p.q_proj_weight, p.k_proj_weight, p.v_proj_weight};
    return {linear(query, weights[0], rowsOf(p.in_proj_bias, 0, width), site),
            linear(key, weights[1], rowsOf(p.in_proj_bias, 1, width), site),
            linear(value, weights[2], rowsOf(p.in_proj_bias, 2, width), site)};
}

/// A mask as what is added to the scores: -infinity where a bool one is true.
Tensor additive(const Tensor& mask, DType dtype) {
    if (mask.dtype() != DType::Bool) return mask;
    const Tensor nothing = zeros(mask.sizes(), {.dtype = dtype});
    return masked_fill(nothing, mask, -std::numeric_limits<double>::infinity());
}

/// [L, N, E] as [N, heads, L, E / heads].
Tensor byHead(const Tensor& x, std::int64_t heads, Site site) {
    const Tensor split = reshape(x, {x.size(0), x.size(1), heads, x.size(2) / heads}, site);
    return permute(split, {1, 2, 0, 3}, site);
}

/// Both masks as one that broadcasts to [N, heads, L, S]; undefined if there is none. `added` keys
/// at the end are always seen.
Tensor joinedMask(const MultiHeadAttentionParams& p, const Tensor& q, std::int64_t keys,
                  std::int64_t added) {
    const std::int64_t n = q.size(0);
    const std::int64_t heads = q.size(1);
    const std::int64_t rows = q.size(2);
    Tensor mask;
    if (p.attn_mask.defined()) {
        const Tensor given = additive(p.attn_mask, q.dtype());
        if (given.sizes() == Dims{rows, keys}) {
            mask = reshape(given, {1, 1, rows, keys});
        } else if (given.sizes() == Dims{n * heads, rows, keys}) {
            mask = reshape(given, {n, heads, rows, keys});
        } else {
            throw ShapeError(message(kOp, ": attn_mask ", given.sizes(), " must be ",
                                     Dims{rows, keys}, " or ", Dims{n * heads, rows, keys}));
        }
    }
    if (p.key_padding_mask.defined()) {
        const Tensor padding = additive(p.key_padding_mask, q.dtype());
        if (padding.numel() != n * keys)
            throw ShapeError(
                message(kOp, ": key_padding_mask ", padding.sizes(), " must be ", Dims{n, keys}));
        const Tensor wide = reshape(padding, {n, 1, 1, keys});
        mask = mask.defined() ? add(mask, wide) : wide;
    }
    return mask.defined() && added > 0 ? pad(mask, {0, added}) : mask;
}

void check(const Tensor& query, const Tensor& key, const Tensor& value,
           const MultiHeadAttentionParams& p) {
    checkRank(kOp, "query", query, 3, "[L, N, E] (or [L, E] with key and value alike)");
    checkRank(kOp, "key", key, 3, "[S, N, E]");
    checkRank(kOp, "value", value, 3, "[S, N, E]");
    if (p.num_heads < 1 || query.size(2) % p.num_heads != 0)
        throw ShapeError(message(kOp, ": the embedding size ", query.size(2),
                                 " must be divisible by num_heads ", p.num_heads));
    if (key.size(0) != value.size(0) || key.size(1) != value.size(1) ||
        key.size(1) != query.size(1))
        throw ShapeError(message(kOp, ": query ", query.sizes(), ", key ", key.sizes(),
                                 " and value ", value.sizes(), " do not fit together"));
    if (p.bias_k.defined() != p.bias_v.defined())
        throw Error(message(kOp, ": bias_k and bias_v must be given together"));
}

/// x [S, N, E] with one more key: bias for every sequence of the batch, or zeros.
Tensor withKey(const Tensor& x, const Tensor& bias) {
    const Dims sizes{1, x.size(1), x.size(2)};
    const Tensor parts[] = {
        x, bias.defined() ? expand(bias, sizes) : zeros(sizes, {.dtype = x.dtype()})};
    return cat(parts, 0);
}

}  // namespace

MultiHeadAttentionResult multi_head_attention_forward(const Tensor& query, const Tensor& key,
                                                      const Tensor& value,
                                                      const MultiHeadAttentionParams& params,
                                                      Site site) {
    if (query.dim() == 2 && key.dim() == 2 && value.dim() == 2) {
        const Tensor q = unsqueeze(query, 1);
        const Tensor k = same(key, query) ? q : unsqueeze(key, 1);
        const Tensor v = same(value, key) ? k : unsqueeze(value, 1);
        MultiHeadAttentionResult one = multi_head_attention_forward(q, k, v, params, site);
        one.output = squeeze(one.output, 1);
        if (one.weights.defined()) one.weights = squeeze(one.weights, 0);
        return one;
    }
    check(query, key, value, params);
    const std::int64_t rows = query.size(0);
    const std::int64_t n = query.size(1);
    const std::int64_t width = query.size(2);
    const std::int64_t keys = key.size(0);
    auto [q, k, v] = project(query, key, value, params, site);
    std::int64_t added = 0;
    if (params.bias_k.defined()) {
        k = withKey(k, params.bias_k);
        v = withKey(v, params.bias_v);
        ++added;
    }
    if (params.add_zero_attn) {
        k = withKey(k, {});
        v = withKey(v, {});
        ++added;
    }
    const Tensor qh = byHead(q, params.num_heads, site);
    const Tensor kh = byHead(k, params.num_heads, site);
    const Tensor vh = byHead(v, params.num_heads, site);
    const double rate = params.training ? params.dropout_p : 0;
    MultiHeadAttentionResult result;
    Tensor context;
    if (params.need_weights) {
        const Tensor mask = joinedMask(params, qh, keys, added);
        const double scale = 1 / std::sqrt(static_cast<double>(width / params.num_heads));
        Tensor scores = matmul(mul(qh, scale, site), transpose(kh, -2, -1, site), site);
        if (mask.defined()) scores = add(scores, mask, site);
        const Tensor weights = dropout(softmax(scores, -1, site), rate, rate > 0, site);
        context = matmul(weights, vh, site);
        result.weights = params.average_attn_weights ? mean(weights, {1}, false, site) : weights;
    } else {
        const bool causalOnly =
            params.is_causal && !params.key_padding_mask.defined() && added == 0;
        const Tensor mask = causalOnly ? Tensor() : joinedMask(params, qh, keys, added);
        AttentionParams attention;
        attention.dropout_p = rate;
        attention.is_causal = causalOnly;
        context = scaled_dot_product_attention(qh, kh, vh, mask, attention, site);
    }
    const Tensor joined = reshape(permute(context, {2, 0, 1, 3}, site), {rows, n, width}, site);
    result.output = linear(joined, params.out_proj_weight, params.out_proj_bias, site);
    return result;
}

}  // namespace tapescope::engine
