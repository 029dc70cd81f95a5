// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <limits>

namespace tapescope::engine {

/// What becomes of a loss's terms. BatchMean, the sum over the batch's size, is kl_div's only. The
/// mean of no terms is NaN, as in PyTorch.
enum class Reduction : std::uint8_t { None, Mean, Sum, BatchMean };

// Classification. weight [C] or undefined scales the classes and gets no gradient.

struct NllLossOptions {
    Tensor weight{};
    std::int64_t ignore_index = -100;  ///< targets of this value count for nothing
    Reduction reduction = Reduction::Mean;
};
/// log_probabilities [N, C], [N, C, d...] or [C]; target int64 of the same sizes without C, in
/// [0, C). The mean divides by the weights of the targets that count.
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target,
                Reduction reduction = Reduction::Mean, Site site = {});
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target,
                const NllLossOptions& options, Site site = {});

struct CrossEntropyOptions {
    Tensor weight{};
    std::int64_t ignore_index = -100;
    Reduction reduction = Reduction::Mean;
    double label_smoothing = 0;  ///< 0 to 1: this much of each target is spread over all classes
};
/// target: classes as for nll_loss, or probabilities of logits' sizes.
Tensor cross_entropy(const Tensor& logits, const Tensor& target,
                     Reduction reduction = Reduction::Mean, Site site = {});
Tensor cross_entropy(const Tensor& logits, const Tensor& target, const CrossEntropyOptions& options,
                     Site site = {});

/// input in [0, 1]; logarithms are cut off at -100. weight broadcasts.
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight = {},
                            Reduction reduction = Reduction::Mean, Site site = {});
Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target,
                                        Reduction reduction = Reduction::Mean, Site site = {});
/// weight and pos_weight (of the positive targets) broadcast and may be undefined.
Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target,
                                        const Tensor& weight, const Tensor& pos_weight,
                                        Reduction reduction = Reduction::Mean, Site site = {});
/// input [N, C] or [C], target int64 [N] or []: the mean over the other classes of
/// max(0, margin - x[y] + x[i])^p. p is 1 or 2.
Tensor multi_margin_loss(const Tensor& input, const Tensor& target, std::int64_t p = 1,
                         double margin = 1, const Tensor& weight = {},
                         Reduction reduction = Reduction::Mean, Site site = {});
/// target int64 of input's sizes [N, C] or [C]: classes up to the first negative one.
Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target,
                              Reduction reduction = Reduction::Mean, Site site = {});
Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target,
                                   const Tensor& weight = {}, Reduction reduction = Reduction::Mean,
                                   Site site = {});
/// log(1 + exp(-target * input)), target 1 or -1.
Tensor soft_margin_loss(const Tensor& input, const Tensor& target,
                        Reduction reduction = Reduction::Mean, Site site = {});
/// log_probs [T, N, C] or [T, C]; targets int64 [N, S] or all one after another [sum of lengths];
/// lengths int64 [N] or []. The mean divides each loss by its target's length first. zero_infinity:
/// targets that no path can give count 0 instead of infinity.
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, std::int64_t blank = 0,
                Reduction reduction = Reduction::Mean, bool zero_infinity = false, Site site = {});

// Regression and distributions; input and target broadcast.

Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::Mean,
                Site site = {});
Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::Mean,
               Site site = {});
/// Squared below beta, absolute above; beta 0 is l1_loss.
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                      Reduction reduction = Reduction::Mean, double beta = 1, Site site = {});
Tensor huber_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::Mean,
                  double delta = 1, Site site = {});
/// input: log-probabilities; target: probabilities, or their logarithms.
Tensor kl_div(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::Mean,
              bool log_target = false, Site site = {});
/// full: with Stirling's term for targets above 1.
Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input = true,
                        bool full = false, double eps = 1e-8, Reduction reduction = Reduction::Mean,
                        Site site = {});
/// var: of input's sizes, or without the last dimension, or with 1 there. Throws Error where it is
/// negative.
Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var,
                         bool full = false, double eps = 1e-6,
                         Reduction reduction = Reduction::Mean, Site site = {});

// Distances.

/// x / max(norm of x, eps), summed over their product along dim.
Tensor cosine_similarity(const Tensor& a, const Tensor& b, std::int64_t dim = 1, double eps = 1e-8,
                         Site site = {});
/// The p-norm of a - b + eps over the last dimension.
Tensor pairwise_distance(const Tensor& a, const Tensor& b, double p = 2, double eps = 1e-6,
                         bool keepdim = false, Site site = {});
/// target 1 or -1.
Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, double margin = 1,
                            Reduction reduction = Reduction::Mean, Site site = {});
Tensor margin_ranking_loss(const Tensor& a, const Tensor& b, const Tensor& target,
                           double margin = 0, Reduction reduction = Reduction::Mean,
                           Site site = {});
/// a, b [N, D] with target [N], or [D] with target []; target 1 or -1.
Tensor cosine_embedding_loss(const Tensor& a, const Tensor& b, const Tensor& target,
                             double margin = 0, Reduction reduction = Reduction::Mean,
                             Site site = {});
struct TripletMarginOptions {
    double margin = 1;
    double p = 2;
    double eps = 1e-6;
    bool swap = false;  ///< also the distance from positive to negative, where it is smaller
    Reduction reduction = Reduction::Mean;
};
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletMarginOptions& options = {}, Site site = {});

}  // namespace tapescope::engine
