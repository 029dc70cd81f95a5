// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/nn_conv.h"

#include "engine/ops/dispatch.h"
#include "engine/ops/nn_attrs.h"
#include "engine/ops/nn_conv_shape.h"
#include "engine/ops/nn_rows.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

#include <algorithm>

namespace tapescope::engine {

namespace {

using cpu::ConvKind;
using cpu::ConvShape;

constexpr std::string_view kNames[3][3] = {{"conv1d", "conv1d_input_grad", "conv1d_weight_grad"},
                                           {"conv2d", "conv2d_input_grad", "conv2d_weight_grad"},
                                           {"conv3d", "conv3d_input_grad", "conv3d_weight_grad"}};
constexpr std::string_view nameOf(int rank, ConvKind kind) {
    return kNames[rank - 1][static_cast<int>(kind)];
}
const OpDef& rowOf(int rank, ConvKind kind) {
    static constexpr OpDef* kRows[3][3] = {{&kConv1d, &kConv1dInputGrad, &kConv1dWeightGrad},
                                           {&kConv2d, &kConv2dInputGrad, &kConv2dWeightGrad},
                                           {&kConv3d, &kConv3dInputGrad, &kConv3dWeightGrad}};
    return *kRows[rank - 1][static_cast<int>(kind)];
}

void checkGrad(std::string_view op, const Tensor& grad, const Dims& expected) {
    if (grad.sizes() != expected)
        throw ShapeError(message(op, ": grad ", grad.sizes(),
                                 " must have the convolution's output sizes ", expected));
}

template <int R>
void inferConv(const OpArgs& a, OutputMetas& out) {
    constexpr std::string_view kOp = nameOf(R, ConvKind::Forward);
    const ConvShape s = convShape(kOp, R, a[0].sizes(), a[1].sizes(), a.attrs, 0);
    checkSameDType(kOp, "input", a[0], "weight", a[1]);
    if (a.has(2)) {
        if (a[2].sizes() != Dims{s.outChannels})
            throw ShapeError(message(kOp, ": bias ", a[2].sizes(), " must be [", s.outChannels,
                                     "], one number an output channel"));
        checkSameDType(kOp, "input", a[0], "bias", a[2]);
    }
    out.add(convOutputSizes(s, a[0].sizes()), a[0].dtype());
}

template <int R>
void inferInputGrad(const OpArgs& a, OutputMetas& out) {
    constexpr std::string_view kOp = nameOf(R, ConvKind::InputGrad);
    const Dims& sizes = a.attrs.dims(0);
    checkSizes(kOp, sizes);
    const ConvShape s = convShape(kOp, R, sizes, a[1].sizes(), a.attrs, 1);
    checkGrad(kOp, a[0], convOutputSizes(s, sizes));
    checkSameDType(kOp, "grad", a[0], "weight", a[1]);
    out.add(sizes, a[0].dtype());
}

template <int R>
void inferWeightGrad(const OpArgs& a, OutputMetas& out) {
    constexpr std::string_view kOp = nameOf(R, ConvKind::WeightGrad);
    const Dims& sizes = a.attrs.dims(0);
    checkSizes(kOp, sizes);
    const ConvShape s = convShape(kOp, R, a[1].sizes(), sizes, a.attrs, 1);
    checkGrad(kOp, a[0], convOutputSizes(s, a[1].sizes()));
    checkSameDType(kOp, "grad", a[0], "input", a[1]);
    out.add(sizes, a[0].dtype());
}

template <int R>
void convKernel(const OpArgs& a, std::span<Tensor> out) {
    const ConvShape s =
        convShape(nameOf(R, ConvKind::Forward), R, a[0].sizes(), a[1].sizes(), a.attrs, 0);
    cpu::convolve(ConvKind::Forward, s, a[0], a[1], a.has(2) ? a[2] : undefinedTensor(), out[0]);
}
template <int R>
void inputGradKernel(const OpArgs& a, std::span<Tensor> out) {
    const ConvShape s =
        convShape(nameOf(R, ConvKind::InputGrad), R, a.attrs.dims(0), a[1].sizes(), a.attrs, 1);
    cpu::convolve(ConvKind::InputGrad, s, a[0], a[1], undefinedTensor(), out[0]);
}
template <int R>
void weightGradKernel(const OpArgs& a, std::span<Tensor> out) {
    const ConvShape s =
        convShape(nameOf(R, ConvKind::WeightGrad), R, a[1].sizes(), a.attrs.dims(0), a.attrs, 1);
    cpu::convolve(ConvKind::WeightGrad, s, a[0], a[1], undefinedTensor(), out[0]);
}

ConvParams paramsOf(const Attrs& attrs, int first) {
    return {attrs.dims(first), attrs.dims(first + 1), attrs.dims(first + 2),
            attrs.integer(first + 3)};
}
Attrs attrsOf(const ConvParams& p) { return Attrs(p.stride, p.padding, p.dilation, p.groups); }

Tensor conv(int rank, const Tensor& input, const Tensor& weight, const Tensor& bias,
            const ConvParams& params, Site site) {
    return call1(rowOf(rank, ConvKind::Forward), {&input, &weight, &bias}, attrsOf(params), site);
}

// conv(x, w) is linear in each, and so are its adjoints: any order of derivatives is one of the
// three again.
template <int R>
void vjpConv(const VjpArgs& v, std::span<Tensor> grads) {
    const ConvParams params = paramsOf(v.attrs, 0);
    if (v.need(0)) grads[0] = conv_input_grad(v.grad(), v.input(1), v.meta(0).sizes, params);
    if (v.need(1)) grads[1] = conv_weight_grad(v.grad(), v.input(0), v.meta(1).sizes, params);
    if (v.inputCount() > 2 && v.need(2))
        grads[2] = sum(v.grad(), allButChannels(v.grad().dim(), R));
}
template <int R>
void vjpInputGrad(const VjpArgs& v, std::span<Tensor> grads) {
    const ConvParams params = paramsOf(v.attrs, 1);
    if (v.need(0)) grads[0] = conv(R, v.grad(), v.input(1), {}, params, Site());
    if (v.need(1)) grads[1] = conv_weight_grad(v.input(0), v.grad(), v.meta(1).sizes, params);
}
template <int R>
void vjpWeightGrad(const VjpArgs& v, std::span<Tensor> grads) {
    const ConvParams params = paramsOf(v.attrs, 1);
    if (v.need(0)) grads[0] = conv(R, v.input(1), v.grad(), {}, params, Site());
    if (v.need(1)) grads[1] = conv_input_grad(v.input(0), v.grad(), v.meta(1).sizes, params);
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
// Lists of one number hold for every dimension.
constexpr AttrDef kConvAttrs[] = {{"stride", AttrKind::Dims, "1"},
                                  {"padding", AttrKind::Dims, "0"},
                                  {"dilation", AttrKind::Dims, "1"},
                                  {"groups", AttrKind::Int, "1"}};
constexpr AttrDef kInputGradAttrs[] = {
    {"input_sizes", AttrKind::Dims}, kConvAttrs[0], kConvAttrs[1], kConvAttrs[2], kConvAttrs[3]};
constexpr AttrDef kWeightGradAttrs[] = {
    {"weight_sizes", AttrKind::Dims}, kConvAttrs[0], kConvAttrs[1], kConvAttrs[2], kConvAttrs[3]};

template <int R>
constexpr OpDef forwardRow() {
    return {.name = nameOf(R, ConvKind::Forward),
            .family = Family::Nn,
            .args = kConvArgs,
            .attrs = kConvAttrs,
            .types = TypeRule::Floating,
            .infer = inferConv<R>,
            .vjp = vjpConv<R>,
            .saveInputs = 0b11,
            .cost = costConv,
            .kernels = {convKernel<R>}};
}
template <int R>
constexpr OpDef inputGradRow() {
    return {.name = nameOf(R, ConvKind::InputGrad),
            .family = Family::Nn,
            .args = kInputGradArgs,
            .attrs = kInputGradAttrs,
            .types = TypeRule::Floating,
            .infer = inferInputGrad<R>,
            .vjp = vjpInputGrad<R>,
            .saveInputs = 0b11,
            .cost = costInputGrad,
            .kernels = {inputGradKernel<R>}};
}
template <int R>
constexpr OpDef weightGradRow() {
    return {.name = nameOf(R, ConvKind::WeightGrad),
            .family = Family::Nn,
            .args = kWeightGradArgs,
            .attrs = kWeightGradAttrs,
            .types = TypeRule::Floating,
            .infer = inferWeightGrad<R>,
            .vjp = vjpWeightGrad<R>,
            .saveInputs = 0b11,
            .cost = costWeightGrad,
            .kernels = {weightGradKernel<R>}};
}

/// padding='same' as numbers; where the padding is uneven, the input is padded after its end first.
Tensor paddedConv(int rank, const Tensor& input, const Tensor& weight, const Tensor& bias,
                  ConvPadding padding, const ConvParams& params, Site site) try {
    ConvParams plain = params;
    plain.padding = {0};
    if (padding == ConvPadding::Valid) return conv(rank, input, weight, bias, plain, site);
    const std::string_view op = nameOf(rank, ConvKind::Forward);
    for (const std::int64_t stride : params.stride)
        if (stride != 1)
            throw ShapeError(message(op, ": padding 'same' needs stride 1, not ", params.stride));
    checkImageRank(op, "input", input.sizes(), rank);
    if (weight.dim() != rank + 2)
        throw ShapeError(
            message(op, ": weight ", weight.sizes(), " must have ", rank + 2, " dimensions"));
    const Spatial dilation = spatialAttr(op, "dilation", params.dilation, rank, 1, 1);
    plain.padding = Dims::filled(rank, 0);
    Dims after;  // last dimension first, (before, after) each
    bool uneven = false;
    for (int i = rank - 1; i >= 0; --i) {
        const std::int64_t total =
            checkedMul(op, dilation[static_cast<unsigned>(3 - rank + i)], weight.size(2 + i) - 1);
        plain.padding[i] = total / 2;
        after.push_back(0);
        after.push_back(total % 2);
        uneven = uneven || total % 2 != 0;
    }
    return conv(rank, uneven ? pad(input, after, 0, site) : input, weight, bias, plain, site);
} catch (const Error&) {
    rethrowPlaced(site);
}

}  // namespace

constinit OpDef kConv1d = forwardRow<1>();
constinit OpDef kConv1dInputGrad = inputGradRow<1>();
constinit OpDef kConv1dWeightGrad = weightGradRow<1>();
constinit OpDef kConv2d = forwardRow<2>();
constinit OpDef kConv2dInputGrad = inputGradRow<2>();
constinit OpDef kConv2dWeightGrad = weightGradRow<2>();
constinit OpDef kConv3d = forwardRow<3>();
constinit OpDef kConv3dInputGrad = inputGradRow<3>();
constinit OpDef kConv3dWeightGrad = weightGradRow<3>();

Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias,
              const ConvParams& params, Site site) {
    return conv(1, input, weight, bias, params, site);
}
Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias, const Conv2dParams& p,
              Site site) {
    return conv(2, input, weight, bias, {p.stride, p.padding, p.dilation, p.groups}, site);
}
Tensor conv3d(const Tensor& input, const Tensor& weight, const Tensor& bias,
              const ConvParams& params, Site site) {
    return conv(3, input, weight, bias, params, site);
}
Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias, ConvPadding padding,
              const ConvParams& params, Site site) {
    return paddedConv(1, input, weight, bias, padding, params, site);
}
Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias, ConvPadding padding,
              const ConvParams& params, Site site) {
    return paddedConv(2, input, weight, bias, padding, params, site);
}
Tensor conv3d(const Tensor& input, const Tensor& weight, const Tensor& bias, ConvPadding padding,
              const ConvParams& params, Site site) {
    return paddedConv(3, input, weight, bias, padding, params, site);
}

