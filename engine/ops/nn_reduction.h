// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/checks.h"
#include "engine/ops/nn_loss.h"
#include "engine/ops/reduce.h"

namespace tapescope::engine {

// The attribute holds PyTorch's numbers: 0 none, 1 mean, 2 sum.
inline std::int64_t codeOf(Reduction reduction) { return static_cast<std::int64_t>(reduction); }
inline Reduction reductionFrom(std::string_view op, std::int64_t code) {
    if (code < 0 || code > 2)
        throw Error(message(op, ": reduction ", code, " must be 0 (none), 1 (mean) or 2 (sum)"));
    return static_cast<Reduction>(code);
}
inline Reduction reductionAttr(std::string_view op, const Attrs& attrs, int i) {
    return reductionFrom(op, attrs.integer(i));
}
/// What the sum of n terms is multiplied by; the mean of nothing is NaN, as in PyTorch.
inline double scaleOf(Reduction reduction, std::int64_t n) {
    return reduction == Reduction::Mean ? 1.0 / static_cast<double>(n) : 1.0;
}
/// The terms of a loss put together, by operators.
inline Tensor reduced(std::string_view op, const Tensor& terms, Reduction reduction, Site site) {
    switch (reductionFrom(op, codeOf(reduction))) {
        case Reduction::None:
            return terms;
        case Reduction::Sum:
            return sum(terms, {}, false, site);
        default:
            return mean(terms, {}, false, site);
    }
}

/// Throws DTypeError where the terms of a loss would be integers.
inline void checkRealLoss(std::string_view op, DType input, DType target) {
    if (!isFloating(promoteTypes(input, target)))
        throw DTypeError(message(op, ": input is ", input, " and target is ", target,
                                 ", but one must be floating point; convert it with to()"));
}

/// Throws ShapeError unless both broadcast.
inline Dims pairSizes(std::string_view op, const Dims& input, const Dims& target) {
    Dims sizes;
    if (!broadcastShapes(input, target, sizes))
        throw ShapeError(
            message(op, ": input ", input, " and target ", target, " do not broadcast"));
    return sizes;
}

}  // namespace tapescope::engine
