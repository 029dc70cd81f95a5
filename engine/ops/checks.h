// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/errors.h"
#include "engine/ops/op_def.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace tapescope::engine {

// Words of error messages, so that every operator's read alike.
inline std::string textOf(std::string_view text) { return std::string(text); }
inline std::string textOf(std::int64_t value) { return std::to_string(value); }
inline std::string textOf(int value) { return std::to_string(value); }
inline std::string textOf(const Dims& dims) { return toString(dims); }
inline std::string textOf(DType dtype) { return std::string(dtypeName(dtype)); }
/// "conv2d: input [2, 3] must have 4 dimensions": the parts, one after another.
template <class... Parts>
std::string message(const Parts&... parts) {
    std::string text;
    ((text += textOf(parts)), ...);
    return text;
}

/// dim counted from the front. A 0-d tensor has the dimensions 0 and -1, as in PyTorch. Throws
/// IndexError.
int wrapDim(std::string_view op, std::int64_t dim, int rank);
/// The same for a list; throws IndexError where a dimension comes twice.
Dims wrapDims(std::string_view op, const Dims& dims, int rank);

/// Throws ShapeError: "bmm: a [3, 4] must have 3 dimensions [b, n, k]". layout may be empty.
void checkRank(std::string_view op, std::string_view what, const Tensor& x, int rank,
               std::string_view layout = "");
/// Throws DTypeError unless index is int64, or int32, which the dispatcher converts.
void checkIndexDType(std::string_view op, const Tensor& index, std::string_view what = "index");
/// Throws DTypeError unless x is floating point.
void checkFloating(std::string_view op, std::string_view what, const Tensor& x);
/// Throws DTypeError unless both have one dtype.
void checkSameDType(std::string_view op, std::string_view whatA, const Tensor& a,
                    std::string_view whatB, const Tensor& b);
/// Throws DTypeError where value does not fit dtype: "full: 300 does not fit into int8". Negative
/// numbers wrap in uint8, infinities and NaN fit floating types.
void checkFits(std::string_view op, double value, DType dtype);
/// Throws ShapeError where a size is negative or the product overflows.
void checkSizes(std::string_view op, const Dims& sizes);

/// a * b for sizes that come from the user. Throws ShapeError on overflow.
std::int64_t checkedMul(std::string_view op, std::int64_t a, std::int64_t b);
std::int64_t checkedAdd(std::string_view op, std::int64_t a, std::int64_t b);

}  // namespace tapescope::engine
