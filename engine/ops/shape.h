// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <span>
#include <vector>

namespace tapescope::engine {

/// One size may be -1. A view where the strides allow it, else a copy.
Tensor reshape(const Tensor& x, const Dims& sizes, Site site = {});
/// A view; throws ShapeError where the strides do not allow one.
Tensor view(const Tensor& x, const Dims& sizes, Site site = {});
Tensor flatten(const Tensor& x, std::int64_t start_dim = 0, std::int64_t end_dim = -1,
               Site site = {});
Tensor permute(const Tensor& x, const Dims& dims, Site site = {});
Tensor transpose(const Tensor& x, std::int64_t dim0, std::int64_t dim1, Site site = {});
/// -1 keeps a size. A view with stride 0 where a size grows.
Tensor expand(const Tensor& x, const Dims& sizes, Site site = {});
Tensor squeeze(const Tensor& x, std::int64_t dim, Site site = {});
Tensor unsqueeze(const Tensor& x, std::int64_t dim, Site site = {});
Tensor narrow(const Tensor& x, std::int64_t dim, std::int64_t start, std::int64_t length,
              Site site = {});
/// x[start:end:step] along dim, NumPy's clamping; step > 0.
Tensor slice(const Tensor& x, std::int64_t dim, std::int64_t start, std::int64_t end,
             std::int64_t step = 1, Site site = {});
Tensor select(const Tensor& x, std::int64_t dim, std::int64_t index, Site site = {});
Tensor contiguous(const Tensor& x, Site site = {});  ///< x itself if it is
Tensor clone(const Tensor& x, Site site = {});
Tensor cat(std::span<const Tensor> tensors, std::int64_t dim = 0, Site site = {});
Tensor stack(std::span<const Tensor> tensors, std::int64_t dim = 0, Site site = {});
std::vector<Tensor> split(const Tensor& x, std::int64_t size, std::int64_t dim = 0, Site site = {});
std::vector<Tensor> chunk(const Tensor& x, std::int64_t chunks, std::int64_t dim = 0,
                          Site site = {});
Tensor flip(const Tensor& x, const Dims& dims, Site site = {});
/// padding as PyTorch's: last dimension first, (before, after) each.
Tensor pad(const Tensor& x, const Dims& padding, double value = 0, Site site = {});
/// Sums x down to sizes: the adjoint of broadcasting. x itself if the shapes agree.
Tensor sum_to_size(const Tensor& x, const Dims& sizes, Site site = {});

// Indexing. index: int64. Out-of-range values throw IndexError naming the value and the size.
Tensor index_select(const Tensor& x, std::int64_t dim, const Tensor& index, Site site = {});
Tensor gather(const Tensor& x, std::int64_t dim, const Tensor& index, Site site = {});
Tensor scatter_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                   Site site = {});
Tensor index_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                 Site site = {});
/// num_classes -1: one more than the largest index.
Tensor one_hot(const Tensor& index, std::int64_t num_classes, Site site = {});

// Creation.
Tensor zeros(const Dims& sizes, TensorOptions options = {}, Site site = {});
Tensor ones(const Dims& sizes, TensorOptions options = {}, Site site = {});
Tensor full(const Dims& sizes, double value, TensorOptions options = {}, Site site = {});
Tensor arange(double start, double end, double step = 1,
              TensorOptions options = {.dtype = DType::I64}, Site site = {});
Tensor eye(std::int64_t n, TensorOptions options = {}, Site site = {});
Tensor zeros_like(const Tensor& x, Site site = {});
Tensor ones_like(const Tensor& x, Site site = {});

// Random, from the Context's Generator: the same seed gives the same values on every machine.
Tensor rand(const Dims& sizes, TensorOptions options = {}, Site site = {});   ///< uniform [0, 1)
Tensor randn(const Dims& sizes, TensorOptions options = {}, Site site = {});  ///< normal(0, 1)
Tensor randperm(std::int64_t n, Site site = {});
Tensor bernoulli(const Tensor& probability, Site site = {});

}  // namespace tapescope::engine
