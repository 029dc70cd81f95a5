// SPDX-License-Identifier: Apache-2.0
// Pooling by means and by powers.
#include "engine/ops/checks.h"
#include "engine/ops/composite.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/nn_attrs.h"
#include "engine/ops/nn_pool.h"
#include "engine/ops/nn_pool_shape.h"
#include "engine/ops/nn_rows.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"

namespace tapescope::engine {

namespace {

using cpu::AverageRule;
using cpu::PoolShape;

constexpr std::string_view kAvg[] = {"avg_pool1d", "avg_pool2d", "avg_pool3d"};
constexpr std::string_view kAvgBackward[] = {"avg_pool1d_backward", "avg_pool2d_backward",
                                             "avg_pool3d_backward"};
constexpr std::string_view kAdaptive[] = {"adaptive_avg_pool1d", "adaptive_avg_pool2d",
                                          "adaptive_avg_pool3d"};
constexpr std::string_view kAdaptiveBackward[] = {
    "adaptive_avg_pool1d_backward", "adaptive_avg_pool2d_backward", "adaptive_avg_pool3d_backward"};
constexpr std::string_view kLp[] = {"lp_pool1d", "lp_pool2d", "lp_pool3d"};

// Attributes: kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override.
PoolAttrs attrsFrom(int first) {
    return {.kernel = first, .stride = first + 1, .padding = first + 2, .ceilMode = first + 3};
}
AverageRule ruleOf(std::string_view op, const Attrs& attrs, int first) {
    const AverageRule rule{attrs.flag(first + 4), attrs.integer(first + 5)};
    if (rule.divisor < 0)
        throw ShapeError(
            message(op, ": divisor_override ", rule.divisor, " must be positive, or 0 for none"));
    return rule;
}

template <int R>
const OpDef& avgRow() {
    return R == 1 ? kAvgPool1d : R == 2 ? kAvgPool2d : kAvgPool3d;
}
template <int R>
const OpDef& avgBackwardRow() {
    return R == 1 ? kAvgPool1dBackward : R == 2 ? kAvgPool2dBackward : kAvgPool3dBackward;
}
template <int R>
const OpDef& adaptiveBackwardRow() {
    return R == 1   ? kAdaptiveAvgPool1dBackward
           : R == 2 ? kAdaptiveAvgPool2dBackward
                    : kAdaptiveAvgPool3dBackward;
}

template <int R>
void inferAvg(const OpArgs& a, OutputMetas& out) {
    ruleOf(kAvg[R - 1], a.attrs, 0);
    const PoolShape s = poolShape(kAvg[R - 1], R, a[0].sizes(), a.attrs, attrsFrom(0));
    out.add(pooledSizes(a[0].sizes(), s), a[0].dtype());
}
template <int R>
void avgKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::avgPool(poolShape(kAvg[R - 1], R, a[0].sizes(), a.attrs, attrsFrom(0)),
                 ruleOf(kAvg[R - 1], a.attrs, 0), a[0], out[0]);
}
template <int R>
void inferAvgBackward(const OpArgs& a, OutputMetas& out) {
    constexpr std::string_view kOp = kAvgBackward[R - 1];
    const Dims& input = a.attrs.dims(0);
    checkSizes(kOp, input);
    ruleOf(kOp, a.attrs, 1);
    checkPooledGrad(kOp, a[0], input, poolShape(kOp, R, input, a.attrs, attrsFrom(1)));
    out.add(input, a[0].dtype());
}
template <int R>
void avgBackwardKernel(const OpArgs& a, std::span<Tensor> out) {
    constexpr std::string_view kOp = kAvgBackward[R - 1];
    cpu::avgPoolBackward(poolShape(kOp, R, a.attrs.dims(0), a.attrs, attrsFrom(1)),
                         ruleOf(kOp, a.attrs, 1), a[0], out[0]);
}
template <int R>
void vjpAvg(const VjpArgs& v, std::span<Tensor> grads) {
    Attrs attrs(v.meta(0).sizes);
    for (int i = 0; i < 6; ++i) attrs.push_back(v.attrs[i]);
    grads[0] = call1(avgBackwardRow<R>(), {&v.grad()}, attrs, Site());
}
template <int R>
void vjpAvgBackward(const VjpArgs& v, std::span<Tensor> grads) {
    Attrs attrs;
    for (int i = 1; i < 7; ++i) attrs.push_back(v.attrs[i]);
    grads[0] = call1(avgRow<R>(), {&v.grad()}, attrs, Site());
}

/// 1-d and 3-d give one list, 2-d two numbers.
template <int R>
Dims outputSize(const Attrs& attrs) {
    return R == 2 ? Dims{attrs.integer(0), attrs.integer(1)} : attrs.dims(0);
}
template <int R>
Tensor adaptive(const Tensor& input, const Dims& size, Site site) {
    if constexpr (R == 2) return adaptive_avg_pool2d(input, size, site);
    return R == 1 ? adaptive_avg_pool1d(input, size, site) : adaptive_avg_pool3d(input, size, site);
}

template <int R>
void inferAdaptive(const OpArgs& a, OutputMetas& out) {
    const Dims& input = a[0].sizes();
    out.add(pooledSizes(input, adaptiveShape(kAdaptive[R - 1], R, input, outputSize<R>(a.attrs))),
            a[0].dtype());
}
template <int R>
void adaptiveKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::adaptiveAvgPool(adaptiveShape(kAdaptive[R - 1], R, a[0].sizes(), outputSize<R>(a.attrs)),
                         a[0], out[0]);
}
template <int R>
PoolShape adaptiveBackwardShape(const OpArgs& a) {
    // The gradient's own sizes say what the output's were.
    return pooledShape(kAdaptiveBackward[R - 1], R, a.attrs.dims(0), a[0]);
}
template <int R>
void inferAdaptiveBackward(const OpArgs& a, OutputMetas& out) {
    adaptiveBackwardShape<R>(a);
    out.add(a.attrs.dims(0), a[0].dtype());
}
template <int R>
void adaptiveBackwardKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::adaptiveAvgPoolBackward(adaptiveBackwardShape<R>(a), a[0], out[0]);
}
template <int R>
void vjpAdaptive(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = call1(adaptiveBackwardRow<R>(), {&v.grad()}, Attrs(v.meta(0).sizes), Site());
}
template <int R>
void vjpAdaptiveBackward(const VjpArgs& v, std::span<Tensor> grads) {
    const Dims& pooled = v.meta(0).sizes;
    Dims size;
    for (int i = pooled.size() - R; i < pooled.size(); ++i) size.push_back(pooled[i]);
    grads[0] = adaptive<R>(v.grad(), size, Site());
}

