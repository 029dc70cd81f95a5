// SPDX-License-Identifier: Apache-2.0
// Pooling by maxima, and its inverse.
#include "engine/ops/nn_pool.h"

#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/nn_attrs.h"
#include "engine/ops/nn_pool_shape.h"
#include "engine/ops/nn_rows.h"
#include "engine/ops/shape.h"

namespace tapescope::engine {

namespace {

using cpu::PoolShape;

constexpr std::string_view kMax[] = {"max_pool1d", "max_pool2d", "max_pool3d"};
constexpr std::string_view kMaxBackward[] = {"max_pool1d_backward", "max_pool2d_backward",
                                             "max_pool3d_backward"};
constexpr std::string_view kUnpool[] = {"max_unpool1d", "max_unpool2d", "max_unpool3d"};
constexpr std::string_view kAdaptive[] = {"adaptive_max_pool1d", "adaptive_max_pool2d",
                                          "adaptive_max_pool3d"};
constexpr PoolAttrs kMaxAt{.dilation = 3, .ceilMode = 4};

template <int R>
const OpDef& backwardRow() {
    return R == 1 ? kMaxPool1dBackward : R == 2 ? kMaxPool2dBackward : kMaxPool3dBackward;
}

template <int R>
PoolShape maxShape(const OpArgs& a) {
    return poolShape(kMax[R - 1], R, a[0].sizes(), a.attrs, kMaxAt);
}
template <int R>
void inferMax(const OpArgs& a, OutputMetas& out) {
    if (a[0].dtype() == DType::Bool)
        throw DTypeError(message(kMax[R - 1], ": bool tensors cannot be used; convert with to()"));
    const Dims sizes = pooledSizes(a[0].sizes(), maxShape<R>(a));
    out.add(sizes, a[0].dtype());
    out.add(sizes, DType::I64);
}
template <int R>
void maxKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::maxPool(maxShape<R>(a), a[0], out[0], out[1]);
}

template <int R>
void inferAdaptive(const OpArgs& a, OutputMetas& out) {
    const Dims& input = a[0].sizes();
    const Dims sizes =
        pooledSizes(input, adaptiveShape(kAdaptive[R - 1], R, input, a.attrs.dims(0)));
    out.add(sizes, a[0].dtype());
    out.add(sizes, DType::I64);
}
template <int R>
void adaptiveKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::adaptiveMaxPool(adaptiveShape(kAdaptive[R - 1], R, a[0].sizes(), a.attrs.dims(0)), a[0],
                         out[0], out[1]);
}

/// Only planes and positions, whatever the windows were.
template <int R>
PoolShape maxBackwardShape(const OpArgs& a) {
    constexpr std::string_view kOp = kMaxBackward[R - 1];
    checkIndexDType(kOp, a[1], "indices");
    checkFloating(kOp, "grad", a[0]);
    if (a[1].sizes() != a[0].sizes())
        throw ShapeError(message(kOp, ": indices ", a[1].sizes(), " must have the shape of grad ",
                                 a[0].sizes()));
    return pooledShape(kOp, R, a.attrs.dims(0), a[0]);
}
template <int R>
void inferMaxBackward(const OpArgs& a, OutputMetas& out) {
    maxBackwardShape<R>(a);
    out.add(a.attrs.dims(0), a[0].dtype());
}
template <int R>
void maxBackwardKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::maxPoolBackward(kMaxBackward[R - 1], maxBackwardShape<R>(a), a[0], a[1], out[0]);
}

template <int R>
void vjpMax(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = call1(backwardRow<R>(), {&v.grad(), &v.output(1)}, Attrs(v.meta(0).sizes), Site());
}
/// The adjoint of putting values at indices: each plane read there.
template <int R>
void vjpScatter(const VjpArgs& v, std::span<Tensor> grads) {
    const Tensor taken = gather(flatten(v.grad(), -R), -1, flatten(v.input(1), -R));
    grads[0] = reshape(taken, v.meta(0).sizes);
}

