// SPDX-License-Identifier: Apache-2.0
// Normalisations that are composed of operators.
#include "engine/observe/context.h"
#include "engine/ops/checks.h"
#include "engine/ops/composite.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/nn_norm.h"
#include "engine/ops/nn_rows.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

#include <cmath>
#include <limits>

namespace tapescope::engine {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Throws unless input is [N, C, ...] and the values are absent or [C].
void checkChannels(std::string_view op, const Tensor& input, std::string_view what,
                   const Tensor& values) {
    if (!values.defined()) return;
    if (values.sizes() != Dims{input.size(1)})
        throw ShapeError(message(op, ": ", what, " ", values.sizes(), " must be [", input.size(1),
                                 "] for input ", input.sizes()));
    checkSameDType(op, "input", input, what, values);
}

/// values [C], `times` times one after another.
Tensor repeated(const Tensor& values, std::int64_t times, Site site) {
    if (!values.defined()) return values;
    return reshape(expand(unsqueeze(values, 0, site), {times, values.numel()}, site),
                   {times * values.numel()}, site);
}

const Tensor& optional(const OpArgs& a, int i) { return a.has(i) ? a[i] : undefinedTensor(); }

Tensor instanceNorm(const OpArgs& a, Site site) {
    return instance_norm(a[0], optional(a, 1), optional(a, 2),
                         {.running_mean = optional(a, 3),
                          .running_var = optional(a, 4),
                          .use_input_stats = a.attrs.flag(0),
                          .momentum = a.attrs.real(1)},
                         a.attrs.real(2), site);
}
Tensor rmsNorm(const OpArgs& a, Site site) {
    return rms_norm(a[0], a.attrs.dims(0), optional(a, 1), a.attrs.real(1), site);
}
Tensor localResponseNorm(const OpArgs& a, Site site) {
    return local_response_norm(a[0], a.attrs.integer(0), a.attrs.real(1), a.attrs.real(2),
                               a.attrs.real(3), site);
}
Tensor normalizeOf(const OpArgs& a, Site site) {
    return normalize(a[0], a.attrs.real(0), a.attrs.integer(1), a.attrs.real(2), site);
}
Tensor weightNorm(const OpArgs& a, Site site) {
    return weight_norm(a[0], a[1], a.attrs.integer(0), site);
}

constexpr ArgDef kArgs[] = {{"input"},
                            {.name = "weight", .optional = true},
                            {.name = "bias", .optional = true},
                            {.name = "running_mean", .optional = true},
                            {.name = "running_var", .optional = true}};
constexpr ArgDef kVectors[] = {{"v"}, {"g"}};
constexpr AttrDef kEps{"eps", AttrKind::Float, "1e-05"};
constexpr AttrDef kInstanceAttrs[] = {
    {"use_input_stats", AttrKind::Bool, "true"}, {"momentum", AttrKind::Float, "0.1"}, kEps};
constexpr AttrDef kRmsAttrs[] = {{"normalized_shape", AttrKind::Dims},
                                 {"eps", AttrKind::Float, "-1"}};
constexpr AttrDef kLocalAttrs[] = {{"size", AttrKind::Int},
                                   {"alpha", AttrKind::Float, "0.0001"},
                                   {"beta", AttrKind::Float, "0.75"},
                                   {"k", AttrKind::Float, "1"}};
constexpr AttrDef kNormalizeAttrs[] = {
    {"p", AttrKind::Float, "2"}, {"dim", AttrKind::Int, "1"}, {"eps", AttrKind::Float, "1e-12"}};
constexpr AttrDef kDim[] = {{"dim", AttrKind::Int, "0"}};

constexpr OpDef row(std::string_view name, std::span<const ArgDef> args,
                    std::span<const AttrDef> attrs, CompositeFn composite) {
    return {.name = name,
            .family = Family::Nn,
            .args = args,
            .attrs = attrs,
            .types = TypeRule::Floating,
            .composite = composite};
}

}  // namespace

constinit OpDef kInstanceNorm =
    row("instance_norm", kArgs, kInstanceAttrs, composeOne<instanceNorm>);
constinit OpDef kRmsNorm =
    row("rms_norm", std::span(kArgs).first(2), kRmsAttrs, composeOne<rmsNorm>);
constinit OpDef kLocalResponseNorm = row("local_response_norm", std::span(kArgs).first(1),
                                         kLocalAttrs, composeOne<localResponseNorm>);
constinit OpDef kNormalize =
    row("normalize", std::span(kArgs).first(1), kNormalizeAttrs, composeOne<normalizeOf>);
constinit OpDef kWeightNorm = row("weight_norm", kVectors, kDim, composeOne<weightNorm>);

