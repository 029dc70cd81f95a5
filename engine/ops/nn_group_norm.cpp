// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/norm_group.h"
#include "engine/observe/context.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/nn_norm.h"
#include "engine/ops/nn_norm_backward.h"
#include "engine/ops/nn_rows.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

#include <algorithm>

namespace tapescope::engine {

namespace {

constexpr std::string_view kOp = "group_norm";
constexpr std::string_view kBackward = "group_norm_backward";

const Tensor& optional(const OpArgs& a, int i) { return a.has(i) ? a[i] : undefinedTensor(); }

void checkValues(std::string_view op, const Tensor& input, std::string_view what, const OpArgs& a,
                 int i, const Dims& sizes) {
    if (!a.has(i)) return;
    if (a[i].sizes() != sizes)
        throw ShapeError(message(op, ": ", what, " ", a[i].sizes(), " must be ", sizes,
                                 " for input ", input.sizes()));
    checkSameDType(op, "input", input, what, a[i]);
}
void checkGroups(std::string_view op, const Tensor& input, std::int64_t groups) {
    if (input.dim() < 2)
        throw ShapeError(
            message(op, ": input ", input.sizes(), " must have at least 2 dimensions [N, C, ...]"));
    const std::int64_t channels = input.size(1);
    if (groups < 1 || channels % groups != 0)
        throw ShapeError(message(op, ": the ", channels, " channels of input ", input.sizes(),
                                 " do not divide into ", groups, " groups"));
}

void infer(const OpArgs& a, OutputMetas& out) {
    const std::int64_t groups = a.attrs.integer(0);
    checkGroups(kOp, a[0], groups);
    const Dims perChannel{a[0].size(1)};
    checkValues(kOp, a[0], "weight", a, 1, perChannel);
    checkValues(kOp, a[0], "bias", a, 2, perChannel);
    out.add(a[0].sizes(), a[0].dtype());
    out.add({a[0].size(0), groups}, a[0].dtype());
    out.add({a[0].size(0), groups}, a[0].dtype());
}
void kernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::groupNorm(a[0], a.attrs.integer(0), optional(a, 1), optional(a, 2), a.attrs.real(1),
                   out[0], out[1], out[2]);
}

/// [N, C, ...] as [N, groups, C / groups, elements], and what is per channel or per group of it.
struct Views {
    Views(const Dims& sizes, std::int64_t groups) {
        std::int64_t plane = 1;
        for (int d = 2; d < sizes.size(); ++d) plane *= sizes[d];
        input = {sizes[0], groups, sizes[1] / groups, plane};
        channels = {1, groups, sizes[1] / groups, 1};
        statistics = {sizes[0], groups, 1, 1};
    }
    Dims input;
    Dims channels;
    Dims statistics;
};
const Dims kWithinGroup{2, 3};
const Dims kPerChannel{0, 3};

void vjpRecorded(const VjpArgs& v, std::span<Tensor> grads) {
    const Views views(v.meta(0).sizes, v.attrs.integer(0));
    const double eps = v.attrs.real(1);
    const Tensor x = reshape(v.input(0), views.input);
    const Tensor g = reshape(v.grad(), views.input);
    const bool weighted = v.inputCount() > 1 && v.input(1).defined();
    const Tensor gw = weighted ? mul(g, reshape(v.input(1), views.channels)) : g;
    const Dims perChannel{v.meta(0).sizes[1]};
    if (v.need(0))
        grads[0] = reshape(normalizationInputGrad(gw, x, kWithinGroup, eps), v.meta(0).sizes);
    if (weighted && v.need(1))
        grads[1] =
            reshape(sum(mul(g, normalizedOver(x, kWithinGroup, eps)), kPerChannel), perChannel);
    if (v.inputCount() > 2 && v.need(2)) grads[2] = reshape(sum(g, kPerChannel), perChannel);
}

void vjp(const VjpArgs& v, std::span<Tensor> grads) {
    // The statistics are for inspection and carry no gradient.
    if (!v.grad().defined()) return;
    if (grad_enabled()) return vjpRecorded(v, grads);
    const Tensor& weight = v.inputCount() > 1 ? v.input(1) : undefinedTensor();
    const Tensor& mean = v.output(1);
    const Tensor& invstd = v.output(2);
    Outputs all = call(kGroupNormBackward, {&v.grad(), &v.input(0), &mean, &invstd, &weight},
                       Attrs(v.attrs.integer(0)), Site());
    for (int i = 0; i < std::min(3, v.inputCount()); ++i) grads[static_cast<unsigned>(i)] = all[i];
}

void inferBackward(const OpArgs& a, OutputMetas& out) {
    const std::int64_t groups = a.attrs.integer(0);
    checkGroups(kBackward, a[1], groups);
    if (a[0].sizes() != a[1].sizes())
        throw ShapeError(message(kBackward, ": grad ", a[0].sizes(),
                                 " must have the shape of input ", a[1].sizes()));
    checkSameDType(kBackward, "grad", a[0], "input", a[1]);
    const Dims statistics{a[1].size(0), groups};
    const Dims perChannel{a[1].size(1)};
    checkValues(kBackward, a[1], "mean", a, 2, statistics);
    checkValues(kBackward, a[1], "invstd", a, 3, statistics);
    checkValues(kBackward, a[1], "weight", a, 4, perChannel);
    out.add(a[1].sizes(), a[1].dtype());
    out.add(perChannel, a[1].dtype());
    out.add(perChannel, a[1].dtype());
}
void backwardKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::groupNormBackward(a[0], a[1], a.attrs.integer(0), optional(a, 4), a[2], a[3], out[0],
                           out[1], out[2]);
}
void vjpBackward(const VjpArgs& v, std::span<Tensor> grads) {
    const Views views(v.meta(1).sizes, v.attrs.integer(0));
    NormBackward norm;
    norm.view = views.input;
    norm.overStatistics = kWithinGroup;
    norm.overWeight = kPerChannel;
    norm.statisticsShape = views.statistics;
    norm.weightShape = views.channels;
    vjpNormBackward(v, norm, grads);
}

constexpr ArgDef kArgs[] = {
    {"input"}, {.name = "weight", .optional = true}, {.name = "bias", .optional = true}};
constexpr ArgDef kBackwardArgs[] = {
    {"grad"}, {"input"}, {"mean"}, {"invstd"}, {.name = "weight", .optional = true}};
constexpr AttrDef kAttrs[] = {{"num_groups", AttrKind::Int}, {"eps", AttrKind::Float, "1e-05"}};

}  // namespace

// Outputs: result, mean, 1 / sqrt(var + eps).
constinit OpDef kGroupNorm{.name = kOp,
                           .family = Family::Nn,
                           .args = kArgs,
                           .attrs = kAttrs,
                           .types = TypeRule::Floating,
                           .infer = infer,
                           .vjp = vjp,
                           .saveInputs = 0b11,
                           .saveOutputs = 0b110,
                           .kernels = {kernel}};
constinit OpDef kGroupNormBackward{.name = kBackward,
                                   .family = Family::Nn,
                                   .args = kBackwardArgs,
                                   .attrs = std::span(kAttrs).first(1),
                                   .types = TypeRule::Floating,
                                   .infer = inferBackward,
                                   .vjp = vjpBackward,
                                   .saveInputs = 0b11111,
                                   .kernels = {backwardKernel}};

Tensor group_norm(const Tensor& input, std::int64_t num_groups, const Tensor& weight,
                  const Tensor& bias, double eps, Site site) {
    return call1(kGroupNorm, {&input, &weight, &bias}, Attrs(num_groups, eps), site);
}

}  // namespace tapescope::engine
