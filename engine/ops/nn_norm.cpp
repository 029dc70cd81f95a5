// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/nn_norm.h"

#include "engine/cpu/norm.h"
#include "engine/cpu/shape_kernels.h"
#include "engine/observe/context.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/nn_norm_backward.h"
#include "engine/ops/nn_rows.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

#include <algorithm>

namespace tapescope::engine {

namespace {

const Tensor& optional(const OpArgs& a, int i) { return a.has(i) ? a[i] : undefinedTensor(); }

/// What statistics of x are kept in: at least float32.
DType statisticsType(DType dtype) { return isReducedFloating(dtype) ? DType::F32 : dtype; }

/// Throws unless input `i` is absent or of `sizes` and the first input's dtype; float32 parameters
/// go with a 16-bit input, as autocast leaves them.
void checkParameter(std::string_view op, const OpArgs& a, int i, std::string_view what,
                    const Dims& sizes) {
    if (!a.has(i)) return;
    if (a[i].sizes() != sizes)
        throw ShapeError(message(op, ": ", what, " ", a[i].sizes(), " must be ", sizes,
                                 " for input ", a[0].sizes()));
    if (!isReducedFloating(a[0].dtype()) || a[i].dtype() != DType::F32)
        checkSameDType(op, "input", a[0], what, a[i]);
}

// --- batch_norm: input, weight?, bias?, running_mean?, running_var?; training, momentum, eps
// -----------------------------

void inferBatchNorm(const OpArgs& a, OutputMetas& out) {
    const Dims& sizes = a[0].sizes();
    if (sizes.size() < 2)
        throw ShapeError(
            message("batch_norm: input ", sizes, " must have at least 2 dimensions [N, C, ...]"));
    const Dims perChannel{sizes[1]};
    checkParameter("batch_norm", a, 1, "weight", perChannel);
    checkParameter("batch_norm", a, 2, "bias", perChannel);
    checkParameter("batch_norm", a, 3, "running_mean", perChannel);
    checkParameter("batch_norm", a, 4, "running_var", perChannel);
    const bool training = a.attrs.flag(0);
    if (training) {
        const std::int64_t numel = numelOf(sizes);
        if (sizes[1] > 0 && numel / sizes[1] == 1)
            throw ShapeError(message(
                "batch_norm: training needs more than 1 value a channel, input is ", sizes));
    } else if (!a.has(3) || !a.has(4)) {
        throw ShapeError("batch_norm: running_mean and running_var are needed unless training");
    }
    out.add(sizes, a[0].dtype());
    out.add(perChannel, statisticsType(a[0].dtype()));
    out.add(perChannel, statisticsType(a[0].dtype()));
}

void batchNormKernel(const OpArgs& a, std::span<Tensor> out) {
    const double eps = a.attrs.real(2);
    if (a.attrs.flag(0) && a[0].numel() == 0) {
        // An empty batch has no statistics; the running ones stay as they are.
        cpu::fillZero(out[1]);
        cpu::fillZero(out[2]);
        return;
    }
    if (a.attrs.flag(0)) {
        cpu::batchNormStatistics(a[0], optional(a, 3), optional(a, 4), a.attrs.real(1), eps, out[1],
                                 out[2]);
        const OpCall* call = threadState().op;
        for (const int i : {3, 4})
            if (a.has(i)) a[i].storage()->noteWrite(&kBatchNorm, call ? call->site : Site::none());
    } else {
        cpu::batchNormFromRunning(a[3], a[4], eps, out[1], out[2]);
    }
    cpu::batchNormApply(a[0], optional(a, 1), optional(a, 2), out[1], out[2], out[0]);
}

/// [C] seen as [1, C, 1, ...] of x's rank.
Tensor perChannelLike(const Tensor& values, int rank) {
    Dims sizes = Dims::filled(rank, 1);
    sizes[1] = values.numel();
    return reshape(values, sizes);
}

/// While a graph of the gradient is wanted: the same values by operators that have gradients
/// themselves.
void vjpBatchNormRecorded(const VjpArgs& v, std::span<Tensor> grads) {
    const Tensor& x = v.input(0);
    const Tensor& g = v.grad();
    const double eps = v.attrs.real(2);
    const int rank = x.dim();
    Dims dims{0};
    for (int d = 2; d < rank; ++d) dims.push_back(d);
    const bool weighted = v.inputCount() > 1 && v.input(1).defined();
    if (v.attrs.flag(0)) {
        const Tensor gw = weighted ? mul(g, perChannelLike(v.input(1), rank)) : g;
        if (v.need(0)) grads[0] = normalizationInputGrad(gw, x, dims, eps);
        if (weighted && v.need(1)) grads[1] = sum(mul(g, normalizedOver(x, dims, eps)), dims);
    } else {
        const Tensor scale = perChannelLike(v.output(2).detach(), rank);
        const Tensor gs = mul(g, scale);
        if (v.need(0)) grads[0] = weighted ? mul(gs, perChannelLike(v.input(1), rank)) : gs;
        if (weighted && v.need(1))
            grads[1] = sum(mul(gs, sub(x, perChannelLike(v.output(1).detach(), rank))), dims);
    }
    if (v.inputCount() > 2 && v.need(2)) grads[2] = sum(g, dims);
}

void vjpBatchNorm(const VjpArgs& v, std::span<Tensor> grads) {
    // The statistics (outputs 1 and 2) are for inspection and carry no gradient.
    if (!v.grad().defined()) return;
    if (grad_enabled()) return vjpBatchNormRecorded(v, grads);
    const Tensor& weight = v.inputCount() > 1 ? v.input(1) : undefinedTensor();
    const Tensor& mean = v.output(1);
    const Tensor& invstd = v.output(2);
    Outputs all = call(kBatchNormBackward, {&v.grad(), &v.input(0), &mean, &invstd, &weight},
                       Attrs(v.attrs.flag(0)), Site());
    for (int i = 0; i < std::min(3, v.inputCount()); ++i) grads[static_cast<unsigned>(i)] = all[i];
}

void inferBatchNormBackward(const OpArgs& a, OutputMetas& out) {
    constexpr std::string_view kOp = "batch_norm_backward";
    const Dims& sizes = a[1].sizes();
    if (sizes.size() < 2 || a[0].sizes() != sizes)
        throw ShapeError(
            message(kOp, ": grad ", a[0].sizes(), " must have the shape of input ", sizes));
    const Dims perChannel{sizes[1]};
    checkSameDType(kOp, "grad", a[0], "input", a[1]);
    checkParameter(kOp, a, 2, "mean", perChannel);
    checkParameter(kOp, a, 3, "invstd", perChannel);
    checkParameter(kOp, a, 4, "weight", perChannel);
    out.add(sizes, a[1].dtype());
    out.add(perChannel, statisticsType(a[1].dtype()));
    out.add(perChannel, statisticsType(a[1].dtype()));
}

void vjpBatchNormBackward(const VjpArgs& v, std::span<Tensor> grads) {
    const int rank = v.meta(1).sizes.size();
    NormBackward norm;
    norm.overStatistics = {0};
    for (int d = 2; d < rank; ++d) norm.overStatistics.push_back(d);
    norm.overWeight = norm.overStatistics;
    norm.statisticsShape = Dims::filled(rank, 1);
    norm.statisticsShape[1] = v.meta(1).sizes[1];
    norm.weightShape = norm.statisticsShape;
    norm.fromInput = v.attrs.flag(0);
    vjpNormBackward(v, norm, grads);
}

void batchNormBackwardKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::batchNormBackward(a[0], a[1], optional(a, 4), a[2], a[3], a.attrs.flag(0), out[0], out[1],
                           out[2]);
}

// --- layer_norm: input, weight?, bias?; normalized_shape, eps
// -----------------------------------------------------------

/// The sizes in front of normalized_shape. Throws where input does not end in it.
Dims leadingSizes(std::string_view op, const Dims& input, const Dims& shape) {
    const int lead = input.size() - shape.size();
    bool ends = !shape.empty() && lead >= 0;
    for (int i = 0; ends && i < shape.size(); ++i) ends = input[lead + i] == shape[i];
    if (!ends)
        throw ShapeError(
            message(op, ": input ", input, " must end in the normalized shape ", shape));
    Dims sizes = input;
    sizes.resize(lead);
    return sizes;
}

void inferLayerNorm(const OpArgs& a, OutputMetas& out) {
    const Dims& shape = a.attrs.dims(0);
    const Dims lead = leadingSizes("layer_norm", a[0].sizes(), shape);
    checkParameter("layer_norm", a, 1, "weight", shape);
    checkParameter("layer_norm", a, 2, "bias", shape);
    out.add(a[0].sizes(), a[0].dtype());
    out.add(lead, statisticsType(a[0].dtype()));
    out.add(lead, statisticsType(a[0].dtype()));
}

void layerNormKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::layerNorm(a[0], numelOf(a.attrs.dims(0)), optional(a, 1), optional(a, 2), a.attrs.real(1),
                   out[0], out[1], out[2]);
}