template <int R>
Cost avgCost(const OpArgs& a, std::span<const Tensor> outputs) {
    return poolCost(a, outputs, 0, outputs[0], R);
}
template <int R>
Cost avgBackwardCost(const OpArgs& a, std::span<const Tensor> outputs) {
    return poolCost(a, outputs, 1, a[0], R);
}

/// As PyTorch computes it: the mean of the powers times the window's size, cut off at 0, and its
/// root.
template <int R>
Tensor lpPool(const Tensor& input, double norm_type, const PoolParams& params, Site site) try {
    constexpr std::string_view kOp = kLp[R - 1];
    if (!(norm_type != 0)) throw Error(message(kOp, ": norm_type must not be 0 or NaN"));
    const Spatial kernel = spatialAttr(kOp, "kernel_size", params.kernel, R, 1, 1);
    const Tensor powers = pow(input, norm_type, site);
    const Tensor mean =
        call1(avgRow<R>(), {&powers},
              Attrs(params.kernel, params.stride, Dims{0}, params.ceil_mode, true, std::int64_t{0}),
              site);
    const auto window = static_cast<double>(kernel[0] * kernel[1] * kernel[2]);
    const Tensor positive = mul(sign(mean, site), relu(abs(mean, site), site), site);
    return pow(mul(positive, window, site), 1 / norm_type, site);
} catch (const Error&) {
    rethrowPlaced(site);
}

constexpr ArgDef kInput[] = {{"input"}};
constexpr ArgDef kGrad[] = {{"grad"}};
constexpr AttrDef kAvgAttrs[] = {{"kernel_size", AttrKind::Dims},
                                 {"stride", AttrKind::Dims, "[]"},
                                 {"padding", AttrKind::Dims, "0"},
                                 {"ceil_mode", AttrKind::Bool, "false"},
                                 {"count_include_pad", AttrKind::Bool, "true"},
                                 {"divisor_override", AttrKind::Int, "0"}};
constexpr AttrDef kAvgBackwardAttrs[] = {{"input_sizes", AttrKind::Dims},
                                         kAvgAttrs[0],
                                         kAvgAttrs[1],
                                         kAvgAttrs[2],
                                         kAvgAttrs[3],
                                         kAvgAttrs[4],
                                         kAvgAttrs[5]};
constexpr AttrDef kHeightWidth[] = {{"height", AttrKind::Int}, {"width", AttrKind::Int}};
constexpr AttrDef kOutputSize[] = {{"output_size", AttrKind::Dims}};
constexpr AttrDef kInputSizes[] = {{"input_sizes", AttrKind::Dims}};
constexpr AttrDef kLpAttrs[] = {{"norm_type", AttrKind::Float},
                                {"kernel_size", AttrKind::Dims},
                                {"stride", AttrKind::Dims, "[]"},
                                {"ceil_mode", AttrKind::Bool, "false"}};

