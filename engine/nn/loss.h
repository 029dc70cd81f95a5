// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/nn_functional.h"

namespace tapescope::engine::nn {

// Losses take two tensors and hold no parameters: plain function objects, not Modules.

/// logits [N, C], target [N] int64.
struct CrossEntropyLoss {
    Reduction reduction = Reduction::Mean;
    Tensor operator()(const Tensor& logits, const Tensor& target, Site site = {}) const {
        return cross_entropy(logits, target, reduction, site);
    }
};

struct NLLLoss {
    Reduction reduction = Reduction::Mean;
    Tensor operator()(const Tensor& log_probabilities, const Tensor& target, Site site = {}) const {
        return nll_loss(log_probabilities, target, reduction, site);
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

struct BCEWithLogitsLoss {
    Reduction reduction = Reduction::Mean;
    Tensor operator()(const Tensor& logits, const Tensor& target, Site site = {}) const {
        return binary_cross_entropy_with_logits(logits, target, reduction, site);
    }
};

}  // namespace tapescope::engine::nn
