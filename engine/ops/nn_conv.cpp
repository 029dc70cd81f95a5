// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/conv.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/nn_attrs.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/nn_rows.h"
#include "engine/ops/reduce.h"

namespace tapescope::engine {

namespace {

using cpu::ConvKind;
using cpu::ConvShape;

std::string by(const std::array<std::int64_t, 2>& pair) { return message(pair[0], " x ", pair[1]); }

/// Checks sizes and attributes (stride, padding, dilation, groups from `first` on) and works out
/// the output's sizes.
ConvShape convShape(std::string_view op, const Dims& input, const Dims& weight, const Attrs& attrs,
                    int first) {
    if (input.size() != 4)
        throw ShapeError(message(op, ": input ", input, " must have 4 dimensions [N, C, H, W]"));
    if (weight.size() != 4)
        throw ShapeError(
            message(op, ": weight ", weight, " must have 4 dimensions [O, C/groups, kH, kW]"));
    ConvShape s;
    s.batch = input[0];
    s.channels = input[1];
    s.outChannels = weight[0];
    s.input = {input[2], input[3]};
    s.kernel = {weight[2], weight[3]};
    s.stride = pairAttr(op, "stride", attrs.dims(first), 1);
    s.padding = pairAttr(op, "padding", attrs.dims(first + 1), 0);
    s.dilation = pairAttr(op, "dilation", attrs.dims(first + 2), 1);
    s.groups = attrs.integer(first + 3);
    if (s.groups < 1) throw ShapeError(message(op, ": groups ", s.groups, " must be at least 1"));
    if (s.channels != checkedMul(op, weight[1], s.groups))
        throw ShapeError(message(op, ": input ", input, " has ", s.channels,
                                 " channels but weight ", weight, " takes ", weight[1] * s.groups,
                                 " (groups ", s.groups, ")"));
    if (s.outChannels % s.groups != 0)
        throw ShapeError(message(op, ": weight ", weight, " makes ", s.outChannels,
                                 " channels, which do not divide into ", s.groups, " groups"));
    for (unsigned axis = 0; axis < 2; ++axis) {
        if (s.kernel[axis] < 1)
            throw ShapeError(message(op, ": the kernel ", by(s.kernel), " of weight ", weight,
                                     " must not be empty"));
        const std::int64_t padded =
            checkedAdd(op, s.input[axis], checkedMul(op, 2, s.padding[axis]));
        const std::int64_t reach =
            checkedAdd(op, checkedMul(op, s.kernel[axis] - 1, s.dilation[axis]), 1);
        if (reach > padded)
            throw ShapeError(message(op, ": the kernel ", by(s.kernel), " of weight ", weight,
                                     " with dilation ", by(s.dilation), " is larger than input ",
                                     input, " with padding ", by(s.padding)));
        s.output[axis] = (padded - reach) / s.stride[axis] + 1;
    }
    return s;
}

Dims outputSizes(const ConvShape& s) { return {s.batch, s.outChannels, s.output[0], s.output[1]}; }

void checkGrad(std::string_view op, const Tensor& grad, const ConvShape& s) {
    if (grad.sizes() != outputSizes(s))
        throw ShapeError(message(op, ": grad ", grad.sizes(),
                                 " must have the convolution's output sizes ", outputSizes(s)));
}

void inferConv(const OpArgs& a, OutputMetas& out) {
    const ConvShape s = convShape("conv2d", a[0].sizes(), a[1].sizes(), a.attrs, 0);
    checkSameDType("conv2d", "input", a[0], "weight", a[1]);
    if (a.has(2)) {
        if (a[2].sizes() != Dims{s.outChannels})
            throw ShapeError(message("conv2d: bias ", a[2].sizes(), " must be [", s.outChannels,
                                     "], one number an output channel"));
        checkSameDType("conv2d", "input", a[0], "bias", a[2]);
    }
    out.add(outputSizes(s), a[0].dtype());
}

void inferInputGrad(const OpArgs& a, OutputMetas& out) {
    const Dims& sizes = a.attrs.dims(0);
    checkSizes("conv2d_input_grad", sizes);
    const ConvShape s = convShape("conv2d_input_grad", sizes, a[1].sizes(), a.attrs, 1);
    checkGrad("conv2d_input_grad", a[0], s);
    checkSameDType("conv2d_input_grad", "grad", a[0], "weight", a[1]);
    out.add(sizes, a[0].dtype());
}

void inferWeightGrad(const OpArgs& a, OutputMetas& out) {
    const Dims& sizes = a.attrs.dims(0);
    checkSizes("conv2d_weight_grad", sizes);
    const ConvShape s = convShape("conv2d_weight_grad", a[1].sizes(), sizes, a.attrs, 1);
    checkGrad("conv2d_weight_grad", a[0], s);
    checkSameDType("conv2d_weight_grad", "grad", a[0], "input", a[1]);
    out.add(sizes, a[0].dtype());
}

void convKernel(const OpArgs& a, std::span<Tensor> out) {
    const ConvShape s = convShape("conv2d", a[0].sizes(), a[1].sizes(), a.attrs, 0);
    cpu::convolve(ConvKind::Forward, s, a[0], a[1], a.has(2) ? a[2] : undefinedTensor(), out[0]);
}
void inputGradKernel(const OpArgs& a, std::span<Tensor> out) {
    const ConvShape s = convShape("conv2d_input_grad", a.attrs.dims(0), a[1].sizes(), a.attrs, 1);
    cpu::convolve(ConvKind::InputGrad, s, a[0], a[1], undefinedTensor(), out[0]);
}
void weightGradKernel(const OpArgs& a, std::span<Tensor> out) {
    const ConvShape s = convShape("conv2d_weight_grad", a[1].sizes(), a.attrs.dims(0), a.attrs, 1);
    cpu::convolve(ConvKind::WeightGrad, s, a[0], a[1], undefinedTensor(), out[0]);
}

Conv2dParams paramsOf(const Attrs& attrs, int first) {
    return {attrs.dims(first), attrs.dims(first + 1), attrs.dims(first + 2),
            attrs.integer(first + 3)};
}

// conv2d(x, w) is linear in each, and so are its adjoints: any order of derivatives is one of the
// three again.
void vjpConv(const VjpArgs& v, std::span<Tensor> grads) {
    const Conv2dParams params = paramsOf(v.attrs, 0);
    if (v.need(0)) grads[0] = conv2d_input_grad(v.grad(), v.input(1), v.meta(0).sizes, params);
    if (v.need(1)) grads[1] = conv2d_weight_grad(v.grad(), v.input(0), v.meta(1).sizes, params);
    if (v.inputCount() > 2 && v.need(2)) grads[2] = sum(v.grad(), {0, 2, 3});
}
void vjpInputGrad(const VjpArgs& v, std::span<Tensor> grads) {
    const Conv2dParams params = paramsOf(v.attrs, 1);
    if (v.need(0)) grads[0] = conv2d(v.grad(), v.input(1), {}, params);
    if (v.need(1)) grads[1] = conv2d_weight_grad(v.input(0), v.grad(), v.meta(1).sizes, params);
}
void vjpWeightGrad(const VjpArgs& v, std::span<Tensor> grads) {
    const Conv2dParams params = paramsOf(v.attrs, 1);
    if (v.need(0)) grads[0] = conv2d(v.input(1), v.grad(), {}, params);
    if (v.need(1)) grads[1] = conv2d_input_grad(v.input(0), v.grad(), v.meta(1).sizes, params);
}

/// Multiply-adds of every output element with every tap, padding included.
Cost convCost(const OpArgs& a, std::span<const Tensor> outputs, double outputElements,
              const Dims& weight) {
    Cost cost;
    for (const Tensor* t : a.inputs)
        if (t->defined()) cost.bytesRead += static_cast<std::int64_t>(t->nbytes());
    cost.bytesWritten = static_cast<std::int64_t>(outputs[0].nbytes());
    cost.flops = 2.0 * outputElements * static_cast<double>(weight[1] * weight[2] * weight[3]);
    return cost;
}
Cost costConv(const OpArgs& a, std::span<const Tensor> outputs) {
    return convCost(a, outputs, static_cast<double>(outputs[0].numel()), a[1].sizes());
}
Cost costInputGrad(const OpArgs& a, std::span<const Tensor> outputs) {
    return convCost(a, outputs, static_cast<double>(a[0].numel()), a[1].sizes());
}
Cost costWeightGrad(const OpArgs& a, std::span<const Tensor> outputs) {
    return convCost(a, outputs, static_cast<double>(a[0].numel()), outputs[0].sizes());
}

constexpr ArgDef kConvArgs[] = {{"input"}, {"weight"}, {.name = "bias", .optional = true}};
constexpr ArgDef kInputGradArgs[] = {{"grad"}, {"weight"}};
constexpr ArgDef kWeightGradArgs[] = {{"grad"}, {"input"}};
constexpr AttrDef kConvAttrs[] = {{"stride", AttrKind::Dims, "1"},
                                  {"padding", AttrKind::Dims, "0"},
                                  {"dilation", AttrKind::Dims, "1"},
                                  {"groups", AttrKind::Int, "1"}};
constexpr AttrDef kInputGradAttrs[] = {
    {"input_sizes", AttrKind::Dims}, kConvAttrs[0], kConvAttrs[1], kConvAttrs[2], kConvAttrs[3]};
constexpr AttrDef kWeightGradAttrs[] = {
    {"weight_sizes", AttrKind::Dims}, kConvAttrs[0], kConvAttrs[1], kConvAttrs[2], kConvAttrs[3]};

}  // namespace

constinit OpDef kConv2d{.name = "conv2d",
                        .family = Family::Nn,
                        .args = kConvArgs,
                        .attrs = kConvAttrs,
                        .types = TypeRule::Floating,
                        .infer = inferConv,
                        .vjp = vjpConv,
                        .saveInputs = 0b11,
                        .cost = costConv,
                        .kernels = {convKernel}};
constinit OpDef kConv2dInputGrad{.name = "conv2d_input_grad",
                                 .family = Family::Nn,
                                 .args = kInputGradArgs,
                                 .attrs = kInputGradAttrs,
                                 .types = TypeRule::Floating,
                                 .infer = inferInputGrad,
                                 .vjp = vjpInputGrad,
                                 .saveInputs = 0b11,
                                 .cost = costInputGrad,
                                 .kernels = {inputGradKernel}};
constinit OpDef kConv2dWeightGrad{.name = "conv2d_weight_grad",
                                  .family = Family::Nn,
                                  .args = kWeightGradArgs,
                                  .attrs = kWeightGradAttrs,
                                  .types = TypeRule::Floating,
                                  .infer = inferWeightGrad,
                                  .vjp = vjpWeightGrad,
                                  .saveInputs = 0b11,
                                  .cost = costWeightGrad,
                                  .kernels = {weightGradKernel}};

Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias,
              const Conv2dParams& params, Site site) {
    return call1(kConv2d, {&input, &weight, &bias},
                 Attrs(params.stride, params.padding, params.dilation, params.groups), site);
}
Tensor conv2d_input_grad(const Tensor& grad, const Tensor& weight, const Dims& input_sizes,
                         const Conv2dParams& params, Site site) {
    return call1(kConv2dInputGrad, {&grad, &weight},
                 Attrs(input_sizes, params.stride, params.padding, params.dilation, params.groups),
                 site);
}
Tensor conv2d_weight_grad(const Tensor& grad, const Tensor& input, const Dims& weight_sizes,
                          const Conv2dParams& params, Site site) {
    return call1(kConv2dWeightGrad, {&grad, &input},
                 Attrs(weight_sizes, params.stride, params.padding, params.dilation, params.groups),
                 site);
}

}  // namespace tapescope::engine
