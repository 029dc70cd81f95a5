// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/pool.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/nn_attrs.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/nn_rows.h"
#include "engine/ops/shape.h"

namespace tapescope::engine {

namespace {

using cpu::PoolShape;

void checkPlanes(std::string_view op, const Dims& input) {
    if (input.size() != 4)
        throw ShapeError(message(op, ": input ", input, " must have 4 dimensions [N, C, H, W]"));
    if (input[2] == 0 || input[3] == 0)
        throw ShapeError(message(op, ": input ", input, " has planes without elements"));
    // Positions within a plane are counted in 32 bits on the way.
    if (checkedMul(op, input[2], input[3]) > std::numeric_limits<std::int32_t>::max())
        throw ShapeError(
            message(op, ": the planes of input ", input, " are larger than 2^31 elements"));
}

/// Kernel, stride, padding are the attributes from `first` on.
PoolShape poolShape(std::string_view op, const Dims& input, const Attrs& attrs, int first) {
    checkPlanes(op, input);
    PoolShape s;
    s.planes = checkedMul(op, input[0], input[1]);
    s.input = {input[2], input[3]};
    s.kernel = pairAttr(op, "kernel_size", attrs.dims(first), 1);
    s.stride =
        attrs.dims(first + 1).empty() ? s.kernel : pairAttr(op, "stride", attrs.dims(first + 1), 1);
    s.padding = pairAttr(op, "padding", attrs.dims(first + 2), 0);
    for (unsigned axis = 0; axis < 2; ++axis) {
        if (s.padding[axis] > s.kernel[axis] / 2)
            throw ShapeError(message(op, ": padding ", attrs.dims(first + 2),
                                     " must be at most half the kernel ", attrs.dims(first)));
        const std::int64_t padded =
            checkedAdd(op, s.input[axis], checkedMul(op, 2, s.padding[axis]));
        if (s.kernel[axis] > padded)
            throw ShapeError(message(op, ": kernel ", attrs.dims(first), " is larger than input ",
                                     input, " with padding ", attrs.dims(first + 2)));
        s.output[axis] = (padded - s.kernel[axis]) / s.stride[axis] + 1;
    }
    return s;
}

/// Height and width are the attributes from `first` on.
PoolShape adaptiveShape(std::string_view op, const Dims& input, const Attrs& attrs, int first) {
    checkPlanes(op, input);
    PoolShape s;
    s.planes = checkedMul(op, input[0], input[1]);
    s.input = {input[2], input[3]};
    s.output = {attrs.integer(first), attrs.integer(first + 1)};
    if (s.output[0] < 1 || s.output[1] < 1)
        throw ShapeError(
            message(op, ": output ", s.output[0], " x ", s.output[1], " must be at least 1 x 1"));
    checkedMul(op, s.input[0], s.output[0]);
    checkedMul(op, s.input[1], s.output[1]);
    return s;
}

Dims pooledSizes(const Dims& input, const PoolShape& s) {
    return {input[0], input[1], s.output[0], s.output[1]};
}

void checkPooledGrad(std::string_view op, const Tensor& grad, const Dims& input,
                     const PoolShape& s) {
    if (grad.sizes() != pooledSizes(input, s))
        throw ShapeError(message(op, ": grad ", grad.sizes(),
                                 " must have the pooling's output sizes ", pooledSizes(input, s)));
}

void inferMax(const OpArgs& a, OutputMetas& out) {
    const Dims sizes = pooledSizes(a[0].sizes(), poolShape("max_pool2d", a[0].sizes(), a.attrs, 0));
    out.add(sizes, a[0].dtype());
    out.add(sizes, DType::I64);
}
void maxKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::maxPool(poolShape("max_pool2d", a[0].sizes(), a.attrs, 0), a[0], out[0], out[1]);
}

/// The sizes of a max pooling backward: only planes and positions, whatever the windows were.
PoolShape maxBackwardShape(const OpArgs& a) {
    const Dims& input = a.attrs.dims(0);
    checkSizes("max_pool2d_backward", input);
    checkPlanes("max_pool2d_backward", input);
    checkIndexDType("max_pool2d_backward", a[1]);
    checkFloating("max_pool2d_backward", "grad", a[0]);
    const Dims& grad = a[0].sizes();
    if (grad.size() != 4 || grad[0] != input[0] || grad[1] != input[1] || a[1].sizes() != grad)
        throw ShapeError(message("max_pool2d_backward: grad ", grad, " and indices ", a[1].sizes(),
                                 " must be alike and have the planes of input ", input));
    PoolShape s;
    s.planes = input[0] * input[1];
    s.input = {input[2], input[3]};
    s.output = {grad[2], grad[3]};
    return s;
}
void inferMaxBackward(const OpArgs& a, OutputMetas& out) {
    maxBackwardShape(a);
    out.add(a.attrs.dims(0), a[0].dtype());
}
void maxBackwardKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::maxPoolBackward(maxBackwardShape(a), a[0], a[1], out[0]);
}

