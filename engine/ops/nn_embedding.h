// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <optional>

namespace tapescope::engine {

struct EmbeddingOptions {
    std::optional<std::int64_t>
        padding_idx{};                 ///< its row gets no gradient; negative: from the end
    std::optional<double> max_norm{};  ///< rows that are looked up are first shortened, in place
    double norm_type = 2;
    bool scale_grad_by_freq = false;  ///< gradients over how often an index comes
};
/// weight [V, D], index any shape of int64.
Tensor embedding(const Tensor& weight, const Tensor& index, Site site = {});
Tensor embedding(const Tensor& weight, const Tensor& index, const EmbeddingOptions& options,
                 Site site = {});
/// Shortens the rows of weight that index names to a norm of max_norm, in place; returns weight.
Tensor embedding_renorm_(const Tensor& weight, const Tensor& index, double max_norm,
                         double norm_type = 2, Site site = {});

enum class BagMode : std::uint8_t { Sum, Mean, Max };
struct EmbeddingBagOptions {
    BagMode mode = BagMode::Mean;
    Tensor offsets{};             ///< [B] int64: where each bag begins in a 1-d index
    Tensor per_sample_weights{};  ///< of index's sizes; BagMode::Sum only
    bool include_last_offset = false;
    std::optional<std::int64_t> padding_idx{};  ///< entries that count for nothing
    std::optional<double> max_norm{};
    double norm_type = 2;
    bool scale_grad_by_freq = false;
};
/// index [B, L], or 1-d with offsets: the embeddings of each bag put together, [B, D]. An empty bag
/// gives zeros.
Tensor embedding_bag(const Tensor& weight, const Tensor& index, const EmbeddingBagOptions& options,
                     Site site = {});

}  // namespace tapescope::engine
