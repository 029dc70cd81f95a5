// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/linalg_parts.h"

#include "engine/cpu/linalg_kernels.h"
#include "engine/observe/context.h"
#include "engine/ops/checks.h"
#include "engine/ops/linalg_error.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"

#include <limits>

namespace tapescope::engine::linalg {

namespace {

/// [rows, cols] bool: column - row against k.
Tensor band(const Tensor& x, std::int64_t k, bool below) {
    const NoGradGuard guard;
    const Tensor r = unsqueeze(arange(0, static_cast<double>(x.size(-2))), 1);
    const Tensor c = unsqueeze(arange(0, static_cast<double>(x.size(-1))), 0);
    const Tensor offset = sub(c, r);
    const Tensor bound = wrappedNumber(k);
    return below ? le(offset, bound) : ge(offset, bound);
}
Tensor kept(const Tensor& mask, const Tensor& x) { return where(mask, x, wrappedNumber(0.0)); }

}  // namespace

Tensor transposed(const Tensor& x) { return transpose(x, -2, -1); }
Tensor lower(const Tensor& x, std::int64_t k) { return kept(band(x, k, true), x); }
Tensor upper(const Tensor& x, std::int64_t k) { return kept(band(x, k, false), x); }
Tensor triangle(const Tensor& x, bool isUpper) { return isUpper ? upper(x) : lower(x); }

Tensor diagonal(const Tensor& x) {
    const std::int64_t n = x.size(-1);
    const Tensor flat = reshape(x, leading(x, 2, {n * n}));
    return slice(flat, -1, 0, n * n, n + 1);
}
Tensor diagonalMatrix(const Tensor& x) {
    Dims sizes = x.sizes();
    sizes.push_back(sizes.back());
    const Tensor wide = expand(unsqueeze(x, -1), sizes);
    return kept(eq(eye(x.size(-1), {.dtype = x.dtype()}), wrappedNumber(1.0)), wide);
}
Tensor identityLike(const Tensor& x) { return eye(x.size(-1), {.dtype = x.dtype()}); }
Tensor columns(const Tensor& x, std::int64_t start, std::int64_t count) {
    return narrow(x, -1, start, count);
}
Tensor rows(const Tensor& x, std::int64_t start, std::int64_t count) {
    return narrow(x, -2, start, count);
}

void checkMatrices(std::string_view op, std::string_view what, const Tensor& x) {
    if (x.dim() < 2)
        throw ShapeError(message(op, ": ", what, " ", x.sizes(),
                                 " must have at least 2 dimensions [..., m, n]"));
    checkFloating(op, what, x);
    constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
    if (x.size(-1) > kLargest || x.size(-2) > kLargest)
        throw ShapeError(message(op, ": ", what, " ", x.sizes(), " is too large for LAPACK"));
}
void checkSquare(std::string_view op, std::string_view what, const Tensor& x) {
    checkMatrices(op, what, x);
    if (x.size(-1) != x.size(-2))
        throw ShapeError(
            message(op, ": ", what, " ", x.sizes(), " must be square matrices [..., n, n]"));
}

Dims leading(const Tensor& x, int count, std::initializer_list<std::int64_t> added) {
    Dims sizes = x.sizes();
    sizes.resize(sizes.size() - count);
    for (const std::int64_t size : added) sizes.push_back(size);
    return sizes;
}

Dims commonBatch(std::string_view op, const Tensor& a, const Tensor& b) {
    Dims batch;
    if (!broadcastShapes(leading(a, 2), leading(b, 2), batch))
        throw ShapeError(
            message(op, ": batch sizes of ", a.sizes(), " and ", b.sizes(), " do not broadcast"));
    return batch;
}

void throwFailures(std::string_view op, const cpu::Infos& infos, int batchRank, Why why) {
    for (std::size_t i = 0; i < infos.size(); ++i) {
        if (infos[i] == 0) continue;
        const std::string which =
            batchRank == 0 ? "the matrix" : "batch element " + std::to_string(i);
        const std::string reason =
            infos[i] == cpu::kNotFinite ? "holds NaN or infinity" : why(infos[i]);
        throw LinAlgError(message(op, ": ", which, " ", reason));
    }
}

}  // namespace tapescope::engine::linalg
