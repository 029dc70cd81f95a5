// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <span>
#include <string_view>
#include <vector>

namespace tapescope::engine::cpu {

/// The sizes that indexing gives: the index tensors' common shape, in x's dimensions.
struct IndexShape {
    Dims broadcast;             ///< of the index tensors
    int at = 0;                 ///< where they stand in the result
    Dims rest;                  ///< sizes of the dimensions without an index
    std::vector<int> restDims;  ///< and which they are
    Dims sizes() const;         ///< of the result
};
/// indices: int64 or undefined (the whole dimension), one for each of x's first dimensions. Reads
/// no data. Throws IndexError or ShapeError naming op.
IndexShape indexShape(std::string_view op, const Dims& sizes, std::span<const Tensor> indices);

/// Each bool mask replaced by the places where it is true, one 1-d tensor for each of its
/// dimensions. Throws IndexError where a mask does not fit x.
std::vector<Tensor> expandMasks(std::string_view op, const Dims& sizes,
                                std::span<const Tensor> indices);

/// out = x[indices]; masks have been expanded. Throws IndexError for a value out of range.
void indexInto(const Tensor& x, std::span<const Tensor> indices, const Tensor& out);
/// out[indices] = values (broadcast), in order, or += with accumulate.
void indexPutInto(std::string_view op, const Tensor& out, std::span<const Tensor> indices,
                  const Tensor& values, bool accumulate);

}  // namespace tapescope::engine::cpu
