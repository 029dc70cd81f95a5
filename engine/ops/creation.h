// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <span>
#include <string_view>
#include <vector>

namespace tapescope::engine {

// Creation beyond that of shape.h; PyTorch's definitions.

/// A 0-d tensor: torch.tensor(value).
Tensor scalar_tensor(double value, TensorOptions options = {}, Site site = {});
/// Uninitialised.
Tensor empty(const Dims& sizes, TensorOptions options = {});
Tensor empty_like(const Tensor& x);
Tensor full_like(const Tensor& x, double fill_value, Site site = {});
/// steps values from start to end, both included, evenly spaced. Throws Error for negative steps.
Tensor linspace(double start, double end, std::int64_t steps, TensorOptions options = {},
                Site site = {});
/// base to the powers linspace(start, end, steps).
Tensor logspace(double start, double end, std::int64_t steps, double base = 10,
                TensorOptions options = {}, Site site = {});
/// n rows, m columns, ones on the diagonal.
Tensor eye(std::int64_t n, std::int64_t m, TensorOptions options = {}, Site site = {});
/// [2, k], int64: row and column of every element on or below (tril) or above (triu) the diagonal
/// that lies offset to the right of the main one, row by row.
Tensor tril_indices(std::int64_t row, std::int64_t col, std::int64_t offset = 0, Site site = {});
Tensor triu_indices(std::int64_t row, std::int64_t col, std::int64_t offset = 0, Site site = {});
/// Every tensor (0-d or 1-d) expanded over the grid they span. indexing: "ij" (the first varies
/// along the first dimension) or "xy" (along the second). Throws Error for another word, ShapeError
/// for a tensor of more dimensions.
std::vector<Tensor> meshgrid(std::span<const Tensor> tensors, std::string_view indexing = "ij",
                             Site site = {});

}  // namespace tapescope::engine
