// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <optional>
#include <span>
#include <string_view>

namespace tapescope::engine {

// Indices are int64. Where several indices name one place, the last one wins, or contributions are
// added in order: results never depend on threads.

/// A copy of x with x[..., index[..., i, ...], ...] = source[..., i, ...] along dim.
Tensor scatter(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
               Site site = {});
Tensor scatter(const Tensor& x, std::int64_t dim, const Tensor& index, double value,
               Site site = {});
/// reduce: "sum", "prod", "mean", "amax", "amin"; include_self: x's own values take part.
Tensor scatter_reduce(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                      std::string_view reduce, bool include_self = true, Site site = {});
/// Whole slices along dim, named by a 1-d index.
Tensor index_fill(const Tensor& x, std::int64_t dim, const Tensor& index, double value,
                  Site site = {});
Tensor index_copy(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                  Site site = {});
Tensor index_reduce(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                    std::string_view reduce, bool include_self = true, Site site = {});

/// The places of what is not 0, one a row: [n, x.dim()], int64.
Tensor nonzero(const Tensor& x, Site site = {});
Tensor argwhere(const Tensor& x, Site site = {});
/// The elements under a mask that broadcasts with x, as a 1-d tensor.
Tensor masked_select(const Tensor& x, const Tensor& mask, Site site = {});
/// A copy of x with source's elements, in order, under the mask.
Tensor masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& source, Site site = {});
/// Elements of x seen as flat; negative indices count from the end.
Tensor take(const Tensor& x, const Tensor& index, Site site = {});
Tensor put(const Tensor& x, const Tensor& index, const Tensor& source, bool accumulate = false,
           Site site = {});
/// gather with x and index broadcast off dim; without dim of x seen as flat.
Tensor take_along_dim(const Tensor& x, const Tensor& index, std::optional<std::int64_t> dim = {},
                      Site site = {});

/// x[indices[0], indices[1], …], PyTorch's rules: an undefined tensor stands for the whole
/// dimension, a bool mask for the places where it is true; the index tensors broadcast, and their
/// dimensions come where they stand if they are neighbours, else first.
Tensor index(const Tensor& x, std::span<const Tensor> indices, Site site = {});
/// A copy of x with x[indices] = values (broadcast), or += with accumulate.
Tensor index_put(const Tensor& x, std::span<const Tensor> indices, const Tensor& values,
                 bool accumulate = false, Site site = {});

// In place; return x.
Tensor scatter_(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                Site site = {});
Tensor scatter_(const Tensor& x, std::int64_t dim, const Tensor& index, double value,
                Site site = {});
Tensor scatter_add_(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                    Site site = {});
Tensor scatter_reduce_(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                       std::string_view reduce, bool include_self = true, Site site = {});
Tensor index_add_(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                  Site site = {});
Tensor index_fill_(const Tensor& x, std::int64_t dim, const Tensor& index, double value,
                   Site site = {});
Tensor index_copy_(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                   Site site = {});
Tensor masked_scatter_(const Tensor& x, const Tensor& mask, const Tensor& source, Site site = {});
Tensor put_(const Tensor& x, const Tensor& index, const Tensor& source, bool accumulate = false,
            Site site = {});
Tensor index_put_(const Tensor& x, std::span<const Tensor> indices, const Tensor& values,
                  bool accumulate = false, Site site = {});

}  // namespace tapescope::engine