void vjpMax(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = call1(kMaxPool2dBackward, {&v.grad(), &v.output(1)}, Attrs(v.meta(0).sizes), Site());
}
void vjpMaxBackward(const VjpArgs& v, std::span<Tensor> grads) {
    // Its adjoint reads each plane at the indices.
    const Tensor taken = gather(flatten(v.grad(), 2), 2, flatten(v.input(1), 2));
    grads[0] = reshape(taken, v.meta(0).sizes);
}

void inferAvg(const OpArgs& a, OutputMetas& out) {
    out.add(pooledSizes(a[0].sizes(), poolShape("avg_pool2d", a[0].sizes(), a.attrs, 0)),
            a[0].dtype());
}
void avgKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::avgPool(poolShape("avg_pool2d", a[0].sizes(), a.attrs, 0), a[0], out[0]);
}
void inferAvgBackward(const OpArgs& a, OutputMetas& out) {
    const Dims& input = a.attrs.dims(0);
    checkSizes("avg_pool2d_backward", input);
    checkPooledGrad("avg_pool2d_backward", a[0], input,
                    poolShape("avg_pool2d_backward", input, a.attrs, 1));
    out.add(input, a[0].dtype());
}
void avgBackwardKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::avgPoolBackward(poolShape("avg_pool2d_backward", a.attrs.dims(0), a.attrs, 1), a[0],
                         out[0]);
}
void vjpAvg(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] =
        call1(kAvgPool2dBackward, {&v.grad()},
              Attrs(v.meta(0).sizes, v.attrs.dims(0), v.attrs.dims(1), v.attrs.dims(2)), Site());
}
void vjpAvgBackward(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = avg_pool2d(v.grad(), {v.attrs.dims(1), v.attrs.dims(2), v.attrs.dims(3)});
}

void inferAdaptive(const OpArgs& a, OutputMetas& out) {
    const Dims& input = a[0].sizes();
    out.add(pooledSizes(input, adaptiveShape("adaptive_avg_pool2d", input, a.attrs, 0)),
            a[0].dtype());
}
void adaptiveKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::adaptiveAvgPool(adaptiveShape("adaptive_avg_pool2d", a[0].sizes(), a.attrs, 0), a[0],
                         out[0]);
}
/// Here the gradient's own sizes say what height and width were.
PoolShape adaptiveBackwardShape(const OpArgs& a) {
    constexpr std::string_view kOp = "adaptive_avg_pool2d_backward";
    const Dims& input = a.attrs.dims(0);
    checkSizes(kOp, input);
    checkRank(kOp, "grad", a[0], 4, "[N, C, H, W]");
    const PoolShape s = adaptiveShape(kOp, input, Attrs(a[0].sizes()[2], a[0].sizes()[3]), 0);
    checkPooledGrad(kOp, a[0], input, s);
    return s;
}
void inferAdaptiveBackward(const OpArgs& a, OutputMetas& out) {
    adaptiveBackwardShape(a);
    out.add(a.attrs.dims(0), a[0].dtype());
}
void adaptiveBackwardKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::adaptiveAvgPoolBackward(adaptiveBackwardShape(a), a[0], out[0]);
}
void vjpAdaptive(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = call1(kAdaptiveAvgPool2dBackward, {&v.grad()}, Attrs(v.meta(0).sizes), Site());
}
void vjpAdaptiveBackward(const VjpArgs& v, std::span<Tensor> grads) {
    const Dims& pooled = v.meta(0).sizes;
    grads[0] = adaptive_avg_pool2d(v.grad(), pooled[2], pooled[3]);
}