void vjpLayerNormRecorded(const VjpArgs& v, std::span<Tensor> grads) {
    const Tensor& x = v.input(0);
    const Tensor& g = v.grad();
    const Dims& shape = v.attrs.dims(0);
    const double eps = v.attrs.real(1);
    Dims dims;
    for (int d = x.dim() - shape.size(); d < x.dim(); ++d) dims.push_back(d);
    const bool weighted = v.inputCount() > 1 && v.input(1).defined();
    if (v.need(0))
        grads[0] = normalizationInputGrad(weighted ? mul(g, v.input(1)) : g, x, dims, eps);
    if (weighted && v.need(1)) grads[1] = sum_to_size(mul(g, normalizedOver(x, dims, eps)), shape);
    if (v.inputCount() > 2 && v.need(2)) grads[2] = sum_to_size(g, shape);
}

void vjpLayerNorm(const VjpArgs& v, std::span<Tensor> grads) {
    if (!v.grad().defined()) return;
    if (grad_enabled()) return vjpLayerNormRecorded(v, grads);
    const Tensor& weight = v.inputCount() > 1 ? v.input(1) : undefinedTensor();
    const Tensor& mean = v.output(1);
    const Tensor& invstd = v.output(2);
    Outputs all = call(kLayerNormBackward, {&v.grad(), &v.input(0), &mean, &invstd, &weight},
                       Attrs(v.attrs.dims(0)), Site());
    for (int i = 0; i < std::min(3, v.inputCount()); ++i) grads[static_cast<unsigned>(i)] = all[i];
}

