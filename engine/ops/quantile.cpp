// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/checks.h"
#include "engine/ops/composite.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "engine/ops/sorting.h"
#include "engine/ops/sorting_rows.h"

#include <array>

namespace tapescope::engine {
namespace {

constexpr std::array<std::string_view, 5> kInterpolations = {"linear", "lower", "higher",
                                                             "midpoint", "nearest"};
enum Interpolation : std::int64_t { kLinear, kLower, kHigher, kMidpoint, kNearest };

constexpr ArgDef kArgs[] = {{"input"}, {"q"}};
constexpr AttrDef kAttrs[] = {{"dim", AttrKind::Int, "none"},
                              {"keepdim", AttrKind::Bool, "false"},
                              {"interpolation", AttrKind::Int, "0"}};

void checkQuantile(std::string_view op, const Tensor& x, const Tensor& q,
                   std::int64_t interpolation) {
    checkFloating(op, "input", x);
    checkSameDType(op, "input", x, "q", q);
    if (q.dim() > 1)
        throw ShapeError(message(op, ": q ", q.sizes(), " must have 0 or 1 dimensions"));
    if (x.numel() == 0) throw ShapeError(message(op, ": input ", x.sizes(), " must not be empty"));
    for (const double value : q.to_vector<double>()) {
        if (!(value >= 0 && value <= 1))
            throw Error(message(op, ": q must lie in [0, 1], not ", std::to_string(value)));
    }
    if (interpolation < 0 || interpolation >= static_cast<std::int64_t>(kInterpolations.size()))
        throw Error(message(op, ": there is no interpolation ", interpolation));
}

Tensor ceilOf(const Tensor& x, Site site) { return neg(floor(neg(x, site), site), site); }

/// To the nearest whole number, halves to the even one.
Tensor roundOf(const Tensor& x, Site site) {
    const Tensor up = floor(add(x, 0.5, site), site);
    const Tensor halves = eq(sub(up, x, site), wrappedNumber(0.5), site);
    const Tensor pairs = floor(mul(up, 0.5, site), site);
    const Tensor odd = ne(mul(pairs, 2.0, site), up, site);
    return sub(up, to(logical_and(halves, odd, site), x.dtype(), site), site);
}

/// Ranks of the quantiles in sorted lines [..., n]: [..., 1 or q], float64, so that they are exact
/// for long lines too.
Tensor ranks(const Tensor& sorted, const Tensor& given, bool ignoreNan, Site site) {
    const Tensor q = to(given, DType::F64, site);
    const Tensor nan = isnan(sorted, site);
    const auto last = static_cast<double>(sorted.size(-1) - 1);
    if (ignoreNan) {
        const Tensor numbers = to(sum(logical_not(nan, site), {-1}, true, site), DType::F64, site);
        const Tensor highest = relu(sub(numbers, 1.0, site), site);
        return mul(q, highest, site);
    }
    const Tensor anyNan = narrow(nan, -1, sorted.size(-1) - 1, 1, site);  // NaN sorts last
    return masked_fill(mul(q, last, site), anyNan, last, site);
}

Tensor valuesAt(const Tensor& sorted, const Tensor& rank, Site site) {
    const Tensor index = to(rank, DType::I64, site);
    return gather(sorted, -1, index, site);
}

template <bool ignoreNan>
Tensor quantileOf(const OpArgs& a, Site site) {
    const std::string_view op = ignoreNan ? "nanquantile" : "quantile";
    const Tensor& x = a[0];
    const Tensor& q = a[1];
    const auto dim = optionalInt(a.attrs, 0);
    const bool keepdim = a.attrs.flag(1);
    const std::int64_t interpolation = a.attrs.integer(2);
    checkQuantile(op, x, q, interpolation);

    // Lines last: [..., n].
    const int d = dim ? wrapDim(op, *dim, x.dim()) : 0;
    const bool flat = !dim || x.dim() == 0;
    const Tensor lines = flat ? reshape(x, {-1}, site) : transpose(x, d, -1, site);
    const Tensor sorted = sort(lines, -1, false, site).first;
    Dims rankSizes = sorted.sizes();
    rankSizes[rankSizes.size() - 1] = q.numel();
    Tensor rank = ranks(sorted, reshape(q, {-1}, site), ignoreNan, site);
    if (rank.sizes() != rankSizes) rank = expand(rank, rankSizes, site);

    Tensor y;
    switch (interpolation) {
        case kLower:
            y = valuesAt(sorted, floor(rank, site), site);
            break;
        case kHigher:
            y = valuesAt(sorted, ceilOf(rank, site), site);
            break;
        case kNearest:
            y = valuesAt(sorted, roundOf(rank, site), site);
            break;
        default: {
            const Tensor below = floor(rank, site);
            const Tensor low = valuesAt(sorted, below, site);
            const Tensor high = valuesAt(sorted, ceilOf(rank, site), site);
            const Tensor weight = interpolation == kLinear
                                      ? to(sub(rank, below, site), x.dtype(), site)
                                      : full(rankSizes, 0.5, {.dtype = x.dtype()}, site);
            y = lerp(low, high, weight, site);
        }
    }
    // [..., q], with the reduced dimension's place at d: q in front, or gone.
    Dims sizes = x.sizes();
    Dims kept;
    for (int i = 0; i < sizes.size(); ++i) {
        if (dim && i != d)
            kept.push_back(sizes[i]);
        else if (keepdim)
            kept.push_back(1);
    }
    if (!flat && d != x.dim() - 1) {
        // transpose() exchanged d and the last dimension: the others' order comes back with it.
        y = transpose(y, d, -1, site);
        if (q.dim() == 0) return reshape(y, kept, site);
        Dims order{d};
        for (int i = 0; i < y.dim(); ++i)
            if (i != d) order.push_back(i);
        y = permute(y, order, site);
    } else if (q.dim() == 0) {
        return reshape(y, kept, site);
    } else {
        Dims order{y.dim() - 1};
        for (int i = 0; i + 1 < y.dim(); ++i) order.push_back(i);
        y = permute(y, order, site);
    }
    kept.insert(0, q.numel());
    return reshape(y, kept, site);
}

std::int64_t interpolationOf(std::string_view op, std::string_view name, Site site) {
    for (std::size_t i = 0; i < kInterpolations.size(); ++i)
        if (kInterpolations[i] == name) return static_cast<std::int64_t>(i);
    throw Error(message(op,
                        ": interpolation must be linear, lower, higher, midpoint or nearest, "
                        "not ",
                        name) +
                placeSuffix("", site));
}

}  // namespace

constinit OpDef kQuantile =
    compositeRow("quantile", Family::Reduction, kArgs, kAttrs, composeOne<quantileOf<false>>);
constinit OpDef kNanquantile =
    compositeRow("nanquantile", Family::Reduction, kArgs, kAttrs, composeOne<quantileOf<true>>);

Tensor quantile(const Tensor& x, const Tensor& q, std::optional<std::int64_t> dim, bool keepdim,
                std::string_view interpolation, Site site) {
    return call1(kQuantile, {&x, &q},
                 Attrs(attrOf(dim), keepdim, interpolationOf("quantile", interpolation, site)),
                 site);
}
Tensor quantile(const Tensor& x, double q, std::optional<std::int64_t> dim, bool keepdim,
                std::string_view interpolation, Site site) {
    return quantile(x, Tensor::scalar(q, x.dtype()), dim, keepdim, interpolation, site);
}
Tensor nanquantile(const Tensor& x, const Tensor& q, std::optional<std::int64_t> dim, bool keepdim,
                   std::string_view interpolation, Site site) {
    return call1(kNanquantile, {&x, &q},
                 Attrs(attrOf(dim), keepdim, interpolationOf("nanquantile", interpolation, site)),
                 site);
}
Tensor nanquantile(const Tensor& x, double q, std::optional<std::int64_t> dim, bool keepdim,
                   std::string_view interpolation, Site site) {
    return nanquantile(x, Tensor::scalar(q, x.dtype()), dim, keepdim, interpolation, site);
}

}  // namespace tapescope::engine
