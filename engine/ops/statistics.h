// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <optional>
#include <utility>

namespace tapescope::engine {

// dims empty = all dimensions.
Tensor count_nonzero(const Tensor& x, const Dims& dims = {}, Site site = {});  ///< int64
Tensor nansum(const Tensor& x, const Dims& dims = {}, bool keepdim = false, Site site = {});
Tensor nanmean(const Tensor& x, const Dims& dims = {}, bool keepdim = false, Site site = {});
/// (smallest, largest), along dim or of all elements.
std::pair<Tensor, Tensor> aminmax(const Tensor& x, std::optional<std::int64_t> dim = {},
                                  bool keepdim = false, Site site = {});
/// (variance, mean); (standard deviation, mean)
std::pair<Tensor, Tensor> var_mean(const Tensor& x, const Dims& dims = {},
                                   std::int64_t correction = 1, bool keepdim = false,
                                   Site site = {});
std::pair<Tensor, Tensor> std_mean(const Tensor& x, const Dims& dims = {},
                                   std::int64_t correction = 1, bool keepdim = false,
                                   Site site = {});
Tensor dist(const Tensor& x, const Tensor& other, double p = 2, Site site = {});
/// Slices along dim whose p-norm exceeds maxnorm, scaled down to it.
Tensor renorm(const Tensor& x, double p, std::int64_t dim, double maxnorm, Site site = {});
/// Covariances of the rows (variables) of x over its columns (observations). fweights: how often
/// each observation counts, int64; aweights: how much, floating.
Tensor cov(const Tensor& x, std::int64_t correction = 1, const Tensor& fweights = {},
           const Tensor& aweights = {}, Site site = {});
Tensor corrcoef(const Tensor& x, Site site = {});

/// Counts of x in `bins` equal parts of [min, max], the range of x where both are 0. What lies
/// outside, and NaN, is not counted. The result has x's dtype.
Tensor histc(const Tensor& x, std::int64_t bins = 100, double min = 0, double max = 0,
             Site site = {});
/// How often each number occurs in x (int64, 1-d, not negative), or the sum of its weights.
Tensor bincount(const Tensor& x, const Tensor& weights = {}, std::int64_t minlength = 0,
                Site site = {});
/// (counts, edges): of `bins` equal parts of [min, max], the range of x where both are 0.
std::pair<Tensor, Tensor> histogram(const Tensor& x, std::int64_t bins, double min = 0,
                                    double max = 0, const Tensor& weight = {}, bool density = false,
                                    Site site = {});
/// The same between ascending edges.
std::pair<Tensor, Tensor> histogram(const Tensor& x, const Tensor& edges, const Tensor& weight = {},
                                    bool density = false, Site site = {});

}  // namespace tapescope::engine
