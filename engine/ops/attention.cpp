// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/attention.h"

#include "engine/cpu/attention.h"
#include "engine/observe/context.h"
#include "engine/ops/checks.h"
#include "engine/ops/composed_vjp.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/sequence_rows.h"
#include "engine/ops/shape.h"

#include <cmath>
#include <limits>

namespace tapescope::engine {

namespace {

constexpr std::string_view kOp = "scaled_dot_product_attention";

struct Settings {
    bool causal;
    double scale;
    bool grouped;
};
/// A scale of 0 (it would make every weight equal) stands for the default.
Settings settingsOf(const Attrs& attrs, std::int64_t width) {
    const double scale = attrs.real(1);
    return {attrs.flag(0), scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(width)),
            attrs.flag(2)};
}

Dims inFront(const Tensor& x, int count) {
    Dims sizes = x.sizes();
    sizes.resize(sizes.size() - count);
    return sizes;
}

void checkInputs(const OpArgs& a, int q, bool causal, bool grouped) {
    const Tensor& query = a[q];
    const Tensor& key = a[q + 1];
    const Tensor& value = a[q + 2];
    const int rank = query.dim();
    if (rank < 2 || key.dim() != rank || value.dim() != rank)
        throw ShapeError(message(kOp, ": query ", query.sizes(), ", key ", key.sizes(),
                                 " and value ", value.sizes(),
                                 " must have the same number of dimensions, at least 2"));
    checkFloating(kOp, "query", query);
    checkSameDType(kOp, "query", query, "key", key);
    checkSameDType(kOp, "query", query, "value", value);
    if (query.size(-1) != key.size(-1))
        throw ShapeError(message(kOp, ": query ", query.sizes(), " and key ", key.sizes(),
                                 " must have the same last size"));
    if (key.size(-2) != value.size(-2))
        throw ShapeError(message(kOp, ": key ", key.sizes(), " and value ", value.sizes(),
                                 " must have the same length"));
    const int unequal = grouped && rank >= 3 ? 3 : 2;
    if (inFront(query, unequal) != inFront(key, unequal) || inFront(key, 2) != inFront(value, 2))
        throw ShapeError(message(kOp, ": query ", query.sizes(), ", key ", key.sizes(),
                                 " and value ", value.sizes(), " differ in their batch or heads"));
    if (unequal == 3 && (key.size(-3) == 0 || query.size(-3) % key.size(-3) != 0))
        throw ShapeError(message(kOp, ": the query's ", query.size(-3),
                                 " heads must be a multiple of the key's ", key.size(-3)));
    if (!a.has(q + 3)) return;
    const Tensor& mask = a[q + 3];
    if (causal) throw Error(message(kOp, ": attn_mask must not be given together with is_causal"));
    if (mask.dtype() != DType::Bool && mask.dtype() != query.dtype())
        throw DTypeError(message(kOp, ": attn_mask is ", mask.dtype(), "; it must be bool or ",
                                 query.dtype(), " as query"));
    Dims scores = inFront(query, 1);
    scores.push_back(key.size(-2));
    Dims both;
    if (!broadcastShapes(mask.sizes(), scores, both) || both != scores)
        throw ShapeError(message(kOp, ": attn_mask ", mask.sizes(),
                                 " does not broadcast to the scores ", scores));
}

void inferAttention(const OpArgs& a, OutputMetas& out) {
    checkInputs(a, 0, a.attrs.flag(0), a.attrs.flag(2));
    Dims sizes = inFront(a[0], 1);
    sizes.push_back(a[2].size(-1));
    out.add(sizes, a[0].dtype());
    out.add(inFront(a[0], 1), a[0].dtype());
}

cpu::AttentionInputs kernelInputs(const OpArgs& a, int q) {
    const Settings s = settingsOf(a.attrs, a[q].size(-1));
    return {a[q],     a[q + 1], a[q + 2], a.has(q + 3) ? a[q + 3] : undefinedTensor(),
            s.causal, s.scale};
}
void attentionKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::attentionInto(kernelInputs(a, 0), out[0], out[1]);
}

Cost costAttention(const OpArgs& a, std::span<const Tensor> outputs) {
    Cost cost;
    for (const Tensor* t : a.inputs)
        if (t->defined()) cost.bytesRead += static_cast<std::int64_t>(t->nbytes());
    for (const Tensor& t : outputs) cost.bytesWritten += static_cast<std::int64_t>(t.nbytes());
    // Two products; a causal mask leaves half of each.
    const double pairs =
        static_cast<double>(outputs[1].numel()) * static_cast<double>(a[1].size(-2));
    cost.flops = 2 * pairs * static_cast<double>(a[0].size(-1) + a[2].size(-1)) *
                 (a.attrs.flag(0) ? 0.5 : 1);
    return cost;
}

/// Key or value heads, each repeated for the query heads that share it.
Tensor repeatHeads(const Tensor& x, std::int64_t heads) {
    const std::int64_t times = heads / x.size(-3);
    if (times == 1) return x;
    Dims wide = x.sizes();
    wide.insert(wide.size() - 2, times);
    Dims sizes = x.sizes();
    sizes[sizes.size() - 3] = heads;
    return reshape(expand(unsqueeze(x, -3), wide), sizes);
}

