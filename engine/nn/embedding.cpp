// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/embedding.h"

#include "engine/errors.h"
#include "engine/nn/init.h"
#include "engine/ops/nn_embedding.h"
#include "engine/ops/shape.h"

namespace tapescope::engine::nn {

namespace {

Tensor table(const char* type, std::int64_t count, std::int64_t dim,
             const std::optional<std::int64_t>& padding) {
    if (count < 1 || dim < 1) {
        throw Error(std::string(type) + ": the table must be at least 1×1, but is " +
                    std::to_string(count) + "×" + std::to_string(dim));
    }
    Tensor weight = Tensor::empty({count, dim});
    init::normal_(weight);
    if (padding) {
        const std::int64_t row = *padding < 0 ? *padding + count : *padding;
        if (row < 0 || row >= count)
            throw Error(std::string(type) + ": padding_idx " + std::to_string(*padding) +
                        " is not a row of a table of " + std::to_string(count));
        init::zeros_(select(weight, 0, row));
    }
    return weight;
}
std::string tableText(const Tensor& weight, const std::optional<std::int64_t>& padding) {
    return std::to_string(weight.size(0)) + "×" + std::to_string(weight.size(1)) +
           (padding ? ", padding " + std::to_string(*padding) : "");
}

}  // namespace

Embedding::Embedding(std::int64_t count, std::int64_t dim, EmbeddingOptions options)
    : Module("Embedding"), m_options(options) {
    weight = register_parameter("weight", table("Embedding", count, dim, options.padding_idx));
}
Tensor Embedding::forward(const Tensor& x) { return embedding(weight, x, m_options, callSite()); }
std::string Embedding::details() const { return tableText(weight, m_options.padding_idx); }

EmbeddingBag::EmbeddingBag(std::int64_t count, std::int64_t dim, EmbeddingBagOptions options)
    : Module("EmbeddingBag"), m_options(std::move(options)) {
    weight = register_parameter("weight", table("EmbeddingBag", count, dim, m_options.padding_idx));
}
Tensor EmbeddingBag::forward(const Tensor& x) { return forward(x, {}); }
Tensor EmbeddingBag::forward(const Tensor& x, const Tensor& offsets,
                             const Tensor& per_sample_weights) {
    EmbeddingBagOptions options = m_options;
    options.offsets = offsets;
    options.per_sample_weights = per_sample_weights;
    return embedding_bag(weight, x, options, callSite());
}
std::string EmbeddingBag::details() const {
    static constexpr const char* kModes[] = {"sum", "mean", "max"};
    return tableText(weight, m_options.padding_idx) + ", " +
           kModes[static_cast<int>(m_options.mode)];
}

}  // namespace tapescope::engine::nn
