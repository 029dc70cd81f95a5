// SPDX-License-Identifier: Apache-2.0
// A transposed convolution is the input gradient of a convolution whose output is our input.
#include "engine/ops/dispatch.h"
#include "engine/ops/nn_attrs.h"
#include "engine/ops/nn_conv.h"
#include "engine/ops/nn_conv_shape.h"
#include "engine/ops/nn_rows.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

#include <algorithm>

namespace tapescope::engine {

namespace {

using cpu::ConvKind;
using cpu::ConvShape;

constexpr std::string_view kNames[] = {"conv_transpose1d", "conv_transpose2d", "conv_transpose3d"};

/// The shape of that convolution. Attributes: stride, padding, output_padding, groups, dilation.
ConvShape transposedShape(std::string_view op, int rank, const Dims& input, const Dims& weight,
                          const Attrs& attrs) {
    checkImageRank(op, "input", input, rank);
    if (weight.size() != rank + 2)
        throw ShapeError(message(op, ": weight ", weight, " must have ", rank + 2,
                                 " dimensions [C, O/groups, kernel ...]"));
    const bool batched = input.size() == rank + 2;
    ConvShape s;
    s.rank = rank;
    s.batch = batched ? input[0] : 1;
    s.outChannels = input[batched ? 1 : 0];
    s.output = spatialSizes(input, rank);
    s.kernel = spatialSizes(weight, rank);
    s.stride = spatialAttr(op, "stride", attrs.dims(0), rank, 1, 1);
    s.padding = spatialAttr(op, "padding", attrs.dims(1), rank, 0, 0);
    const Spatial extra = spatialAttr(op, "output_padding", attrs.dims(2), rank, 0, 0);
    s.groups = attrs.integer(3);
    s.dilation = spatialAttr(op, "dilation", attrs.dims(4), rank, 1, 1);
    if (s.groups < 1) throw ShapeError(message(op, ": groups ", s.groups, " must be at least 1"));
    if (s.outChannels != weight[0])
        throw ShapeError(message(op, ": input ", input, " has ", s.outChannels,
                                 " channels but weight ", weight, " takes ", weight[0]));
    if (s.outChannels % s.groups != 0)
        throw ShapeError(message(op, ": the ", s.outChannels, " channels of input ", input,
                                 " do not divide into ", s.groups, " groups"));
    s.channels = checkedMul(op, weight[1], s.groups);
    for (unsigned axis = static_cast<unsigned>(3 - rank); axis < 3; ++axis) {
        if (s.kernel[axis] < 1 || s.output[axis] < 1)
            throw ShapeError(message(op, ": input ", input, " and the kernel of weight ", weight,
                                     " must not be empty"));
        if (extra[axis] >= std::max(s.stride[axis], s.dilation[axis]))
            throw ShapeError(message(op, ": output_padding ", attrs.dims(2),
                                     " must be smaller than the stride ", attrs.dims(0),
                                     " or the dilation ", attrs.dims(4)));
        const std::int64_t reach = checkedMul(op, s.kernel[axis] - 1, s.dilation[axis]);
        const std::int64_t full = checkedAdd(op, checkedMul(op, s.output[axis] - 1, s.stride[axis]),
                                             checkedAdd(op, reach, extra[axis] + 1));
        s.input[axis] = full - checkedMul(op, 2, s.padding[axis]);
        if (s.input[axis] < 1)
            throw ShapeError(message(op, ": padding ", attrs.dims(1),
                                     " leaves nothing of the output for input ", input,
                                     " and weight ", weight));
    }
    return s;
}

template <int R>
void infer(const OpArgs& a, OutputMetas& out) {
    constexpr std::string_view kOp = kNames[R - 1];
    const Dims& input = a[0].sizes();
    const ConvShape s = transposedShape(kOp, R, input, a[1].sizes(), a.attrs);
    checkSameDType(kOp, "input", a[0], "weight", a[1]);
    if (a.has(2)) {
        if (a[2].sizes() != Dims{s.channels})
            throw ShapeError(message(kOp, ": bias ", a[2].sizes(), " must be [", s.channels,
                                     "], one number an output channel"));
        checkSameDType(kOp, "input", a[0], "bias", a[2]);
    }
    Dims sizes = withSpatial(input, R, s.input);
    sizes[input.size() - R - 1] = s.channels;
    checkSizes(kOp, sizes);
    out.add(sizes, a[0].dtype());
}

template <int R>
void kernel(const OpArgs& a, std::span<Tensor> out) {
    const ConvShape s = transposedShape(kNames[R - 1], R, a[0].sizes(), a[1].sizes(), a.attrs);
    cpu::convolve(ConvKind::InputGrad, s, a[0], a[1], undefinedTensor(), out[0]);
    if (a.has(2)) cpu::addChannelBias(out[0], a[2], s.inPlane());
}

/// x cut (or padded with zeros) to the sizes of like in the spatial dimensions.
Tensor fitted(const Tensor& x, const Dims& like, int rank) {
    if (x.sizes() == like) return x;
    Dims padding;
    for (int i = 1; i <= rank; ++i) {
        padding.push_back(0);
        padding.push_back(like[like.size() - i] - x.size(-i));
    }
    return pad(x, padding);
}

template <int R>
void vjp(const VjpArgs& v, std::span<Tensor> grads) {
    const ConvParams p{v.attrs.dims(0), v.attrs.dims(1), v.attrs.dims(4), v.attrs.integer(3)};
    const Tensor& g = v.grad();
    // With an output_padding of a whole stride the convolution of g has more outputs than we have
    // inputs; those met no input.
    if (v.need(0)) {
        Tensor wide = R == 1   ? conv1d(g, v.input(1), {}, p)
                      : R == 2 ? conv2d(g, v.input(1), {},
                                        Conv2dParams{p.stride, p.padding, p.dilation, p.groups})
                               : conv3d(g, v.input(1), {}, p);
        for (int i = 1; i <= R; ++i) {
            const std::int64_t size = v.meta(0).sizes[v.meta(0).sizes.size() - i];
            if (wide.size(-i) != size) wide = narrow(wide, -i, 0, size);
        }
        grads[0] = wide;
    }
    if (v.need(1)) {
        const Dims natural =
            convOutputSizes(convShape(kNames[R - 1], R, g.sizes(), v.meta(1).sizes,
                                      Attrs(p.stride, p.padding, p.dilation, p.groups), 0),
                            g.sizes());
        grads[1] = conv_weight_grad(fitted(v.input(0), natural, R), g, v.meta(1).sizes, p);
    }
    if (v.inputCount() > 2 && v.need(2)) grads[2] = sum(g, allButChannels(g.dim(), R));
}

Cost cost(const OpArgs& a, std::span<const Tensor> outputs) {
    return convCost(a, outputs, static_cast<double>(a[0].numel()), a[1].sizes());
}

constexpr ArgDef kArgs[] = {{"input"}, {"weight"}, {.name = "bias", .optional = true}};
constexpr AttrDef kAttrs[] = {{"stride", AttrKind::Dims, "1"},
                              {"padding", AttrKind::Dims, "0"},
                              {"output_padding", AttrKind::Dims, "0"},
                              {"groups", AttrKind::Int, "1"},
                              {"dilation", AttrKind::Dims, "1"}};

template <int R>
constexpr OpDef row() {
    return {.name = kNames[R - 1],
            .family = Family::Nn,
            .args = kArgs,
            .attrs = kAttrs,
            .types = TypeRule::Floating,
            .infer = infer<R>,
            .vjp = vjp<R>,
            .saveInputs = 0b11,
            .cost = cost,
            .kernels = {kernel<R>}};
}

Tensor transposed(const OpDef& op, const Tensor& input, const Tensor& weight, const Tensor& bias,
                  const ConvTransposeParams& p, Site site) {
    return call1(op, {&input, &weight, &bias},
                 Attrs(p.stride, p.padding, p.output_padding, p.groups, p.dilation), site);
}

}  // namespace

constinit OpDef kConvTranspose1d = row<1>();
constinit OpDef kConvTranspose2d = row<2>();
constinit OpDef kConvTranspose3d = row<3>();

Tensor conv_transpose1d(const Tensor& input, const Tensor& weight, const Tensor& bias,
                        const ConvTransposeParams& params, Site site) {
    return transposed(kConvTranspose1d, input, weight, bias, params, site);
}
Tensor conv_transpose2d(const Tensor& input, const Tensor& weight, const Tensor& bias,
                        const ConvTransposeParams& params, Site site) {
    return transposed(kConvTranspose2d, input, weight, bias, params, site);
}
Tensor conv_transpose3d(const Tensor& input, const Tensor& weight, const Tensor& bias,
                        const ConvTransposeParams& params, Site site) {
    return transposed(kConvTranspose3d, input, weight, bias, params, site);
}

}  // namespace tapescope::engine