/// The scores with what may not be seen at -infinity, and softmax over them; rows without anything
/// to see are 0.
Tensor attentionWeights(const Tensor& query, const Tensor& key, const Tensor& mask,
                        const Settings& s, Site site) {
    Tensor scores = matmul(mul(query, s.scale, site), transpose(key, -2, -1, site), site);
    const Tensor nowhere = wrappedNumber(-std::numeric_limits<double>::infinity());
    if (s.causal) {
        const Tensor rows = unsqueeze(arange(0, static_cast<double>(scores.size(-2))), 1);
        const Tensor columns = arange(0, static_cast<double>(scores.size(-1)));
        scores = where(le(columns, rows, site), scores, nowhere, site);
    }
    if (mask.defined())
        scores = mask.dtype() == DType::Bool ? where(mask, scores, nowhere, site)
                                             : add(scores, mask, site);
    if (scores.size(-1) == 0) return scores;
    const Tensor blind = eq(amax(scores.detach(), {-1}, true), nowhere);
    const Tensor zero = wrappedNumber(0.0);
    return where(blind, zero, softmax(where(blind, zero, scores, site), -1, site), site);
}

Tensor attentionByMatmul(const Tensor& query, const Tensor& key, const Tensor& value,
                         const Tensor& mask, const Settings& s, double dropout_p, Site site) {
    const bool repeat = s.grouped && query.dim() >= 3;
    const Tensor k = repeat ? repeatHeads(key, query.size(-3)) : key;
    const Tensor v = repeat ? repeatHeads(value, query.size(-3)) : value;
    const Tensor weights =
        dropout(attentionWeights(query, k, mask, s, site), dropout_p, dropout_p > 0, site);
    return matmul(weights, v, site);
}

void vjpAttention(const VjpArgs& v, std::span<Tensor> grads) {
    // The sums of exponentials (output 1) are for the backward kernel and carry no gradient.
    if (!v.grad().defined()) return;
    const bool masked = v.inputCount() > 3 && v.input(3).defined();
    if (grad_enabled() || (masked && v.need(3))) {
        const Settings s = settingsOf(v.attrs, v.meta(0).sizes.back());
        return vjpByComposition(v, grads, [&](std::span<const Tensor> in) -> std::vector<Tensor> {
            return {attentionByMatmul(in[0], in[1], in[2],
                                      in.size() > 3 ? in[3] : undefinedTensor(), s, 0, Site())};
        });
    }
    const Tensor& mask = masked ? v.input(3) : undefinedTensor();
    Outputs all =
        call(kScaledDotProductAttentionBackward,
             {&v.grad(), &v.input(0), &v.input(1), &v.input(2), &mask, &v.output(0), &v.output(1)},
             v.attrs, Site());
    for (int i = 0; i < 3; ++i) grads[static_cast<unsigned>(i)] = all[i];
}

void inferAttentionBackward(const OpArgs& a, OutputMetas& out) {
    checkInputs(a, 1, a.attrs.flag(0), a.attrs.flag(2));
    Dims sizes = inFront(a[1], 1);
    const Dims rows = sizes;
    sizes.push_back(a[3].size(-1));
    if (a[0].sizes() != sizes || a[5].sizes() != sizes || a[6].sizes() != rows)
        throw ShapeError(message("scaled_dot_product_attention_backward: grad ", a[0].sizes(),
                                 " and output ", a[5].sizes(), " must be ", sizes,
                                 ", and logsumexp ", a[6].sizes(), " must be ", rows));
    for (const int i : {0, 5, 6}) checkSameDType(kOp, "query", a[1], "grad or output", a[i]);
    for (const int i : {1, 2, 3}) out.add(a[i].sizes(), a[i].dtype());
}
void attentionBackwardKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::attentionBackwardInto(kernelInputs(a, 1), a[0], a[5], a[6], out[0], out[1], out[2]);
}

constexpr ArgDef kArgs[] = {{"query"}, {"key"}, {"value"}, {.name = "attn_mask", .optional = true}};
constexpr ArgDef kBackwardArgs[] = {
    {"grad"},   {"query"},    {"key"}, {"value"}, {.name = "attn_mask", .optional = true},
    {"output"}, {"logsumexp"}};
constexpr AttrDef kAttrs[] = {{"is_causal", AttrKind::Bool, "false"},
                              {"scale", AttrKind::Float, "0"},
                              {"enable_gqa", AttrKind::Bool, "false"}};

}  // namespace

// Outputs: result, logsumexp of each row's scores. scale 0: 1 / sqrt(E).
constinit OpDef kScaledDotProductAttention{.name = kOp,
                                           .family = Family::Nn,
                                           .args = kArgs,
                                           .attrs = kAttrs,
                                           .infer = inferAttention,
                                           .vjp = vjpAttention,
                                           .saveInputs = 0b1111,
                                           .saveOutputs = 0b11,
                                           .cost = costAttention,
                                           .kernels = {attentionKernel}};
constinit OpDef kScaledDotProductAttentionBackward{.name = "scaled_dot_product_attention_backward",
                                                   .family = Family::Nn,
                                                   .args = kBackwardArgs,
                                                   .attrs = kAttrs,
                                                   .infer = inferAttentionBackward,
                                                   .kernels = {attentionBackwardKernel}};

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask, const AttentionParams& params,
                                    Site site) {
    if (!(params.dropout_p >= 0 && params.dropout_p <= 1))
        throw Error(message(kOp, ": dropout_p ", std::to_string(params.dropout_p),
                            " must be between 0 and 1"));
    const Attrs attrs(params.is_causal, params.scale.value_or(0.0), params.enable_gqa);
    if (params.dropout_p > 0) {
        const Tensor* inputs[] = {&query, &key, &value, &attn_mask};
        checkInputs(OpArgs{inputs, attrs}, 0, params.is_causal, params.enable_gqa);
        return attentionByMatmul(query, key, value, attn_mask, settingsOf(attrs, query.size(-1)),
                                 params.dropout_p, site);
    }
    return call1(kScaledDotProductAttention, {&query, &key, &value, &attn_mask}, attrs, site);
}

}  // namespace tapescope::engine
