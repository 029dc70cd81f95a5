// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/histogram.h"

#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/statistics.h"
#include "engine/ops/statistics_rows.h"

namespace tapescope::engine {
namespace {

constexpr ArgDef kInput[] = {{"input"}};
constexpr ArgDef kCountArgs[] = {{"input"}, {.name = "weights", .optional = true}};
constexpr ArgDef kHistogramArgs[] = {
    {"input"}, {.name = "edges", .optional = true}, {.name = "weight", .optional = true}};
constexpr AttrDef kHistcAttrs[] = {
    {"bins", AttrKind::Int, "100"}, {"min", AttrKind::Float, "0"}, {"max", AttrKind::Float, "0"}};
constexpr AttrDef kMinlength[] = {{"minlength", AttrKind::Int, "0"}};
constexpr AttrDef kHistogramAttrs[] = {{"bins", AttrKind::Int, "100"},
                                       {"min", AttrKind::Float, "0"},
                                       {"max", AttrKind::Float, "0"},
                                       {"density", AttrKind::Bool, "false"}};

void checkBins(std::string_view op, const Attrs& attrs) {
    if (attrs.integer(0) < 1)
        throw ShapeError(message(op, ": bins ", attrs.integer(0), " must be at least 1"));
    checkSizes(op, {attrs.integer(0)});
    if (attrs.real(1) > attrs.real(2))
        throw Error(message(op, ": min ", std::to_string(attrs.real(1)), " is above max ",
                            std::to_string(attrs.real(2))));
}

void inferHistc(const OpArgs& a, OutputMetas& out) {
    checkBins("histc", a.attrs);
    out.add({a.attrs.integer(0)}, a[0].dtype());
}

void inferBincount(const OpArgs& a, OutputMetas& out) {
    if (!isIntegral(a[0].dtype()))
        throw DTypeError(message("bincount: input must be integers, not ", a[0].dtype()));
    checkRank("bincount", "input", a[0], 1);
    if (a.attrs.integer(0) < 0)
        throw ShapeError(
            message("bincount: minlength ", a.attrs.integer(0), " must not be negative"));
    if (!a.has(1)) return out.addDynamic(DType::I64);
    if (a[1].sizes() != a[0].sizes())
        throw ShapeError(
            message("bincount: weights ", a[1].sizes(), " must have input's sizes ", a[0].sizes()));
    out.addDynamic(a[1].dtype() == DType::F32 ? DType::F32 : DType::F64);
}

void inferHistogram(const OpArgs& a, OutputMetas& out) {
    std::int64_t bins = a.attrs.integer(0);
    if (a.has(1)) {
        checkRank("histogram", "edges", a[1], 1);
        checkSameDType("histogram", "input", a[0], "edges", a[1]);
        bins = a[1].numel() - 1;
        if (bins < 1)
            throw ShapeError(message("histogram: edges ", a[1].sizes(), " must be at least 2"));
    } else {
        checkBins("histogram", a.attrs);
    }
    if (a.has(2)) {
        checkSameDType("histogram", "input", a[0], "weight", a[2]);
        if (a[2].sizes() != a[0].sizes())
            throw ShapeError(message("histogram: weight ", a[2].sizes(),
                                     " must have input's sizes ", a[0].sizes()));
    }
    out.add({bins}, a[0].dtype());
    out.add({bins + 1}, a[0].dtype());
}

}  // namespace

constinit OpDef kHistc{.name = "histc",
                       .family = Family::Reduction,
                       .args = kInput,
                       .attrs = kHistcAttrs,
                       .types = TypeRule::Floating,
                       .infer = inferHistc,
                       .kernels = {cpu::histc}};
constinit OpDef kBincount{.name = "bincount",
                          .family = Family::Reduction,
                          .args = kCountArgs,
                          .attrs = kMinlength,
                          .infer = inferBincount,
                          .kernels = {cpu::bincount}};
constinit OpDef kHistogram{.name = "histogram",
                           .family = Family::Reduction,
                           .args = kHistogramArgs,
                           .attrs = kHistogramAttrs,
                           .types = TypeRule::Floating,
                           .infer = inferHistogram,
                           .kernels = {cpu::histogram}};

Tensor histc(const Tensor& x, std::int64_t bins, double min, double max, Site site) {
    return call1(kHistc, {&x}, Attrs(bins, min, max), site);
}
Tensor bincount(const Tensor& x, const Tensor& weights, std::int64_t minlength, Site site) {
    return call1(kBincount, {&x, &weights}, Attrs(minlength), site);
}
std::pair<Tensor, Tensor> histogram(const Tensor& x, std::int64_t bins, double min, double max,
                                    const Tensor& weight, bool density, Site site) {
    Outputs outs =
        call(kHistogram, {&x, &undefinedTensor(), &weight}, Attrs(bins, min, max, density), site);
    return {outs[0], outs[1]};
}
std::pair<Tensor, Tensor> histogram(const Tensor& x, const Tensor& edges, const Tensor& weight,
                                    bool density, Site site) {
    Outputs outs =
        call(kHistogram, {&x, &edges, &weight}, Attrs(std::int64_t{1}, 0.0, 0.0, density), site);
    return {outs[0], outs[1]};
}

}  // namespace tapescope::engine
