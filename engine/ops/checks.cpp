// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/checks.h"

#include <cmath>
#include <cstdio>

namespace tapescope::engine {

int wrapDim(std::string_view op, std::int64_t dim, int rank) {
    const std::int64_t range = rank == 0 ? 1 : rank;
    if (dim < -range || dim >= range)
        throw IndexError(message(op, ": dimension ", dim, " is out of range for a tensor of ", rank,
                                 " dimensions: give ", -range, " to ", range - 1));
    return static_cast<int>(dim < 0 ? dim + range : dim);
}

Dims wrapDims(std::string_view op, const Dims& dims, int rank) {
    Dims wrapped;
    for (const std::int64_t dim : dims) {
        const int d = wrapDim(op, dim, rank);
        for (const std::int64_t seen : wrapped)
            if (seen == d)
                throw IndexError(message(op, ": dimension ", dim, " is given twice in ", dims));
        wrapped.push_back(d);
    }
    return wrapped;
}

void checkRank(std::string_view op, std::string_view what, const Tensor& x, int rank,
               std::string_view layout) {
    if (x.dim() == rank) return;
    const std::string_view gap = layout.empty() ? "" : " ";
    throw ShapeError(message(op, ": ", what, " ", x.sizes(), " must have ", rank,
                             rank == 1 ? " dimension" : " dimensions", gap, layout));
}

void checkIndexDType(std::string_view op, const Tensor& index, std::string_view what) {
    if (index.dtype() != DType::I64 && index.dtype() != DType::I32)
        throw DTypeError(message(op, ": ", what, " must be int64, not ", index.dtype()));
}

void checkFloating(std::string_view op, std::string_view what, const Tensor& x) {
    if (!isFloating(x.dtype()))
        throw DTypeError(message(op, ": ", what, " must be floating point, not ", x.dtype(),
                                 "; convert it with to()"));
}

void checkSameDType(std::string_view op, std::string_view whatA, const Tensor& a,
                    std::string_view whatB, const Tensor& b) {
    if (a.dtype() != b.dtype())
        throw DTypeError(message(op, ": ", whatA, " is ", a.dtype(), " but ", whatB, " is ",
                                 b.dtype(), "; convert one of them with to()"));
}

void checkFits(std::string_view op, double value, DType dtype) {
    if (dtype == DType::Bool) return;
    bool fits = true;
    if (isDifferentiable(dtype)) {
        fits = !std::isfinite(value) || std::fabs(value) <= finfo(realType(dtype)).max;
    } else {
        const IntInfo limits = iinfo(dtype);
        // 2^63 is the first double past int64; uint8 takes whole numbers that wrap into it.
        const bool wraps = dtype == DType::U8 && std::floor(value) == value;
        const double low = wraps ? -255.0 : static_cast<double>(limits.min);
        fits = value >= low && (value <= static_cast<double>(limits.max)) &&
               value < 9223372036854775808.0;
    }
    if (fits) return;
    char text[32];
    std::snprintf(text, sizeof text, "%g", value);
    throw DTypeError(message(op, ": ", std::string_view(text), " does not fit into ", dtype,
                             "; take another number or convert with to()"));
}

void checkSizes(std::string_view op, const Dims& sizes) {
    std::int64_t numel = 1;
    bool zero = false;
    for (const std::int64_t size : sizes) {
        if (size < 0) throw ShapeError(message(op, ": sizes ", sizes, " must not be negative"));
        if (size == 0) zero = true;
    }
    for (const std::int64_t size : sizes)
        if (!zero) numel = checkedMul(op, numel, size);
    // Leaves room for the bytes of the widest element.
    if (numel > std::numeric_limits<std::int64_t>::max() / 8)
        throw ShapeError(message(op, ": sizes ", sizes, " are too large for memory"));
}

std::int64_t checkedMul(std::string_view op, std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product))
        throw ShapeError(message(op, ": the sizes overflow: ", a, " * ", b));
    return product;
}

std::int64_t checkedAdd(std::string_view op, std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum))
        throw ShapeError(message(op, ": the sizes overflow: ", a, " + ", b));
    return sum;
}

}  // namespace tapescope::engine