Tensor conv_input_grad(const Tensor& grad, const Tensor& weight, const Dims& input_sizes,
                       const ConvParams& p, Site site) {
    const int rank = std::clamp(weight.dim() - 2, 1, 3);
    return call1(rowOf(rank, ConvKind::InputGrad), {&grad, &weight},
                 Attrs(input_sizes, p.stride, p.padding, p.dilation, p.groups), site);
}
Tensor conv_weight_grad(const Tensor& grad, const Tensor& input, const Dims& weight_sizes,
                        const ConvParams& p, Site site) {
    const int rank = std::clamp(weight_sizes.size() - 2, 1, 3);
    return call1(rowOf(rank, ConvKind::WeightGrad), {&grad, &input},
                 Attrs(weight_sizes, p.stride, p.padding, p.dilation, p.groups), site);
}
Tensor conv2d_input_grad(const Tensor& grad, const Tensor& weight, const Dims& input_sizes,
                         const Conv2dParams& p, Site site) {
    return call1(kConv2dInputGrad, {&grad, &weight},
                 Attrs(input_sizes, p.stride, p.padding, p.dilation, p.groups), site);
}
Tensor conv2d_weight_grad(const Tensor& grad, const Tensor& input, const Dims& weight_sizes,
                          const Conv2dParams& p, Site site) {
    return call1(kConv2dWeightGrad, {&grad, &input},
                 Attrs(weight_sizes, p.stride, p.padding, p.dilation, p.groups), site);
}

}  // namespace tapescope::engine
