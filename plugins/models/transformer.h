// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/nn.h"

namespace tapescope::plugins {

/// Self-attention over several heads and a two-layer network, each after a layer norm and added to
/// its input: the block of GPT-2 and, without the mask, of a BERT that normalises first.
struct TransformerBlock : engine::nn::Module {
    /// causal: a place sees itself and those before. Throws engine::Error unless heads divide
    /// width.
    TransformerBlock(std::int64_t width, std::int64_t heads, std::int64_t length, double dropout,
                     bool causal);
    /// x: f32[N, length, width].
    engine::Tensor forward(const engine::Tensor& x) override;

private:
    engine::Tensor attention(const engine::Tensor& x);

    std::int64_t m_width;
    std::int64_t m_heads;
    engine::nn::ModuleRef<engine::nn::LayerNorm> norm1, norm2;
    engine::nn::ModuleRef<engine::nn::Linear> qkv, out, up, down;
    engine::nn::ModuleRef<engine::nn::Dropout> drop;
    engine::Tensor m_hidden;  ///< true where a place must not look: bool[length, length]
};

/// normal(0, 0.02) for linear and embedding weights, 0 for biases, as GPT-2 and BERT start.
void initTransformer(engine::nn::Module& model);

}  // namespace tapescope::plugins
