// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <optional>
#include <span>
#include <vector>

namespace tapescope::engine {

// Other orders and numbers of the same elements.
Tensor roll(const Tensor& x, const Dims& shifts, const Dims& dims = {}, Site site = {});
/// By 90 degrees, k times, from dims[0] towards dims[1].
Tensor rot90(const Tensor& x, std::int64_t k = 1, const Dims& dims = {0, 1}, Site site = {});
Tensor repeat(const Tensor& x, const Dims& repeats, Site site = {});
/// As repeat, with missing leading repeats of 1.
Tensor tile(const Tensor& x, const Dims& dims, Site site = {});
/// Each element (without dim, of x seen as flat) several times in a row.
Tensor repeat_interleave(const Tensor& x, std::int64_t repeats,
                         std::optional<std::int64_t> dim = {}, Site site = {});
Tensor repeat_interleave(const Tensor& x, const Tensor& repeats,
                         std::optional<std::int64_t> dim = {}, Site site = {});
Tensor movedim(const Tensor& x, const Dims& source, const Dims& destination, Site site = {});
Tensor movedim(const Tensor& x, std::int64_t source, std::int64_t destination, Site site = {});
Tensor swapaxes(const Tensor& x, std::int64_t axis0, std::int64_t axis1, Site site = {});
Tensor swapdims(const Tensor& x, std::int64_t dim0, std::int64_t dim1, Site site = {});
/// dim in several dimensions; one size may be -1.
Tensor unflatten(const Tensor& x, std::int64_t dim, const Dims& sizes, Site site = {});
Tensor ravel(const Tensor& x, Site site = {});
Tensor squeeze(const Tensor& x, Site site = {});  ///< every dimension of size 1
Tensor squeeze(const Tensor& x, const Dims& dims, Site site = {});
Tensor atleast_1d(const Tensor& x, Site site = {});
Tensor atleast_2d(const Tensor& x, Site site = {});
Tensor atleast_3d(const Tensor& x, Site site = {});
Tensor broadcast_to(const Tensor& x, const Dims& sizes, Site site = {});
Tensor expand_as(const Tensor& x, const Tensor& other, Site site = {});
Tensor view_as(const Tensor& x, const Tensor& other, Site site = {});
std::vector<Tensor> broadcast_tensors(std::span<const Tensor> tensors, Site site = {});

/// [..., c * r * r, h, w] -> [..., c, h * r, w * r], and back.
Tensor pixel_shuffle(const Tensor& x, std::int64_t upscale_factor, Site site = {});
Tensor pixel_unshuffle(const Tensor& x, std::int64_t downscale_factor, Site site = {});
/// [n, groups * c, ...] with the channels of the groups alternating.
Tensor channel_shuffle(const Tensor& x, std::int64_t groups, Site site = {});

// Joining: along dimension 1, 0 and 2, with missing dimensions added.
Tensor hstack(std::span<const Tensor> tensors, Site site = {});
Tensor vstack(std::span<const Tensor> tensors, Site site = {});
Tensor dstack(std::span<const Tensor> tensors, Site site = {});
Tensor block_diag(std::span<const Tensor> tensors, Site site = {});
/// Every choice of one element from each vector, one a row; of one vector: itself.
Tensor cartesian_prod(std::span<const Tensor> tensors, Site site = {});
/// Every choice of r elements of the vector x, in order, one a row.
Tensor combinations(const Tensor& x, std::int64_t r = 2, bool with_replacement = false,
                    Site site = {});

// Splitting: views.
std::vector<Tensor> split_with_sizes(const Tensor& x, std::span<const std::int64_t> sizes,
                                     std::int64_t dim = 0, Site site = {});
std::vector<Tensor> split(const Tensor& x, std::span<const std::int64_t> sizes,
                          std::int64_t dim = 0, Site site = {});
std::vector<Tensor> unbind(const Tensor& x, std::int64_t dim = 0, Site site = {});
/// In `sections` parts, the first ones larger by one where it does not go evenly; or before each of
/// the indices.
std::vector<Tensor> tensor_split(const Tensor& x, std::int64_t sections, std::int64_t dim = 0,
                                 Site site = {});
std::vector<Tensor> tensor_split(const Tensor& x, std::span<const std::int64_t> indices,
                                 std::int64_t dim = 0, Site site = {});
std::vector<Tensor> hsplit(const Tensor& x, std::int64_t sections, Site site = {});
std::vector<Tensor> vsplit(const Tensor& x, std::int64_t sections, Site site = {});
std::vector<Tensor> dsplit(const Tensor& x, std::int64_t sections, Site site = {});
std::vector<Tensor> hsplit(const Tensor& x, std::span<const std::int64_t> indices, Site site = {});
std::vector<Tensor> vsplit(const Tensor& x, std::span<const std::int64_t> indices, Site site = {});
std::vector<Tensor> dsplit(const Tensor& x, std::span<const std::int64_t> indices, Site site = {});

}  // namespace tapescope::engine