/// output_size: the spatial sizes.
template <int R>
PoolShape unpoolShape(const OpArgs& a) {
    constexpr std::string_view kOp = kUnpool[R - 1];
    checkImageRank(kOp, "input", a[0].sizes(), R);
    checkIndexDType(kOp, a[1], "indices");
    checkFloating(kOp, "input", a[0]);
    if (a[1].sizes() != a[0].sizes())
        throw ShapeError(message(kOp, ": indices ", a[1].sizes(), " must have the shape of input ",
                                 a[0].sizes()));
    const Spatial size = spatialAttr(kOp, "output_size", a.attrs.dims(0), R, 1, 1);
    return pooledShape(kOp, R, withSpatial(a[0].sizes(), R, size), a[0]);
}
template <int R>
void inferUnpool(const OpArgs& a, OutputMetas& out) {
    out.add(withSpatial(a[0].sizes(), R, unpoolShape<R>(a).input), a[0].dtype());
}
template <int R>
void unpoolKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::maxUnpool(kUnpool[R - 1], unpoolShape<R>(a), a[0], a[1], out[0]);
}

template <int R>
Cost maxCost(const OpArgs& a, std::span<const Tensor> outputs) {
    return poolCost(a, outputs, 0, outputs[0], R);
}

constexpr ArgDef kInput[] = {{"input"}};
constexpr ArgDef kGradIndices[] = {{"grad"}, {"indices"}};
constexpr ArgDef kInputIndices[] = {{"input"}, {"indices"}};
constexpr AttrDef kMaxAttrs[] = {{"kernel_size", AttrKind::Dims},
                                 {"stride", AttrKind::Dims, "[]"},
                                 {"padding", AttrKind::Dims, "0"},
                                 {"dilation", AttrKind::Dims, "1"},
                                 {"ceil_mode", AttrKind::Bool, "false"}};
constexpr AttrDef kInputSizes[] = {{"input_sizes", AttrKind::Dims}};
constexpr AttrDef kOutputSize[] = {{"output_size", AttrKind::Dims}};

// Outputs: values, indices.
template <int R>
constexpr OpDef maxRow() {
    return {.name = kMax[R - 1],
            .family = Family::Nn,
            .args = kInput,
            .attrs = kMaxAttrs,
            .infer = inferMax<R>,
            .vjp = vjpMax<R>,
            .saveOutputs = 0b10,
            .cost = maxCost<R>,
            .kernels = {maxKernel<R>}};
}
template <int R>
constexpr OpDef adaptiveRow() {
    return {.name = kAdaptive[R - 1],
            .family = Family::Nn,
            .args = kInput,
            .attrs = kOutputSize,
            .types = TypeRule::Floating,
            .infer = inferAdaptive<R>,
            .vjp = vjpMax<R>,
            .saveOutputs = 0b10,
            .kernels = {adaptiveKernel<R>}};
}
template <int R>
constexpr OpDef maxBackwardDef() {
    return {.name = kMaxBackward[R - 1],
            .family = Family::Nn,
            .args = kGradIndices,
            .attrs = kInputSizes,
            .infer = inferMaxBackward<R>,
            .vjp = vjpScatter<R>,
            .saveInputs = 0b10,
            .kernels = {maxBackwardKernel<R>}};
}
template <int R>
constexpr OpDef unpoolRow() {
    return {.name = kUnpool[R - 1],
            .family = Family::Nn,
            .args = kInputIndices,
            .attrs = kOutputSize,
            .infer = inferUnpool<R>,
            .vjp = vjpScatter<R>,
            .saveInputs = 0b10,
            .kernels = {unpoolKernel<R>}};
}

template <class Params>
Attrs maxAttrs(const Params& p) {
    return Attrs(p.kernel, p.stride, p.padding, p.dilation, p.ceil_mode);
}
std::pair<Tensor, Tensor> both(Outputs outputs) {
    return {std::move(outputs[0]), std::move(outputs[1])};
}