void inferLayerNormBackward(const OpArgs& a, OutputMetas& out) {
    constexpr std::string_view kOp = "layer_norm_backward";
    const Dims& shape = a.attrs.dims(0);
    const Dims lead = leadingSizes(kOp, a[1].sizes(), shape);
    if (a[0].sizes() != a[1].sizes())
        throw ShapeError(
            message(kOp, ": grad ", a[0].sizes(), " must have the shape of input ", a[1].sizes()));
    checkSameDType(kOp, "grad", a[0], "input", a[1]);
    checkParameter(kOp, a, 2, "mean", lead);
    checkParameter(kOp, a, 3, "invstd", lead);
    checkParameter(kOp, a, 4, "weight", shape);
    out.add(a[1].sizes(), a[1].dtype());
    out.add(shape, statisticsType(a[1].dtype()));
    out.add(shape, statisticsType(a[1].dtype()));
}

void vjpLayerNormBackward(const VjpArgs& v, std::span<Tensor> grads) {
    const Dims& sizes = v.meta(1).sizes;
    const Dims& shape = v.attrs.dims(0);
    const int lead = sizes.size() - shape.size();
    NormBackward norm;
    norm.statisticsShape = sizes;
    norm.weightShape = Dims::filled(sizes.size(), 1);
    for (int d = 0; d < sizes.size(); ++d) {
        (d < lead ? norm.overWeight : norm.overStatistics).push_back(d);
        (d < lead ? norm.weightShape[d] : norm.statisticsShape[d]) = 1;
        if (d >= lead) norm.weightShape[d] = sizes[d];
    }
    vjpNormBackward(v, norm, grads);
}

void layerNormBackwardKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::layerNormBackward(a[0], a[1], numelOf(a.attrs.dims(0)), optional(a, 4), a[2], a[3], out[0],
                           out[1], out[2]);
}

