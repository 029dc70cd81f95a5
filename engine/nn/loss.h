// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/nn_loss.h"

namespace tapescope::engine::nn {

// Losses take two tensors or more and hold no parameters: plain function objects, not Modules.

/// logits [N, C, ...] or [C]; target classes (int64) or probabilities.
struct CrossEntropyLoss {
    Reduction reduction = Reduction::Mean;
    Tensor weight{};
    std::int64_t ignore_index = -100;
    double label_smoothing = 0;
    Tensor operator()(const Tensor& logits, const Tensor& target, Site site = {}) const {
        return cross_entropy(logits, target,
                             CrossEntropyOptions{weight, ignore_index, reduction, label_smoothing},
                             site);
    }
};

struct NLLLoss {
    Reduction reduction = Reduction::Mean;
    Tensor weight{};
    std::int64_t ignore_index = -100;
    Tensor operator()(const Tensor& log_probabilities, const Tensor& target, Site site = {}) const {
        return nll_loss(log_probabilities, target, NllLossOptions{weight, ignore_index, reduction},
                        site);
    }
};

struct MSELoss {
    Reduction reduction = Reduction::Mean;
    Tensor operator()(const Tensor& input, const Tensor& target, Site site = {}) const {
        return mse_loss(input, target, reduction, site);
    }
};

struct L1Loss {
    Reduction reduction = Reduction::Mean;
    Tensor operator()(const Tensor& input, const Tensor& target, Site site = {}) const {
        return l1_loss(input, target, reduction, site);
    }
};

struct SmoothL1Loss {
    Reduction reduction = Reduction::Mean;
    double beta = 1;
    Tensor operator()(const Tensor& input, const Tensor& target, Site site = {}) const {
        return smooth_l1_loss(input, target, reduction, beta, site);
    }
};

struct HuberLoss {
    Reduction reduction = Reduction::Mean;
    double delta = 1;
    Tensor operator()(const Tensor& input, const Tensor& target, Site site = {}) const {
        return huber_loss(input, target, reduction, delta, site);
    }
};

struct BCELoss {
    Reduction reduction = Reduction::Mean;
    Tensor weight{};
    Tensor operator()(const Tensor& input, const Tensor& target, Site site = {}) const {
        return binary_cross_entropy(input, target, weight, reduction, site);
    }
};

struct BCEWithLogitsLoss {
    Reduction reduction = Reduction::Mean;
    Tensor weight{};
    Tensor pos_weight{};
    Tensor operator()(const Tensor& logits, const Tensor& target, Site site = {}) const {
        return binary_cross_entropy_with_logits(logits, target, weight, pos_weight, reduction,
                                                site);
    }
};

struct KLDivLoss {
    Reduction reduction = Reduction::Mean;
    bool log_target = false;
    Tensor operator()(const Tensor& input, const Tensor& target, Site site = {}) const {
        return kl_div(input, target, reduction, log_target, site);
    }
};

struct PoissonNLLLoss {
    Reduction reduction = Reduction::Mean;
    bool log_input = true;
    bool full = false;
    double eps = 1e-8;
    Tensor operator()(const Tensor& input, const Tensor& target, Site site = {}) const {
        return poisson_nll_loss(input, target, log_input, full, eps, reduction, site);
    }
};

struct GaussianNLLLoss {
    Reduction reduction = Reduction::Mean;
    bool full = false;
    double eps = 1e-6;
    Tensor operator()(const Tensor& input, const Tensor& target, const Tensor& var,
                      Site site = {}) const {
        return gaussian_nll_loss(input, target, var, full, eps, reduction, site);
    }
};

struct MultiMarginLoss {
    Reduction reduction = Reduction::Mean;
    std::int64_t p = 1;
    double margin = 1;
    Tensor weight{};
    Tensor operator()(const Tensor& input, const Tensor& target, Site site = {}) const {
        return multi_margin_loss(input, target, p, margin, weight, reduction, site);
    }
};

struct MultiLabelMarginLoss {
    Reduction reduction = Reduction::Mean;
    Tensor operator()(const Tensor& input, const Tensor& target, Site site = {}) const {
        return multilabel_margin_loss(input, target, reduction, site);
    }
};

struct MultiLabelSoftMarginLoss {
    Reduction reduction = Reduction::Mean;
    Tensor weight{};
    Tensor operator()(const Tensor& input, const Tensor& target, Site site = {}) const {
        return multilabel_soft_margin_loss(input, target, weight, reduction, site);
    }
};

struct SoftMarginLoss {
    Reduction reduction = Reduction::Mean;
    Tensor operator()(const Tensor& input, const Tensor& target, Site site = {}) const {
        return soft_margin_loss(input, target, reduction, site);
    }
};

struct HingeEmbeddingLoss {
    Reduction reduction = Reduction::Mean;
    double margin = 1;
    Tensor operator()(const Tensor& input, const Tensor& target, Site site = {}) const {
        return hinge_embedding_loss(input, target, margin, reduction, site);
    }
};

struct MarginRankingLoss {
    Reduction reduction = Reduction::Mean;
    double margin = 0;
    Tensor operator()(const Tensor& a, const Tensor& b, const Tensor& target,
                      Site site = {}) const {
        return margin_ranking_loss(a, b, target, margin, reduction, site);
    }
};

struct CosineEmbeddingLoss {
    Reduction reduction = Reduction::Mean;
    double margin = 0;
    Tensor operator()(const Tensor& a, const Tensor& b, const Tensor& target,
                      Site site = {}) const {
        return cosine_embedding_loss(a, b, target, margin, reduction, site);
    }
};

struct TripletMarginLoss {
    TripletMarginOptions options{};
    Tensor operator()(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                      Site site = {}) const {
        return triplet_margin_loss(anchor, positive, negative, options, site);
    }
};

struct CTCLoss {
    std::int64_t blank = 0;
    Reduction reduction = Reduction::Mean;
    bool zero_infinity = false;
    Tensor operator()(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                      const Tensor& target_lengths, Site site = {}) const {
        return ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, reduction,
                        zero_infinity, site);
    }
};

struct CosineSimilarity {
    std::int64_t dim = 1;
    double eps = 1e-8;
    Tensor operator()(const Tensor& a, const Tensor& b, Site site = {}) const {
        return cosine_similarity(a, b, dim, eps, site);
    }
};

struct PairwiseDistance {
    double p = 2;
    double eps = 1e-6;
    bool keepdim = false;
    Tensor operator()(const Tensor& a, const Tensor& b, Site site = {}) const {
        return pairwise_distance(a, b, p, eps, keepdim, site);
    }
};

}  // namespace tapescope::engine::nn
