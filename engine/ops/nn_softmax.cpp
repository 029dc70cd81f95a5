// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/softmax.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/nn_rows.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"

namespace tapescope::engine {

namespace {

void inferRows(const OpArgs& a, OutputMetas& out) {
    wrapDim("softmax", a.attrs.integer(0), a[0].dim());
    out.add(a[0].sizes(), a[0].dtype());
}
void inferLogRows(const OpArgs& a, OutputMetas& out) {
    wrapDim("log_softmax", a.attrs.integer(0), a[0].dim());
    out.add(a[0].sizes(), a[0].dtype());
}

void inferBackwardOf(std::string_view op, const OpArgs& a, OutputMetas& out) {
    wrapDim(op, a.attrs.integer(0), a[1].dim());
    checkSameDType(op, "grad", a[0], "output", a[1]);
    if (a[0].sizes() != a[1].sizes())
        throw ShapeError(
            message(op, ": grad ", a[0].sizes(), " must have the shape of output ", a[1].sizes()));
    out.add(a[1].sizes(), a[1].dtype());
}
void inferBackward(const OpArgs& a, OutputMetas& out) {
    inferBackwardOf("softmax_backward", a, out);
}
void inferLogBackward(const OpArgs& a, OutputMetas& out) {
    inferBackwardOf("log_softmax_backward", a, out);
}

template <bool logarithm>
void kernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::softmaxInto(a[0], wrapDim("softmax", a.attrs.integer(0), a[0].dim()), logarithm, out[0]);
}
template <bool logarithm>
void backwardKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::softmaxBackwardInto(a[0], a[1], wrapDim("softmax", a.attrs.integer(0), a[0].dim()),
                             logarithm, out[0]);
}

Tensor softmaxBackward(const Tensor& grad, const Tensor& y, std::int64_t dim, Site site = {}) {
    return call1(kSoftmaxBackward, {&grad, &y}, Attrs(dim), site);
}
Tensor logSoftmaxBackward(const Tensor& grad, const Tensor& y, std::int64_t dim, Site site = {}) {
    return call1(kLogSoftmaxBackward, {&grad, &y}, Attrs(dim), site);
}

void vjpSoftmax(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = softmaxBackward(v.grad(), v.output(0), v.attrs.integer(0));
}
void vjpLogSoftmax(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = logSoftmaxBackward(v.grad(), v.output(0), v.attrs.integer(0));
}

// f(g, y) = y (g - sum(g y)), differentiated in g and y.
void vjpSoftmaxBackward(const VjpArgs& v, std::span<Tensor> grads) {
    const Tensor& g = v.input(0);
    const Tensor& y = v.input(1);
    const std::int64_t dim = v.attrs.integer(0);
    if (v.need(0)) grads[0] = softmaxBackward(v.grad(), y, dim);
    if (!v.need(1)) return;
    const Dims along{dim};
    const Tensor dot = sum(mul(g, y), along, true);
    const Tensor incoming = sum(mul(v.grad(), y), along, true);
    grads[1] = sub(mul(v.grad(), sub(g, dot)), mul(g, incoming));
}

// f(g, y) = g - exp(y) sum(g), differentiated in g and y.
void vjpLogSoftmaxBackward(const VjpArgs& v, std::span<Tensor> grads) {
    const Dims along{v.attrs.integer(0)};
    const Tensor weighted = mul(v.grad(), exp(v.input(1)));
    if (v.need(0)) grads[0] = sub(v.grad(), sum(weighted, along, true));
    if (v.need(1)) grads[1] = neg(mul(weighted, sum(v.input(0), along, true)));
}

/// Per element: a comparison, a subtraction, an exponential (counted as 1), an addition and a
/// scaling.
Cost cost(const OpArgs& a, std::span<const Tensor> outputs) {
    Cost c;
    for (const Tensor* t : a.inputs) c.bytesRead += static_cast<std::int64_t>(t->nbytes());
    c.bytesWritten = static_cast<std::int64_t>(outputs[0].nbytes());
    c.flops = 5.0 * static_cast<double>(outputs[0].numel());
    return c;
}

constexpr ArgDef kInput[] = {{"input"}};
constexpr ArgDef kGradOutput[] = {{"grad"}, {"output"}};
constexpr AttrDef kDim[] = {{"dim", AttrKind::Int}};

}  // namespace

constinit OpDef kSoftmax{.name = "softmax",
                         .family = Family::Nn,
                         .args = kInput,
                         .attrs = kDim,
                         .types = TypeRule::Floating,
                         .infer = inferRows,
                         .vjp = vjpSoftmax,
                         .saveOutputs = 1,
                         .cost = cost,
                         .kernels = {kernel<false>}};
constinit OpDef kLogSoftmax{.name = "log_softmax",
                            .family = Family::Nn,
                            .args = kInput,
                            .attrs = kDim,
                            .types = TypeRule::Floating,
                            .infer = inferLogRows,
                            .vjp = vjpLogSoftmax,
                            .saveOutputs = 1,
                            .cost = cost,
                            .kernels = {kernel<true>}};
constinit OpDef kSoftmaxBackward{.name = "softmax_backward",
                                 .family = Family::Nn,
                                 .args = kGradOutput,
                                 .attrs = kDim,
                                 .types = TypeRule::Floating,
                                 .infer = inferBackward,
                                 .vjp = vjpSoftmaxBackward,
                                 .saveInputs = 0b11,
                                 .cost = cost,
                                 .kernels = {backwardKernel<false>}};
constinit OpDef kLogSoftmaxBackward{.name = "log_softmax_backward",
                                    .family = Family::Nn,
                                    .args = kGradOutput,
                                    .attrs = kDim,
                                    .types = TypeRule::Floating,
                                    .infer = inferLogBackward,
                                    .vjp = vjpLogSoftmaxBackward,
                                    .saveInputs = 0b11,
                                    .cost = cost,
                                    .kernels = {backwardKernel<true>}};

Tensor softmax(const Tensor& x, std::int64_t dim, Site site) {
    return call1(kSoftmax, {&x}, Attrs(dim), site);
}
Tensor log_softmax(const Tensor& x, std::int64_t dim, Site site) {
    return call1(kLogSoftmax, {&x}, Attrs(dim), site);
}

}  // namespace tapescope::engine