/// About 8 operations an element forward (two passes for the statistics, one to apply them).
Cost normCost(const OpArgs& a, std::span<const Tensor> outputs) {
    Cost c;
    for (const Tensor* t : a.inputs)
        if (t->defined()) c.bytesRead += static_cast<std::int64_t>(t->nbytes());
    for (const Tensor& t : outputs) c.bytesWritten += static_cast<std::int64_t>(t.nbytes());
    c.flops = 8.0 * static_cast<double>(outputs[0].numel());
    return c;
}

constexpr ArgDef kBatchArgs[] = {{"input"},
                                 {.name = "weight", .optional = true},
                                 {.name = "bias", .optional = true},
                                 {.name = "running_mean", .optional = true},
                                 {.name = "running_var", .optional = true}};
constexpr ArgDef kLayerArgs[] = {
    {"input"}, {.name = "weight", .optional = true}, {.name = "bias", .optional = true}};
constexpr ArgDef kBackwardArgs[] = {
    {"grad"}, {"input"}, {"mean"}, {"invstd"}, {.name = "weight", .optional = true}};
constexpr AttrDef kBatchAttrs[] = {{"training", AttrKind::Bool},
                                   {"momentum", AttrKind::Float, "0.1"},
                                   {"eps", AttrKind::Float, "1e-05"}};
constexpr AttrDef kTraining[] = {{"training", AttrKind::Bool}};
constexpr AttrDef kLayerAttrs[] = {{"normalized_shape", AttrKind::Dims},
                                   {"eps", AttrKind::Float, "1e-05"}};
constexpr AttrDef kShape[] = {{"normalized_shape", AttrKind::Dims}};

}  // namespace

// Outputs: result, mean, 1 / sqrt(var + eps). The running statistics are written in place while
// training.
constinit OpDef kBatchNorm{.name = "batch_norm",
                           .family = Family::Nn,
                           .args = kBatchArgs,
                           .attrs = kBatchAttrs,
                           .types = TypeRule::Floating,
                           .infer = inferBatchNorm,
                           .vjp = vjpBatchNorm,
                           .saveInputs = 0b11,
                           .saveOutputs = 0b110,
                           .cost = normCost,
                           .kernels = {batchNormKernel}};
// The *_backward rows are the fast first-order path. Where a graph of the gradient is wanted, the
// VJPs above use operators with gradients instead: those see the statistics as functions of the
// input, while these rows' own gradients take them as inputs.
constinit OpDef kBatchNormBackward{.name = "batch_norm_backward",
                                   .family = Family::Nn,
                                   .args = kBackwardArgs,
                                   .attrs = kTraining,
                                   .types = TypeRule::Floating,
                                   .infer = inferBatchNormBackward,
                                   .vjp = vjpBatchNormBackward,
                                   .saveInputs = 0b11111,
                                   .cost = normCost,
                                   .kernels = {batchNormBackwardKernel}};
constinit OpDef kLayerNorm{.name = "layer_norm",
                           .family = Family::Nn,
                           .args = kLayerArgs,
                           .attrs = kLayerAttrs,
                           .types = TypeRule::Floating,
                           .infer = inferLayerNorm,
                           .vjp = vjpLayerNorm,
                           .saveInputs = 0b11,
                           .saveOutputs = 0b110,
                           .cost = normCost,
                           .kernels = {layerNormKernel}};
constinit OpDef kLayerNormBackward{.name = "layer_norm_backward",
                                   .family = Family::Nn,
                                   .args = kBackwardArgs,
                                   .attrs = kShape,
                                   .types = TypeRule::Floating,
                                   .infer = inferLayerNormBackward,
                                   .vjp = vjpLayerNormBackward,
                                   .saveInputs = 0b11111,
                                   .cost = normCost,
                                   .kernels = {layerNormBackwardKernel}};

Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                  const Tensor& running_mean, const Tensor& running_var, bool training,
                  double momentum, double eps, Site site) {
    return call1(kBatchNorm, {&input, &weight, &bias, &running_mean, &running_var},
                 Attrs(training, momentum, eps), site);
}
Tensor layer_norm(const Tensor& input, const Dims& normalized_shape, const Tensor& weight,
                  const Tensor& bias, double eps, Site site) {
    return call1(kLayerNorm, {&input, &weight, &bias}, Attrs(normalized_shape, eps), site);
}

}  // namespace tapescope::engine
