// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/transformer.h"

#include "engine/errors.h"
#include "engine/nn/init.h"
#include "engine/nn/number_text.h"
#include "engine/observe/context.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"

#include <limits>
#include <utility>

namespace tapescope::engine::nn {

namespace {

/// The arguments of run() for the forward it leads to.
template <class T>
class ArgumentScope {
public:
    ArgumentScope(const T*& place, const T& arguments) : m_place(place) { place = &arguments; }
    ~ArgumentScope() { m_place = nullptr; }
    ArgumentScope(const ArgumentScope&) = delete;
    ArgumentScope& operator=(const ArgumentScope&) = delete;

private:
    const T*& m_place;
};

MultiheadAttentionOptions attentionOptions(const TransformerOptions& o) {
    MultiheadAttentionOptions options;
    options.dropout = o.dropout;
    options.bias = o.bias;
    options.batch_first = o.batch_first;
    return options;
}

Tensor activated(const Tensor& x, TransformerActivation activation, Site site) {
    return activation == TransformerActivation::Gelu ? gelu(x, site) : relu(x, site);
}

std::string layerDetails(std::int64_t width, const TransformerOptions& o) {
    return std::to_string(width) + ", feedforward " + std::to_string(o.dim_feedforward) +
           (o.activation == TransformerActivation::Gelu ? ", gelu" : "") +
           (o.norm_first ? ", norm first" : "");
}

void requireCall(const void* call, const std::string& type, const char* what) {
    if (!call) throw Error(type + ": forward(x) alone is not enough; call run() with the " + what);
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead,
                                                 const TransformerOptions& options)
    : Module("TransformerEncoderLayer"), m_options(options) {
    self_attn =
        register_module<MultiheadAttention>("self_attn", d_model, nhead, attentionOptions(options));
    linear1 = register_module<Linear>("linear1", d_model, options.dim_feedforward, options.bias);
    dropout = register_module<Dropout>("dropout", options.dropout);
    linear2 = register_module<Linear>("linear2", options.dim_feedforward, d_model, options.bias);
    norm1 = register_module<LayerNorm>("norm1", Dims{d_model}, options.layer_norm_eps);
    norm2 = register_module<LayerNorm>("norm2", Dims{d_model}, options.layer_norm_eps);
    dropout1 = register_module<Dropout>("dropout1", options.dropout);
    dropout2 = register_module<Dropout>("dropout2", options.dropout);
}

Tensor TransformerEncoderLayer::attend(const Tensor& x) {
    const Masks none;
    return dropout1(
        self_attn->run(x, x, x, m_masks ? *m_masks : none, false, true, callSite()).output,
        callSite());
}
Tensor TransformerEncoderLayer::feedForward(const Tensor& x) {
    const Tensor hidden = activated(linear1(x, callSite()), m_options.activation, callSite());
    return dropout2(linear2(dropout(hidden, callSite()), callSite()), callSite());
}

Tensor TransformerEncoderLayer::forward(const Tensor& src) {
    if (m_options.norm_first) {
        const Tensor x = add(src, attend(norm1(src, callSite())), callSite());
        return add(x, feedForward(norm2(x, callSite())), callSite());
    }
    const Tensor x = norm1(add(src, attend(src), callSite()), callSite());
    return norm2(add(x, feedForward(x), callSite()), callSite());
}
Tensor TransformerEncoderLayer::run(const Tensor& src, const Masks& masks, Site site) {
    const ArgumentScope scope(m_masks, masks);
    return call(src, site);
}
std::string TransformerEncoderLayer::details() const {
    return layerDetails(linear1->weight.size(1), m_options);
}

TransformerDecoderLayer::TransformerDecoderLayer(std::int64_t d_model, std::int64_t nhead,
                                                 const TransformerOptions& options)
    : Module("TransformerDecoderLayer"), m_options(options) {
    self_attn =
        register_module<MultiheadAttention>("self_attn", d_model, nhead, attentionOptions(options));
    multihead_attn = register_module<MultiheadAttention>("multihead_attn", d_model, nhead,
                                                         attentionOptions(options));
    linear1 = register_module<Linear>("linear1", d_model, options.dim_feedforward, options.bias);
    dropout = register_module<Dropout>("dropout", options.dropout);
    linear2 = register_module<Linear>("linear2", options.dim_feedforward, d_model, options.bias);
    norm1 = register_module<LayerNorm>("norm1", Dims{d_model}, options.layer_norm_eps);
    norm2 = register_module<LayerNorm>("norm2", Dims{d_model}, options.layer_norm_eps);
    norm3 = register_module<LayerNorm>("norm3", Dims{d_model}, options.layer_norm_eps);
    dropout1 = register_module<Dropout>("dropout1", options.dropout);
    dropout2 = register_module<Dropout>("dropout2", options.dropout);
    dropout3 = register_module<Dropout>("dropout3", options.dropout);
}

Tensor TransformerDecoderLayer::feedForward(const Tensor& x) {
    const Tensor hidden = activated(linear1(x, callSite()), m_options.activation, callSite());
    return dropout3(linear2(dropout(hidden, callSite()), callSite()), callSite());
}

Tensor TransformerDecoderLayer::forward(const Tensor& tgt) {
    requireCall(m_call, type_name(), "memory");
    const Call& c = *m_call;
    const auto toSelf = [&](const Tensor& x) {
        return dropout1(self_attn->run(x, x, x, c.target, false, true, callSite()).output,
                        callSite());
    };
    const auto toMemory = [&](const Tensor& x) {
        return dropout2(
            multihead_attn->run(x, c.memory, c.memory, c.source, false, true, callSite()).output,
            callSite());
    };
    if (m_options.norm_first) {
        Tensor x = add(tgt, toSelf(norm1(tgt, callSite())), callSite());
        x = add(x, toMemory(norm2(x, callSite())), callSite());
        return add(x, feedForward(norm3(x, callSite())), callSite());
    }
    Tensor x = norm1(add(tgt, toSelf(tgt), callSite()), callSite());
    x = norm2(add(x, toMemory(x), callSite()), callSite());
    return norm3(add(x, feedForward(x), callSite()), callSite());
}
Tensor TransformerDecoderLayer::run(const Tensor& tgt, const Tensor& memory, const Masks& tgt_masks,
                                    const Masks& memory_masks, Site site) {
    const Call arguments{memory, tgt_masks, memory_masks};
    const ArgumentScope scope(m_call, arguments);
    return call(tgt, site);
}
std::string TransformerDecoderLayer::details() const {
    return layerDetails(linear1->weight.size(1), m_options);
}

TransformerEncoder::TransformerEncoder(std::int64_t num_layers, std::int64_t d_model,
                                       std::int64_t nhead, const TransformerOptions& options,
                                       bool final_norm)
    : Module("TransformerEncoder") {
    layers = register_module<ModuleList>("layers");
    for (std::int64_t i = 0; i < num_layers; ++i) {
        m_layers.push_back(make<TransformerEncoderLayer>(d_model, nhead, options));
        layers->push_back(m_layers.back());
    }
    if (final_norm)
        norm = register_module<LayerNorm>("norm", Dims{d_model}, options.layer_norm_eps);
}

Tensor TransformerEncoder::forward(const Tensor& src) {
    const Masks none;
    Tensor x = src;
    for (const auto& layer : m_layers) x = layer->run(x, m_masks ? *m_masks : none, callSite());
    return norm ? norm(x, callSite()) : x;
}
Tensor TransformerEncoder::run(const Tensor& src, const Masks& masks, Site site) {
    const ArgumentScope scope(m_masks, masks);
    return call(src, site);
}

TransformerDecoder::TransformerDecoder(std::int64_t num_layers, std::int64_t d_model,
                                       std::int64_t nhead, const TransformerOptions& options,
                                       bool final_norm)
    : Module("TransformerDecoder") {
    layers = register_module<ModuleList>("layers");
    for (std::int64_t i = 0; i < num_layers; ++i) {
        m_layers.push_back(make<TransformerDecoderLayer>(d_model, nhead, options));
        layers->push_back(m_layers.back());
    }
    if (final_norm)
        norm = register_module<LayerNorm>("norm", Dims{d_model}, options.layer_norm_eps);
}

Tensor TransformerDecoder::forward(const Tensor& tgt) {
    requireCall(m_call, type_name(), "memory");
    Tensor x = tgt;
    for (const auto& layer : m_layers)
        x = layer->run(x, m_call->memory, m_call->target, m_call->source, callSite());
    return norm ? norm(x, callSite()) : x;
}
Tensor TransformerDecoder::run(const Tensor& tgt, const Tensor& memory, const Masks& tgt_masks,
                               const Masks& memory_masks, Site site) {
    const Call arguments{memory, tgt_masks, memory_masks};
    const ArgumentScope scope(m_call, arguments);
    return call(tgt, site);
}

Transformer::Transformer(std::int64_t d_model, std::int64_t nhead, std::int64_t num_encoder_layers,
                         std::int64_t num_decoder_layers, const TransformerOptions& options)
    : Module("Transformer") {
    encoder = register_module<TransformerEncoder>("encoder", num_encoder_layers, d_model, nhead,
                                                  options, true);
    decoder = register_module<TransformerDecoder>("decoder", num_decoder_layers, d_model, nhead,
                                                  options, true);
    for (const Tensor& p : parameters())
        if (p.dim() > 1) init::xavier_uniform_(p);
}

Tensor Transformer::forward(const Tensor& src) {
    requireCall(m_call, type_name(), "target");
    const Call& c = *m_call;
    const Tensor memory = encoder->run(src, c.src, callSite());
    return decoder->run(c.target, memory, c.tgt, c.memory, callSite());
}
Tensor Transformer::run(const Tensor& src, const Tensor& tgt, const Masks& src_masks,
                        const Masks& tgt_masks, const Masks& memory_masks, Site site) {
    const Call arguments{tgt, src_masks, tgt_masks, memory_masks};
    const ArgumentScope scope(m_call, arguments);
    return call(src, site);
}

Tensor Transformer::generate_square_subsequent_mask(std::int64_t size, DType dtype) {
    const NoGradGuard guard;
    const Tensor rows = unsqueeze(arange(0, static_cast<double>(size)), 1);
    const Tensor after = gt(arange(0, static_cast<double>(size)), rows);
    return masked_fill(zeros({size, size}, {.dtype = dtype}), after,
                       -std::numeric_limits<double>::infinity());
}

}  // namespace tapescope::engine::nn
