// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace tapescope::engine {

/// (values, indices)
using ValuesAndIndices = std::pair<Tensor, Tensor>;

// Ordering. NaN is above every number. Of equal elements the first in the input comes first, in
// both directions: sorts are stable whatever `stable` says. indices: int64. Gradients go to the
// elements chosen. Throws IndexError for a wrong dim or k, ShapeError where nothing can be chosen.
ValuesAndIndices sort(const Tensor& x, std::int64_t dim = -1, bool descending = false,
                      Site site = {});
Tensor argsort(const Tensor& x, std::int64_t dim = -1, bool descending = false, Site site = {});
Tensor msort(const Tensor& x, Site site = {});  ///< values sorted along dimension 0
ValuesAndIndices topk(const Tensor& x, std::int64_t k, std::int64_t dim = -1, bool largest = true,
                      bool sorted = true, Site site = {});
/// The k-th smallest, k from 1.
ValuesAndIndices kthvalue(const Tensor& x, std::int64_t k, std::int64_t dim = -1,
                          bool keepdim = false, Site site = {});
/// The lower of the two in the middle. Of all elements: ties share the gradient.
Tensor median(const Tensor& x, Site site = {});
ValuesAndIndices median(const Tensor& x, std::int64_t dim, bool keepdim = false, Site site = {});
Tensor nanmedian(const Tensor& x, Site site = {});
ValuesAndIndices nanmedian(const Tensor& x, std::int64_t dim, bool keepdim = false, Site site = {});
/// The most frequent value, the smallest of several; its last place.
ValuesAndIndices mode(const Tensor& x, std::int64_t dim = -1, bool keepdim = false, Site site = {});
Tensor max(const Tensor& x, Site site = {});  ///< ties share the gradient
Tensor min(const Tensor& x, Site site = {});
/// The first of equals gets the gradient.
ValuesAndIndices max(const Tensor& x, std::int64_t dim, bool keepdim = false, Site site = {});
ValuesAndIndices min(const Tensor& x, std::int64_t dim, bool keepdim = false, Site site = {});

/// q: 0-d or 1-d in [0, 1], of x's dtype; a 1-d q adds a dimension in front. interpolation:
/// "linear", "lower", "higher", "midpoint", "nearest". NaN in, NaN out; nanquantile skips them.
Tensor quantile(const Tensor& x, const Tensor& q, std::optional<std::int64_t> dim = {},
                bool keepdim = false, std::string_view interpolation = "linear", Site site = {});
Tensor quantile(const Tensor& x, double q, std::optional<std::int64_t> dim = {},
                bool keepdim = false, std::string_view interpolation = "linear", Site site = {});
Tensor nanquantile(const Tensor& x, const Tensor& q, std::optional<std::int64_t> dim = {},
                   bool keepdim = false, std::string_view interpolation = "linear", Site site = {});
Tensor nanquantile(const Tensor& x, double q, std::optional<std::int64_t> dim = {},
                   bool keepdim = false, std::string_view interpolation = "linear", Site site = {});

/// (values, inverse, counts), the latter two undefined where not asked for. Of all elements,
/// sorted; with dim, of the slices along it, in lexicographic order. Every NaN is a value of its
/// own.
std::tuple<Tensor, Tensor, Tensor> unique(const Tensor& x, bool sorted = true,
                                          bool return_inverse = false, bool return_counts = false,
                                          std::optional<std::int64_t> dim = {}, Site site = {});
/// The same of runs of equal neighbours, in the order of the input.
std::tuple<Tensor, Tensor, Tensor> unique_consecutive(const Tensor& x, bool return_inverse = false,
                                                      bool return_counts = false,
                                                      std::optional<std::int64_t> dim = {},
                                                      Site site = {});

/// Where each value would go in the ascending last dimension of sorted_sequence (1-d, or of values'
/// leading sizes): before its equals, or after them with right. sorter: the sequence's argsort, if
/// it is not sorted itself.
Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& values, bool right = false,
                    const Tensor& sorter = {}, Site site = {});
Tensor searchsorted(const Tensor& sorted_sequence, double value, bool right = false,
                    const Tensor& sorter = {}, Site site = {});
Tensor bucketize(const Tensor& x, const Tensor& boundaries, bool right = false, Site site = {});

}  // namespace tapescope::engine