template <int R>
constexpr OpDef avgDef() {
    return {.name = kAvg[R - 1],
            .family = Family::Nn,
            .args = kInput,
            .attrs = kAvgAttrs,
            .types = TypeRule::Floating,
            .infer = inferAvg<R>,
            .vjp = vjpAvg<R>,
            .cost = avgCost<R>,
            .kernels = {avgKernel<R>}};
}
template <int R>
constexpr OpDef avgBackwardDef() {
    return {.name = kAvgBackward[R - 1],
            .family = Family::Nn,
            .args = kGrad,
            .attrs = kAvgBackwardAttrs,
            .types = TypeRule::Floating,
            .infer = inferAvgBackward<R>,
            .vjp = vjpAvgBackward<R>,
            .cost = avgBackwardCost<R>,
            .kernels = {avgBackwardKernel<R>}};
}
template <int R>
constexpr OpDef adaptiveDef() {
    return {.name = kAdaptive[R - 1],
            .family = Family::Nn,
            .args = kInput,
            .attrs = R == 2 ? std::span<const AttrDef>(kHeightWidth)
                            : std::span<const AttrDef>(kOutputSize),
            .types = TypeRule::Floating,
            .infer = inferAdaptive<R>,
            .vjp = vjpAdaptive<R>,
            .kernels = {adaptiveKernel<R>}};
}
template <int R>
constexpr OpDef adaptiveBackwardDef() {
    return {.name = kAdaptiveBackward[R - 1],
            .family = Family::Nn,
            .args = kGrad,
            .attrs = kInputSizes,
            .types = TypeRule::Floating,
            .infer = inferAdaptiveBackward<R>,
            .vjp = vjpAdaptiveBackward<R>,
            .kernels = {adaptiveBackwardKernel<R>}};
}
template <int R>
Tensor lpComposite(const OpArgs& a, Site site) {
    return lpPool<R>(
        a[0], a.attrs.real(0),
        {.kernel = a.attrs.dims(1), .stride = a.attrs.dims(2), .ceil_mode = a.attrs.flag(3)}, site);
}
template <int R>
constexpr OpDef lpDef() {
    return {.name = kLp[R - 1],
            .family = Family::Nn,
            .args = kInput,
            .attrs = kLpAttrs,
            .types = TypeRule::Floating,
            .composite = composeOne<lpComposite<R>>};
}

template <class Params>
Attrs avgAttrs(const Params& p) {
    return Attrs(p.kernel, p.stride, p.padding, p.ceil_mode, p.count_include_pad,
                 p.divisor_override);
}

}  // namespace

constinit OpDef kAvgPool1d = avgDef<1>();
constinit OpDef kAvgPool2d = avgDef<2>();
constinit OpDef kAvgPool3d = avgDef<3>();
constinit OpDef kAvgPool1dBackward = avgBackwardDef<1>();
constinit OpDef kAvgPool2dBackward = avgBackwardDef<2>();
constinit OpDef kAvgPool3dBackward = avgBackwardDef<3>();
constinit OpDef kAdaptiveAvgPool1d = adaptiveDef<1>();
constinit OpDef kAdaptiveAvgPool2d = adaptiveDef<2>();
constinit OpDef kAdaptiveAvgPool3d = adaptiveDef<3>();
constinit OpDef kAdaptiveAvgPool1dBackward = adaptiveBackwardDef<1>();
constinit OpDef kAdaptiveAvgPool2dBackward = adaptiveBackwardDef<2>();
constinit OpDef kAdaptiveAvgPool3dBackward = adaptiveBackwardDef<3>();
constinit OpDef kLpPool1d = lpDef<1>();
constinit OpDef kLpPool2d = lpDef<2>();
constinit OpDef kLpPool3d = lpDef<3>();

Tensor avg_pool1d(const Tensor& input, const PoolParams& params, Site site) {
    return call1(kAvgPool1d, {&input}, avgAttrs(params), site);
}
Tensor avg_pool2d(const Tensor& input, const Pool2dParams& params, Site site) {
    return call1(kAvgPool2d, {&input}, avgAttrs(params), site);
}
Tensor avg_pool3d(const Tensor& input, const PoolParams& params, Site site) {
    return call1(kAvgPool3d, {&input}, avgAttrs(params), site);
}
Tensor lp_pool1d(const Tensor& input, double norm_type, const PoolParams& params, Site site) {
    return lpPool<1>(input, norm_type, params, site);
}
Tensor lp_pool2d(const Tensor& input, double norm_type, const PoolParams& params, Site site) {
    return lpPool<2>(input, norm_type, params, site);
}
Tensor lp_pool3d(const Tensor& input, double norm_type, const PoolParams& params, Site site) {
    return lpPool<3>(input, norm_type, params, site);
}

Tensor adaptive_avg_pool1d(const Tensor& input, const Dims& output_size, Site site) {
    return call1(kAdaptiveAvgPool1d, {&input}, Attrs(output_size), site);
}
Tensor adaptive_avg_pool2d(const Tensor& input, std::int64_t height, std::int64_t width,
                           Site site) {
    return call1(kAdaptiveAvgPool2d, {&input}, Attrs(height, width), site);
}
Tensor adaptive_avg_pool2d(const Tensor& input, const Dims& output_size, Site site) {
    const Spatial size = spatialAttr("adaptive_avg_pool2d", "output_size", output_size, 2, -1, 1);
    return adaptive_avg_pool2d(input, size[1], size[2], site);
}
Tensor adaptive_avg_pool3d(const Tensor& input, const Dims& output_size, Site site) {
    return call1(kAdaptiveAvgPool3d, {&input}, Attrs(output_size), site);
}

}  // namespace tapescope::engine
