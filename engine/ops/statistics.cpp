// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/statistics.h"

#include "engine/ops/checks.h"
#include "engine/ops/composite.h"
#include "engine/ops/diagonal.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/families.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "engine/ops/statistics_rows.h"

#include <algorithm>

namespace tapescope::engine {
namespace {

constexpr ArgDef kInput[] = {{"input"}};
constexpr ArgDef kCovArgs[] = {
    {"input"}, {.name = "fweights", .optional = true}, {.name = "aweights", .optional = true}};
constexpr AttrDef kDims[] = {{"dim", AttrKind::Dims, "[]"}};
constexpr AttrDef kDimsKeepdim[] = {{"dim", AttrKind::Dims, "[]"},
                                    {"keepdim", AttrKind::Bool, "false"}};
constexpr AttrDef kDimKeepdim[] = {{"dim", AttrKind::Int, "none"},
                                   {"keepdim", AttrKind::Bool, "false"}};
constexpr AttrDef kVarAttrs[] = {{"dim", AttrKind::Dims, "[]"},
                                 {"correction", AttrKind::Int, "1"},
                                 {"keepdim", AttrKind::Bool, "false"}};
constexpr AttrDef kCorrection[] = {{"correction", AttrKind::Int, "1"}};

Tensor countNonzeroOf(const OpArgs& a, Site site) {
    return sum(ne(a[0], wrappedNumber(std::int64_t{0}), site), a.attrs.dims(0), false, site);
}
Tensor nanmeanOf(const OpArgs& a, Site site) {
    const Tensor& x = a[0];
    const Dims& dims = a.attrs.dims(0);
    const bool keepdim = a.attrs.flag(1);
    const Tensor numbers = logical_not(isnan(x, site), site);
    return div(nansum(x, dims, keepdim, site), sum(numbers, dims, keepdim, site), site);
}
void aminmaxOf(const OpArgs& a, Site site, Outputs& out) {
    const Dims dims = a.attrs.has(0) ? Dims{a.attrs.integer(0)} : Dims{};
    const bool keepdim = a.attrs.flag(1);
    out[0] = amin(a[0], dims, keepdim, site);
    out[1] = amax(a[0], dims, keepdim, site);
    out.count = 2;
}
template <bool root>
void varMeanOf(const OpArgs& a, Site site, Outputs& out) {
    const Dims& dims = a.attrs.dims(0);
    const bool keepdim = a.attrs.flag(2);
    out[0] = (root ? std : var)(a[0], dims, a.attrs.integer(1), keepdim, site);
    out[1] = mean(a[0], dims, keepdim, site);
    out.count = 2;
}

void checkWeights(std::string_view what, const Tensor& w, std::int64_t observations) {
    if (w.dim() > 1 || w.numel() != observations)
        throw ShapeError(message("cov: ", what, " ", w.sizes(),
                                 " must hold one number for each of ", observations,
                                 " observations"));
    const std::vector<double> values = w.to_vector<double>();
    if (std::any_of(values.begin(), values.end(), [](double v) { return v < 0; }))
        throw Error(message("cov: ", what, " must not be negative"));
}

/// Source: the definition, with weights and the correction of their sum as NumPy's.
Tensor covOf(const OpArgs& a, Site site) {
    if (a[0].dim() > 2)
        throw ShapeError(message("cov: input ", a[0].sizes(), " must have at most 2 dimensions"));
    if (a[0].dtype() == DType::Bool) throw DTypeError("cov: bool values have no covariance");
    if (isComplex(a[0].dtype()))
        throw DTypeError(
            "cov: complex64 is not supported, there are no products of complex matrices");
    const Tensor given = isFloating(a[0].dtype()) ? a[0] : to(a[0], DType::F32, site);
    const Tensor x = given.dim() < 2 ? reshape(given, {1, given.numel()}, site) : given;
    const std::int64_t observations = x.size(1);
    const auto correction = static_cast<double>(a.attrs.integer(0));
    Tensor w;
    if (a.has(1)) {
        checkIndexDType("cov", a[1], "fweights");
        checkWeights("fweights", a[1], observations);
        w = to(a[1], x.dtype(), site);
    }
    if (a.has(2)) {
        checkFloating("cov", "aweights", a[2]);
        checkWeights("aweights", a[2], observations);
        const Tensor aweights = to(a[2], x.dtype(), site);
        w = w.defined() ? mul(w, aweights, site) : aweights;
    }
    const Tensor total =
        w.defined() ? sum(w, {}, false, site)
                    : full({}, static_cast<double>(observations), {.dtype = x.dtype()}, site);
    const Tensor weighted = w.defined() ? mul(x, w, site) : x;
    const Tensor centred = sub(x, div(sum(weighted, {1}, true, site), total, site), site);
    Tensor freedom = sub(total, correction, site);
    if (a.has(2)) {
        const Tensor squares = a.has(1) ? mul(w, to(a[2], x.dtype(), site), site) : square(w, site);
        freedom = sub(total, mul(div(sum(squares, {}, false, site), total, site), correction, site),
                      site);
    }
    freedom = relu(freedom, site);
    const Tensor right = w.defined() ? mul(centred, w, site) : centred;
    const Tensor c = div(matmul(centred, transpose(right, 0, 1, site), site), freedom, site);
    return x.size(0) == 1 ? reshape(c, {}, site) : c;
}
Tensor corrcoefOf(const OpArgs& a, Site site) {
    const Tensor c = cov(a[0], 1, {}, {}, site);
    if (c.dim() == 0) return div(c, c, site);
    const Tensor deviation = sqrt(diagonal(c, 0, 0, 1, site), site);
    const Tensor scaled = div(div(c, unsqueeze(deviation, 1, site), site), deviation, site);
    return clamp(scaled, -1, 1, site);
}

std::pair<Tensor, Tensor> both(Outputs outs) { return {outs[0], outs[1]}; }

}  // namespace

constinit OpDef kCountNonzero = compositeRow("count_nonzero", Family::Reduction, kInput, kDims,
                                             composeOne<countNonzeroOf>, TypeRule::AsIs, false);
constinit OpDef kNanmean = compositeRow("nanmean", Family::Reduction, kInput, kDimsKeepdim,
                                        composeOne<nanmeanOf>, TypeRule::Floating);
constinit OpDef kAminmax =
    compositeRow("aminmax", Family::Reduction, kInput, kDimKeepdim, aminmaxOf);
constinit OpDef kVarMean =
    compositeRow("var_mean", Family::Reduction, kInput, kVarAttrs, varMeanOf<false>);
constinit OpDef kStdMean =
    compositeRow("std_mean", Family::Reduction, kInput, kVarAttrs, varMeanOf<true>);
constinit OpDef kCov =
    compositeRow("cov", Family::Reduction, kCovArgs, kCorrection, composeOne<covOf>);
constinit OpDef kCorrcoef =
    compositeRow("corrcoef", Family::Reduction, kInput, {}, composeOne<corrcoefOf>);

std::span<OpDef* const> statisticsOps() {
    static constexpr OpDef* kRows[] = {&kCountNonzero, &kNansum,   &kNanmean,  &kAminmax,
                                       &kVarMean,      &kStdMean,  &kCov,      &kCorrcoef,
                                       &kHistc,        &kBincount, &kHistogram};
    return kRows;
}

Tensor count_nonzero(const Tensor& x, const Dims& dims, Site site) {
    return call1(kCountNonzero, {&x}, Attrs(dims), site);
}
Tensor nansum(const Tensor& x, const Dims& dims, bool keepdim, Site site) {
    return call1(kNansum, {&x}, Attrs(dims, keepdim), site);
}
Tensor nanmean(const Tensor& x, const Dims& dims, bool keepdim, Site site) {
    return call1(kNanmean, {&x}, Attrs(dims, keepdim), site);
}
std::pair<Tensor, Tensor> aminmax(const Tensor& x, std::optional<std::int64_t> dim, bool keepdim,
                                  Site site) {
    return both(call(kAminmax, {&x}, Attrs(attrOf(dim), keepdim), site));
}
std::pair<Tensor, Tensor> var_mean(const Tensor& x, const Dims& dims, std::int64_t correction,
                                   bool keepdim, Site site) {
    return both(call(kVarMean, {&x}, Attrs(dims, correction, keepdim), site));
}
std::pair<Tensor, Tensor> std_mean(const Tensor& x, const Dims& dims, std::int64_t correction,
                                   bool keepdim, Site site) {
    return both(call(kStdMean, {&x}, Attrs(dims, correction, keepdim), site));
}
Tensor cov(const Tensor& x, std::int64_t correction, const Tensor& fweights, const Tensor& aweights,
           Site site) {
    return call1(kCov, {&x, &fweights, &aweights}, Attrs(correction), site);
}
Tensor corrcoef(const Tensor& x, Site site) { return call1(kCorrcoef, {&x}, {}, site); }

}  // namespace tapescope::engine
