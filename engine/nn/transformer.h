// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/attention.h"
#include "engine/nn/containers.h"
#include "engine/nn/dropout.h"
#include "engine/nn/layer_norm.h"
#include "engine/nn/linear.h"

#include <memory>
#include <vector>

// Source: Vaswani et al. 2017; parameters and order of operations are torch.nn's.
namespace tapescope::engine::nn {

enum class TransformerActivation : std::uint8_t { Relu, Gelu };

struct TransformerOptions {
    std::int64_t dim_feedforward = 2048;
    double dropout = 0.1;
    TransformerActivation activation = TransformerActivation::Relu;
    double layer_norm_eps = 1e-5;
    bool batch_first = false;
    bool norm_first = false;
    bool bias = true;
};

/// Self-attention and two linear layers, each with a residual and a norm after it (before it if
/// norm_first). src [L, N, E] ([N, L, E] if batch_first).
class TransformerEncoderLayer final : public Module {
public:
    using Masks = MultiheadAttention::Masks;
    TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead,
                            const TransformerOptions& options = {});
    Tensor forward(const Tensor& src) override;
    Tensor run(const Tensor& src, const Masks& masks, Site site = {});
    std::string details() const override;

    ModuleRef<MultiheadAttention> self_attn;
    ModuleRef<Linear> linear1;
    ModuleRef<Dropout> dropout;
    ModuleRef<Linear> linear2;
    ModuleRef<LayerNorm> norm1, norm2;
    ModuleRef<Dropout> dropout1, dropout2;

private:
    Tensor attend(const Tensor& x);
    Tensor feedForward(const Tensor& x);
    TransformerOptions m_options;
    const Masks* m_masks = nullptr;  // of run(), while it lasts
};

/// The same with attention to an encoder's output (memory) in between.
class TransformerDecoderLayer final : public Module {
public:
    using Masks = MultiheadAttention::Masks;
    TransformerDecoderLayer(std::int64_t d_model, std::int64_t nhead,
                            const TransformerOptions& options = {});
    /// Throws Error: a decoder needs run(), which passes the memory.
    Tensor forward(const Tensor& tgt) override;
    Tensor run(const Tensor& tgt, const Tensor& memory, const Masks& tgt_masks = {},
               const Masks& memory_masks = {}, Site site = {});
    std::string details() const override;

    ModuleRef<MultiheadAttention> self_attn, multihead_attn;
    ModuleRef<Linear> linear1;
    ModuleRef<Dropout> dropout;
    ModuleRef<Linear> linear2;
    ModuleRef<LayerNorm> norm1, norm2, norm3;
    ModuleRef<Dropout> dropout1, dropout2, dropout3;

private:
    struct Call {
        Tensor memory;
        Masks target;
        Masks source;
    };
    Tensor feedForward(const Tensor& x);
    TransformerOptions m_options;
    const Call* m_call = nullptr;
};

/// A stack of layers under "layers", with a norm after them if final_norm.
class TransformerEncoder final : public Module {
public:
    using Masks = MultiheadAttention::Masks;
    TransformerEncoder(std::int64_t num_layers, std::int64_t d_model, std::int64_t nhead,
                       const TransformerOptions& options = {}, bool final_norm = false);
    Tensor forward(const Tensor& src) override;
    Tensor run(const Tensor& src, const Masks& masks, Site site = {});

    ModuleRef<ModuleList> layers;
    ModuleRef<LayerNorm> norm;

private:
    std::vector<std::shared_ptr<TransformerEncoderLayer>> m_layers;
    const Masks* m_masks = nullptr;
};

class TransformerDecoder final : public Module {
public:
    using Masks = MultiheadAttention::Masks;
    TransformerDecoder(std::int64_t num_layers, std::int64_t d_model, std::int64_t nhead,
                       const TransformerOptions& options = {}, bool final_norm = false);
    Tensor forward(const Tensor& tgt) override;  ///< Throws Error; see TransformerDecoderLayer.
    Tensor run(const Tensor& tgt, const Tensor& memory, const Masks& tgt_masks = {},
               const Masks& memory_masks = {}, Site site = {});

    ModuleRef<ModuleList> layers;
    ModuleRef<LayerNorm> norm;

private:
    struct Call {
        Tensor memory;
        Masks target;
        Masks source;
    };
    std::vector<std::shared_ptr<TransformerDecoderLayer>> m_layers;
    const Call* m_call = nullptr;
};

/// Encoder and decoder, each with a final norm.
class Transformer final : public Module {
public:
    using Masks = MultiheadAttention::Masks;
    /// Matrices are initialised by xavier_uniform_.
    Transformer(std::int64_t d_model = 512, std::int64_t nhead = 8,
                std::int64_t num_encoder_layers = 6, std::int64_t num_decoder_layers = 6,
                const TransformerOptions& options = {});
    Tensor forward(const Tensor& src) override;  ///< Throws Error: run() passes the target.
    Tensor run(const Tensor& src, const Tensor& tgt, const Masks& src_masks = {},
               const Masks& tgt_masks = {}, const Masks& memory_masks = {}, Site site = {});
    /// [size, size]: 0 where a position may be seen, -infinity after it.
    static Tensor generate_square_subsequent_mask(std::int64_t size, DType dtype = DType::F32);

    ModuleRef<TransformerEncoder> encoder;
    ModuleRef<TransformerDecoder> decoder;

private:
    struct Call {
        Tensor target;
        Masks src;
        Masks tgt;
        Masks memory;
    };
    const Call* m_call = nullptr;
};

}  // namespace tapescope::engine::nn
