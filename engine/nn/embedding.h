// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/module.h"
#include "engine/ops/nn_embedding.h"

namespace tapescope::engine::nn {

/// Rows of a table by index. x: int64, any shape; gives [..., dim]. Parameter: weight [count, dim],
/// normal(0, 1), its padding row 0.
class Embedding final : public Module {
public:
    Embedding(std::int64_t count, std::int64_t dim, EmbeddingOptions options = {});
    Tensor forward(const Tensor& x) override;
    std::string details() const override;

    Tensor weight;

private:
    EmbeddingOptions m_options;
};

/// Embeddings put together in bags. x: int64 [B, L], or [L] with offsets; gives [B, dim].
class EmbeddingBag final : public Module {
public:
    /// options.offsets and per_sample_weights are given with each call instead.
    EmbeddingBag(std::int64_t count, std::int64_t dim, EmbeddingBagOptions options = {});
    Tensor forward(const Tensor& x) override;
    Tensor forward(const Tensor& x, const Tensor& offsets, const Tensor& per_sample_weights = {});
    std::string details() const override;

    Tensor weight;

private:
    EmbeddingBagOptions m_options;
};

}  // namespace tapescope::engine::nn