/// One operation for every element that a window covers.
Cost poolCost(const OpArgs& a, std::span<const Tensor> outputs) {
    Cost c;
    for (const Tensor* t : a.inputs) c.bytesRead += static_cast<std::int64_t>(t->nbytes());
    for (const Tensor& t : outputs) c.bytesWritten += static_cast<std::int64_t>(t.nbytes());
    const Dims& kernel = a.attrs.dims(a.attrs.size() == 4 ? 1 : 0);
    const Tensor& pooled = a.attrs.size() == 4 ? a[0] : outputs[0];
    c.flops = static_cast<double>(pooled.numel()) * static_cast<double>(kernel[0] * kernel.back());
    return c;
}

constexpr ArgDef kInput[] = {{"input"}};
constexpr ArgDef kGrad[] = {{"grad"}};
constexpr ArgDef kGradIndices[] = {{"grad"}, {"indices"}};
constexpr AttrDef kPoolAttrs[] = {
    {"kernel_size", AttrKind::Dims}, {"stride", AttrKind::Dims}, {"padding", AttrKind::Dims, "0"}};
constexpr AttrDef kPoolBackwardAttrs[] = {
    {"input_sizes", AttrKind::Dims}, kPoolAttrs[0], kPoolAttrs[1], kPoolAttrs[2]};
constexpr AttrDef kAdaptiveAttrs[] = {{"height", AttrKind::Int}, {"width", AttrKind::Int}};
constexpr AttrDef kInputSizes[] = {{"input_sizes", AttrKind::Dims}};

}  // namespace

// Outputs: values, indices.
constinit OpDef kMaxPool2d{.name = "max_pool2d",
                           .family = Family::Nn,
                           .args = kInput,
                           .attrs = kPoolAttrs,
                           .types = TypeRule::Floating,
                           .infer = inferMax,
                           .vjp = vjpMax,
                           .saveOutputs = 0b10,
                           .cost = poolCost,
                           .kernels = {maxKernel}};
constinit OpDef kMaxPool2dBackward{.name = "max_pool2d_backward",
                                   .family = Family::Nn,
                                   .args = kGradIndices,
                                   .attrs = kInputSizes,
                                   .infer = inferMaxBackward,
                                   .vjp = vjpMaxBackward,
                                   .saveInputs = 0b10,
                                   .kernels = {maxBackwardKernel}};
constinit OpDef kAvgPool2d{.name = "avg_pool2d",
                           .family = Family::Nn,
                           .args = kInput,
                           .attrs = kPoolAttrs,
                           .types = TypeRule::Floating,
                           .infer = inferAvg,
                           .vjp = vjpAvg,
                           .cost = poolCost,
                           .kernels = {avgKernel}};
constinit OpDef kAvgPool2dBackward{.name = "avg_pool2d_backward",
                                   .family = Family::Nn,
                                   .args = kGrad,
                                   .attrs = kPoolBackwardAttrs,
                                   .types = TypeRule::Floating,
                                   .infer = inferAvgBackward,
                                   .vjp = vjpAvgBackward,
                                   .cost = poolCost,
                                   .kernels = {avgBackwardKernel}};
constinit OpDef kAdaptiveAvgPool2d{.name = "adaptive_avg_pool2d",
                                   .family = Family::Nn,
                                   .args = kInput,
                                   .attrs = kAdaptiveAttrs,
                                   .types = TypeRule::Floating,
                                   .infer = inferAdaptive,
                                   .vjp = vjpAdaptive,
                                   .kernels = {adaptiveKernel}};
constinit OpDef kAdaptiveAvgPool2dBackward{.name = "adaptive_avg_pool2d_backward",
                                           .family = Family::Nn,
                                           .args = kGrad,
                                           .attrs = kInputSizes,
                                           .types = TypeRule::Floating,
                                           .infer = inferAdaptiveBackward,
                                           .vjp = vjpAdaptiveBackward,
                                           .kernels = {adaptiveBackwardKernel}};

Tensor max_pool2d(const Tensor& input, const Pool2dParams& params, Site site) {
    return call1(kMaxPool2d, {&input}, Attrs(params.kernel, params.stride, params.padding), site);
}
Tensor avg_pool2d(const Tensor& input, const Pool2dParams& params, Site site) {
    return call1(kAvgPool2d, {&input}, Attrs(params.kernel, params.stride, params.padding), site);
}
Tensor adaptive_avg_pool2d(const Tensor& input, std::int64_t height, std::int64_t width,
                           Site site) {
    return call1(kAdaptiveAvgPool2d, {&input}, Attrs(height, width), site);
}

}  // namespace tapescope::engine
