// SPDX-License-Identifier: Apache-2.0
#include "plugins/models/transformer.h"

#include "engine/errors.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"

#include <cmath>
#include <limits>
#include <memory>

namespace tapescope::plugins {

using namespace engine;

namespace {

Tensor laterPlaces(std::int64_t length) {
    Tensor mask = Tensor::empty({length, length}, DType::Bool);
    bool* values = mask.data<bool>();
    for (std::int64_t i = 0; i < length; ++i) {
        for (std::int64_t j = 0; j < length; ++j) values[i * length + j] = j > i;
    }
    return mask;
}

}  // namespace

TransformerBlock::TransformerBlock(std::int64_t width, std::int64_t heads, std::int64_t length,
                                   double dropout, bool causal)
    : Module("TransformerBlock"), m_width(width), m_heads(heads) {
    if (heads < 1 || width % heads != 0) {
        throw Error("TransformerBlock: a width of " + std::to_string(width) +
                    " cannot be split into " + std::to_string(heads) + " heads; choose a multiple");
    }
    norm1 = register_module<nn::LayerNorm>("norm1", Dims{width});
    qkv = register_module<nn::Linear>("qkv", width, 3 * width);
    out = register_module<nn::Linear>("out", width, width);
    norm2 = register_module<nn::LayerNorm>("norm2", Dims{width});
    up = register_module<nn::Linear>("up", width, 4 * width);
    down = register_module<nn::Linear>("down", 4 * width, width);
    drop = register_module<nn::Dropout>("drop", dropout);
    if (causal) m_hidden = register_buffer("hidden", laterPlaces(length), false);
}

Tensor TransformerBlock::attention(const Tensor& x) {
    const std::int64_t batch = x.size(0);
    const std::int64_t length = x.size(1);
    const std::int64_t depth = m_width / m_heads;
    Tensor all = qkv(x);
    all = reshape(all, {batch, length, 3, m_heads, depth});
    all = permute(all, {2, 0, 3, 1, 4});  // → [3, N, heads, length, depth]
    const Tensor q = select(all, 0, 0);
    const Tensor k = select(all, 0, 1);
    const Tensor v = select(all, 0, 2);
    Tensor scores = matmul(q, transpose(k, -2, -1));
    scores = mul(scores, 1 / std::sqrt(static_cast<double>(depth)));
    if (m_hidden.defined()) {
        const Tensor hidden = narrow(narrow(m_hidden, 0, 0, length), 1, 0, length);
        scores = masked_fill(scores, hidden, -std::numeric_limits<double>::infinity());
    }
    const Tensor weights = drop(softmax(scores, -1));
    Tensor y = matmul(weights, v);
    y = permute(y, {0, 2, 1, 3});
    y = reshape(y, {batch, length, m_width});
    return out(y);
}

Tensor TransformerBlock::forward(const Tensor& x) {
    Tensor y = x + drop(attention(norm1(x)));
    Tensor h = up(norm2(y));
    h = gelu(h);
    h = down(h);
    return y + drop(h);
}

void initTransformer(nn::Module& model) {
    model.apply([](nn::Module& module) {
        if (auto* linear = dynamic_cast<nn::Linear*>(&module)) {
            nn::init::normal_(linear->weight, 0, 0.02);
            if (linear->bias.defined()) nn::init::zeros_(linear->bias);
        } else if (auto* embedding = dynamic_cast<nn::Embedding*>(&module)) {
            nn::init::normal_(embedding->weight, 0, 0.02);
        }
    });
}

}  // namespace tapescope::plugins
