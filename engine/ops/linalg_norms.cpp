// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/checks.h"
#include "engine/ops/linalg_lapack.h"
#include "engine/ops/linalg_parts.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

#include <cmath>
#include <limits>

namespace tapescope::engine {

namespace {

/// a with dims (rows, columns) brought to the end.
Tensor matricesLast(const Tensor& a, const Dims& dim) {
    if (dim.size() != 2)
        throw ShapeError(message("linalg_matrix_norm: dim ", dim, " must name 2 dimensions"));
    if (a.dim() < 2)
        throw ShapeError(
            message("linalg_matrix_norm: input ", a.sizes(), " must have at least 2 dimensions"));
    const Dims wrapped = wrapDims("linalg_matrix_norm", dim, a.dim());
    if (wrapped[0] == a.dim() - 2 && wrapped[1] == a.dim() - 1) return a;
    Dims order;
    for (int d = 0; d < a.dim(); ++d)
        if (d != wrapped[0] && d != wrapped[1]) order.push_back(d);
    order.push_back(wrapped[0]);
    order.push_back(wrapped[1]);
    return permute(a, order);
}

/// value [batch] with the two reduced dimensions kept as 1.
Tensor restored(const Tensor& value, const Tensor& a, const Dims& dim, bool keepdim) {
    if (!keepdim) return value;
    Dims sizes = a.sizes();
    for (const std::int64_t d : wrapDims("linalg_matrix_norm", dim, a.dim()))
        sizes[static_cast<int>(d)] = 1;
    return reshape(value, sizes);
}

/// The square root whose gradient at 0 is 0.
Tensor safeSqrt(const Tensor& x) {
    const Tensor zero = eq(x, wrappedNumber(0.0));
    return where(zero, wrappedNumber(0.0), sqrt(where(zero, wrappedNumber(1.0), x)));
}

Tensor singularValues(const Tensor& matrices) { return linalg_svdvals(matrices); }

}  // namespace

Tensor linalg_matrix_norm(const Tensor& a, std::string_view ord, const Dims& dim, bool keepdim,
                          Site) {
    checkFloating("linalg_matrix_norm", "input", a);
    const Tensor x = matricesLast(a, dim);
    if (ord == "fro") return restored(safeSqrt(sum(square(x), {-2, -1})), a, dim, keepdim);
    if (ord == "nuc") return restored(sum(singularValues(x), {-1}), a, dim, keepdim);
    throw Error(
        message("linalg_matrix_norm: ord \"", ord,
                "\" must be \"fro\", \"nuc\" or one of the numbers 1, -1, 2, -2, inf, -inf"));
}

Tensor linalg_matrix_norm(const Tensor& a, double ord, const Dims& dim, bool keepdim, Site) {
    checkFloating("linalg_matrix_norm", "input", a);
    const Tensor x = matricesLast(a, dim);
    const double size = std::fabs(ord);
    Tensor values;
    if (size == 2) {
        values = singularValues(x);
    } else if (size == 1 || std::isinf(ord)) {
        values = sum(abs(x), {size == 1 ? -2 : -1});
    } else {
        throw Error(message("linalg_matrix_norm: ord ", std::to_string(ord),
                            " must be one of 1, -1, 2, -2, inf, -inf"));
    }
    return restored(ord > 0 ? amax(values, {-1}) : amin(values, {-1}), a, dim, keepdim);
}

Tensor linalg_cond(const Tensor& a, double p, Site site) {
    if (std::fabs(p) == 2) {
        const Tensor s = linalg_svdvals(a, site);
        const std::int64_t k = s.size(-1);
        if (k == 0) return zeros(linalg::leading(s, 1), {.dtype = a.dtype()});
        const Tensor largest = select(s, -1, 0);
        const Tensor smallest = select(s, -1, k - 1);
        return p > 0 ? div(largest, smallest, site) : div(smallest, largest, site);
    }
    linalg::checkSquare("linalg_cond", "input", a);
    return mul(linalg_matrix_norm(a, p, {-2, -1}, false, site),
               linalg_matrix_norm(linalg_inv(a, site), p, {-2, -1}, false, site), site);
}
Tensor linalg_cond(const Tensor& a, std::string_view p, Site site) {
    linalg::checkSquare("linalg_cond", "input", a);
    return mul(linalg_matrix_norm(a, p, {-2, -1}, false, site),
               linalg_matrix_norm(linalg_inv(a, site), p, {-2, -1}, false, site), site);
}

Tensor linalg_matrix_rank(const Tensor& a, std::optional<double> atol, std::optional<double> rtol,
                          Site site) {
    const Tensor s = linalg_svdvals(a.detach(), site);
    if (s.size(-1) == 0) return zeros(linalg::leading(s, 1), {.dtype = DType::I64});
    const double epsilon = a.dtype() == DType::F64
                               ? std::numeric_limits<double>::epsilon()
                               : static_cast<double>(std::numeric_limits<float>::epsilon());
    const double relative = rtol.value_or(
        atol && *atol > 0 ? 0 : static_cast<double>(std::max(a.size(-1), a.size(-2))) * epsilon);
    const Tensor limit = maximum(mul(amax(s, {-1}, true), relative),
                                 full({}, atol.value_or(0), {.dtype = a.dtype()}));
    return sum(gt(s, limit), {-1}, false, site);
}

}  // namespace tapescope::engine