Tensor instance_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                     const InstanceNormStatistics& s, double eps, Site site) try {
    constexpr std::string_view kOp = "instance_norm";
    if (input.dim() < 3)
        throw ShapeError(message(kOp, ": input ", input.sizes(),
                                 " must have at least 3 dimensions [N, C, d...]"));
    checkChannels(kOp, input, "weight", weight);
    checkChannels(kOp, input, "bias", bias);
    checkChannels(kOp, input, "running_mean", s.running_mean);
    checkChannels(kOp, input, "running_var", s.running_var);
    const std::int64_t batch = input.size(0);
    const std::int64_t channels = input.size(1);
    if (!s.use_input_stats)
        return batch_norm(input, weight, bias, s.running_mean, s.running_var, false, s.momentum,
                          eps, site);
    std::int64_t plane = 1;
    for (int d = 2; d < input.dim(); ++d) plane *= input.size(d);
    if (plane == 1)
        throw ShapeError(
            message(kOp, ": more than 1 value a channel is needed, input is ", input.sizes()));
    // The samples' channels as those of one sample; the statistics of each in memory of its own,
    // as they are written.
    const auto own = [&](const Tensor& t) {
        return t.defined() ? clone(repeated(t.detach(), batch, site), site) : t;
    };
    const Tensor mean = own(s.running_mean);
    const Tensor var = own(s.running_var);
    const Tensor joined = reshape(input, {1, batch * channels, plane}, site);
    const Tensor y = batch_norm(joined, repeated(weight, batch, site), repeated(bias, batch, site),
                                mean, var, true, s.momentum, eps, site);
    const auto fold = [&](const Tensor& running, const Tensor& each) {
        const NoGradGuard guard;
        if (running.defined())
            copy_(running, engine::mean(reshape(each, {batch, channels}, site), {0}, false, site),
                  site);
    };
    if (batch > 0) {
        fold(s.running_mean, mean);
        fold(s.running_var, var);
    }
    return reshape(y, input.sizes(), site);
} catch (const Error&) {
    rethrowPlaced(site);
}

Tensor rms_norm(const Tensor& input, const Dims& normalized_shape, const Tensor& weight, double eps,
                Site site) try {
    constexpr std::string_view kOp = "rms_norm";
    const int lead = input.dim() - normalized_shape.size();
    bool ends = !normalized_shape.empty() && lead >= 0;
    Dims dims;
    for (int i = 0; ends && i < normalized_shape.size(); ++i) {
        ends = input.size(lead + i) == normalized_shape[i];
        dims.push_back(lead + i);
    }
    if (!ends)
        throw ShapeError(message(kOp, ": input ", input.sizes(),
                                 " must end in the normalized shape ", normalized_shape));
    if (weight.defined() && weight.sizes() != normalized_shape)
        throw ShapeError(message(kOp, ": weight ", weight.sizes(), " must be ", normalized_shape,
                                 " for input ", input.sizes()));
    double floor = eps;
    if (eps < 0)
        floor = input.dtype() == DType::F64 ? std::numeric_limits<double>::epsilon()
                                            : std::numeric_limits<float>::epsilon();
    const Tensor power = add(mean(square(input, site), dims, true, site), floor, site);
    const Tensor y = mul(input, rsqrt(power, site), site);
    return weight.defined() ? mul(y, weight, site) : y;
} catch (const Error&) {
    rethrowPlaced(site);
}

Tensor local_response_norm(const Tensor& input, std::int64_t size, double alpha, double beta,
                           double k, Site site) try {
    constexpr std::string_view kOp = "local_response_norm";
    if (input.dim() < 3)
        throw ShapeError(message(kOp, ": input ", input.sizes(),
                                 " must have at least 3 dimensions [N, C, d...]"));
    if (size < 1) throw ShapeError(message(kOp, ": size ", size, " must be at least 1"));
    if (input.numel() == 0) return input;
    std::int64_t plane = 1;
    for (int d = 2; d < input.dim(); ++d) plane *= input.size(d);
    const Dims image{input.size(0), 1, input.size(1), plane};
    const Tensor squares =
        pad(reshape(square(input, site), image, site), {0, 0, size / 2, (size - 1) / 2}, 0, site);
    const Tensor local =
        avg_pool2d(squares, {.kernel = {size, 1}, .stride = {1, 1}, .padding = {0, 0}}, site);
    const Tensor base = add(mul(reshape(local, input.sizes(), site), alpha, site), k, site);
    return div(input, pow(base, beta, site), site);
} catch (const Error&) {
    rethrowPlaced(site);
}

Tensor normalize(const Tensor& x, double p, std::int64_t dim, double eps, Site site) try {
    if (!(p > 0)) throw Error("normalize: p " + std::to_string(p) + " must be greater than 0");
    const Dims along{dim};
    const Tensor size = abs(x, site);
    // Lifted before the root, whose gradient at 0 would be infinite.
    if (p == 2) {
        const Tensor squares =
            clamp(sum(square(x, site), along, true, site), eps * eps, kInfinity, site);
        return div(x, sqrt(squares, site), site);
    }
    if (p == 1) return div(x, clamp(sum(size, along, true, site), eps, kInfinity, site), site);
    if (p == kInfinity)
        return div(x, clamp(amax(size, along, true, site), eps, kInfinity, site), site);
    const Tensor powers =
        clamp(sum(pow(size, p, site), along, true, site), std::pow(eps, p), kInfinity, site);
    return div(x, pow(powers, 1 / p, site), site);
} catch (const Error&) {
    rethrowPlaced(site);
}

Tensor weight_norm(const Tensor& v, const Tensor& g, std::int64_t dim, Site site) try {
    Dims others;
    const int kept = dim == -1 ? -1 : wrapDim("weight_norm", dim, v.dim());
    for (int d = 0; d < v.dim(); ++d)
        if (d != kept) others.push_back(d);
    // An empty list would mean all dimensions.
    const Tensor squares = square(v, site);
    const Tensor total = others.empty() ? squares : sum(squares, others, kept >= 0, site);
    return mul(v, div(g, sqrt(total, site), site), site);
} catch (const Error&) {
    rethrowPlaced(site);
}

}  // namespace tapescope::engine