Tensor unpool(const OpDef& op, int rank, const Tensor& input, const Tensor& indices,
              const PoolParams& params, const Dims& output_size, Site site) try {
    Dims size = output_size;
    if (size.empty()) {
        checkImageRank(op.name, "input", input.sizes(), rank);
        const Spatial kernel = spatialAttr(op.name, "kernel_size", params.kernel, rank, 1, 1);
        const Spatial stride = params.stride.empty()
                                   ? kernel
                                   : spatialAttr(op.name, "stride", params.stride, rank, 1, 1);
        const Spatial padding = spatialAttr(op.name, "padding", params.padding, rank, 0, 0);
        for (int i = 3 - rank; i < 3; ++i) {
            const auto axis = static_cast<unsigned>(i);
            const std::int64_t steps = checkedMul(op.name, input.size(i - 3) - 1, stride[axis]);
            size.push_back(checkedAdd(op.name, steps, kernel[axis]) - 2 * padding[axis]);
        }
    }
    return call1(op, {&input, &indices}, Attrs(size), site);
} catch (const Error&) {
    rethrowPlaced(site);
}

}  // namespace

constinit OpDef kMaxPool1d = maxRow<1>();
constinit OpDef kMaxPool2d = maxRow<2>();
constinit OpDef kMaxPool3d = maxRow<3>();
constinit OpDef kMaxPool1dBackward = maxBackwardDef<1>();
constinit OpDef kMaxPool2dBackward = maxBackwardDef<2>();
constinit OpDef kMaxPool3dBackward = maxBackwardDef<3>();
constinit OpDef kMaxUnpool1d = unpoolRow<1>();
constinit OpDef kMaxUnpool2d = unpoolRow<2>();
constinit OpDef kMaxUnpool3d = unpoolRow<3>();
constinit OpDef kAdaptiveMaxPool1d = adaptiveRow<1>();
constinit OpDef kAdaptiveMaxPool2d = adaptiveRow<2>();
constinit OpDef kAdaptiveMaxPool3d = adaptiveRow<3>();

Tensor max_pool1d(const Tensor& input, const PoolParams& params, Site site) {
    return call1(kMaxPool1d, {&input}, maxAttrs(params), site);
}
Tensor max_pool2d(const Tensor& input, const Pool2dParams& params, Site site) {
    return call1(kMaxPool2d, {&input}, maxAttrs(params), site);
}
Tensor max_pool3d(const Tensor& input, const PoolParams& params, Site site) {
    return call1(kMaxPool3d, {&input}, maxAttrs(params), site);
}
std::pair<Tensor, Tensor> max_pool1d_with_indices(const Tensor& input, const PoolParams& params,
                                                  Site site) {
    return both(call(kMaxPool1d, {&input}, maxAttrs(params), site));
}
std::pair<Tensor, Tensor> max_pool2d_with_indices(const Tensor& input, const PoolParams& params,
                                                  Site site) {
    return both(call(kMaxPool2d, {&input}, maxAttrs(params), site));
}
std::pair<Tensor, Tensor> max_pool3d_with_indices(const Tensor& input, const PoolParams& params,
                                                  Site site) {
    return both(call(kMaxPool3d, {&input}, maxAttrs(params), site));
}

Tensor max_unpool1d(const Tensor& input, const Tensor& indices, const PoolParams& params,
                    const Dims& output_size, Site site) {
    return unpool(kMaxUnpool1d, 1, input, indices, params, output_size, site);
}
Tensor max_unpool2d(const Tensor& input, const Tensor& indices, const PoolParams& params,
                    const Dims& output_size, Site site) {
    return unpool(kMaxUnpool2d, 2, input, indices, params, output_size, site);
}
Tensor max_unpool3d(const Tensor& input, const Tensor& indices, const PoolParams& params,
                    const Dims& output_size, Site site) {
    return unpool(kMaxUnpool3d, 3, input, indices, params, output_size, site);
}

std::pair<Tensor, Tensor> adaptive_max_pool1d(const Tensor& input, const Dims& output_size,
                                              Site site) {
    return both(call(kAdaptiveMaxPool1d, {&input}, Attrs(output_size), site));
}
std::pair<Tensor, Tensor> adaptive_max_pool2d(const Tensor& input, const Dims& output_size,
                                              Site site) {
    return both(call(kAdaptiveMaxPool2d, {&input}, Attrs(output_size), site));
}
std::pair<Tensor, Tensor> adaptive_max_pool3d(const Tensor& input, const Dims& output_size,
                                              Site site) {
    return both(call(kAdaptiveMaxPool3d, {&input}, Attrs(output_size), site));
}

}  // namespace tapescope::engine
