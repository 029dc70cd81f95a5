// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/dropout.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/nn_rows.h"

namespace tapescope::engine {

namespace {

struct Rate {
    double p;
    double scale;
};
/// Not training: nothing is dropped.
Rate rateOf(const Attrs& attrs) {
    const double p = attrs.real(0);
    if (!attrs.flag(1)) return {0, 1};
    return {p, p < 1 ? 1 / (1 - p) : 0};
}

void inferDropout(const OpArgs& a, OutputMetas& out) {
    const double p = a.attrs.real(0);
    if (!(p >= 0 && p <= 1))
        throw Error("dropout: the probability " + std::to_string(p) + " must be between 0 and 1");
    out.add(a[0].sizes(), a[0].dtype());
    out.add(a[0].sizes(), DType::Bool);
}

void dropoutKernel(const OpArgs& a, std::span<Tensor> out) {
    const Rate rate = rateOf(a.attrs);
    cpu::dropout(a[0], rate.p, rate.scale, out[0], out[1]);
}

Tensor dropoutBackward(const Tensor& grad, const Tensor& mask, double scale) {
    return call1(kDropoutBackward, {&grad, &mask}, Attrs(scale), Site());
}

void vjpDropout(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = dropoutBackward(v.grad(), v.output(1), rateOf(v.attrs).scale);
}

void inferDropoutBackward(const OpArgs& a, OutputMetas& out) {
    checkFloating("dropout_backward", "grad", a[0]);
    if (a[1].dtype() != DType::Bool)
        throw DTypeError(message("dropout_backward: mask must be bool, not ", a[1].dtype()));
    if (a[0].sizes() != a[1].sizes())
        throw ShapeError(message("dropout_backward: grad ", a[0].sizes(),
                                 " must have the shape of mask ", a[1].sizes()));
    out.add(a[0].sizes(), a[0].dtype());
}

void dropoutBackwardKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::maskAndScale(a[0], a[1], a.attrs.real(0), out[0]);
}

void vjpDropoutBackward(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = dropoutBackward(v.grad(), v.input(1), v.attrs.real(0));
}

constexpr ArgDef kInput[] = {{"input"}};
constexpr ArgDef kGradMask[] = {{"grad"}, {"mask"}};
constexpr AttrDef kDropoutAttrs[] = {{"p", AttrKind::Float, "0.5"},
                                     {"training", AttrKind::Bool, "true"}};
constexpr AttrDef kScale[] = {{"scale", AttrKind::Float}};

}  // namespace

// Outputs: result, mask (bool).
constinit OpDef kDropout{.name = "dropout",
                         .family = Family::Nn,
                         .args = kInput,
                         .attrs = kDropoutAttrs,
                         .types = TypeRule::Floating,
                         .infer = inferDropout,
                         .vjp = vjpDropout,
                         .saveOutputs = 0b10,
                         .random = true,
                         .kernels = {dropoutKernel}};
constinit OpDef kDropoutBackward{.name = "dropout_backward",
                                 .family = Family::Nn,
                                 .args = kGradMask,
                                 .attrs = kScale,
                                 .infer = inferDropoutBackward,
                                 .vjp = vjpDropoutBackward,
                                 .saveInputs = 0b10,
                                 .kernels = {dropoutBackwardKernel}};

Tensor dropout(const Tensor& x, double p, bool training, Site site) {
    if (!training) return x;
    return call1(kDropout, {&x}, Attrs(p, training), site);
}

}  // namespace tapescope::engine
