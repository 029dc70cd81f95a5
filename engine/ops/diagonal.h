// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

namespace tapescope::engine {

// offset: 0 the main diagonal, above it positive, below negative.
/// A view: dim1 and dim2 give way to their diagonal, as the last dimension.
Tensor diagonal(const Tensor& x, std::int64_t offset = 0, std::int64_t dim1 = 0,
                std::int64_t dim2 = 1, Site site = {});
/// A matrix with the 1-d x on a diagonal, or the diagonal of a 2-d x.
Tensor diag(const Tensor& x, std::int64_t diagonal = 0, Site site = {});
/// x's last dimension on the diagonal of dim1 and dim2 of the result.
Tensor diag_embed(const Tensor& x, std::int64_t offset = 0, std::int64_t dim1 = -2,
                  std::int64_t dim2 = -1, Site site = {});
Tensor diagflat(const Tensor& x, std::int64_t offset = 0, Site site = {});
Tensor trace(const Tensor& x, Site site = {});
/// The lower (upper) triangle of the last two dimensions, zeros elsewhere.
Tensor tril(const Tensor& x, std::int64_t diagonal = 0, Site site = {});
Tensor triu(const Tensor& x, std::int64_t diagonal = 0, Site site = {});

// A copy of x with source in place of the part that diagonal(), select() or slice() would give.
Tensor diagonal_scatter(const Tensor& x, const Tensor& source, std::int64_t offset = 0,
                        std::int64_t dim1 = 0, std::int64_t dim2 = 1, Site site = {});
Tensor select_scatter(const Tensor& x, const Tensor& source, std::int64_t dim, std::int64_t index,
                      Site site = {});
Tensor slice_scatter(const Tensor& x, const Tensor& source, std::int64_t dim, std::int64_t start,
                     std::int64_t end, std::int64_t step = 1, Site site = {});

}  // namespace tapescope::engine
