// SPDX-License-Identifier: Apache-2.0
// Activations of one operand without parameters of their own shape.
#include "engine/ops/pointwise_activations.h"

#include "engine/cpu/pointwise_kernels.h"
#include "engine/cpu/real_kernels.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/pointwise_math.h"
#include "engine/ops/pointwise_more_rows.h"
#include "engine/ops/row_makers.h"

#include <cmath>
#include <limits>

namespace tapescope::engine {
using cpu::RealUnary;

namespace {

using Grads = std::span<Tensor>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSeluScale = 1.0507009873554804934193349852946;
constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
constexpr AttrDef kMinMax[] = {{"min_val", AttrKind::Float, "-1"},
                               {"max_val", AttrKind::Float, "1"}};
constexpr AttrDef kAlpha[] = {{"alpha", AttrKind::Float, "1"}};
constexpr AttrDef kLambd[] = {{"lambd", AttrKind::Float, "0.5"}};
constexpr AttrDef kThresholdValue[] = {{"threshold", AttrKind::Float}, {"value", AttrKind::Float}};

Tensor number(double value) { return wrappedNumber(value); }

void inferHardtanh(const OpArgs& args, OutputMetas& out) {
    const double low = args.attrs.real(0);
    const double high = args.attrs.real(1);
    checkTakes("hardtanh", Takes::Numbers, args[0].dtype());
    if (!(low <= high))
        throw Error(message("hardtanh: min_val ", std::to_string(low), " is above max_val ",
                            std::to_string(high)));
    for (const double bound : {low, high})
        if (!std::isinf(bound)) checkWhole("hardtanh", "the bound", args[0].dtype(), bound);
    inferLikeFirst(args, out);
}
void inferCelu(const OpArgs& args, OutputMetas& out) {
    if (args.attrs.real(0) == 0)
        throw Error("celu: alpha must not be 0, the input is divided by it");
    inferLikeFirst(args, out);
}
void inferSoftshrink(const OpArgs& args, OutputMetas& out) {
    if (!(args.attrs.real(0) >= 0))
        throw Error(message("softshrink: lambd must not be negative, but is ",
                            std::to_string(args.attrs.real(0))));
    inferLikeFirst(args, out);
}
void inferThreshold(const OpArgs& args, OutputMetas& out) {
    checkTakes("threshold", Takes::Numbers, args[0].dtype());
    checkWhole("threshold", "value", args[0].dtype(), args.attrs.real(1));
    inferLikeFirst(args, out);
}

void clampTo(const OpArgs& args, double low, double high, std::span<Tensor> outputs) {
    const Attrs bounds{low, high};
    cpu::runUnary(cpu::UnaryOp::Clamp, {args.inputs, bounds}, outputs);
}
void hardtanhKernel(const OpArgs& args, std::span<Tensor> outputs) {
    clampTo(args, args.attrs.real(0), args.attrs.real(1), outputs);
}
void relu6Kernel(const OpArgs& args, std::span<Tensor> outputs) { clampTo(args, 0, 6, outputs); }
void thresholdKernel(const OpArgs& args, std::span<Tensor> outputs) {
    if (isFloating(args[0].dtype()))
        return cpu::runReal(RealUnary::Threshold, args[0], cpu::realParams(args.attrs), outputs[0]);
    const double limit = args.attrs.real(0);
    const auto value = static_cast<std::int64_t>(args.attrs.real(1));
    cpu::mapElements<std::int64_t, std::int64_t>(
        cpu::kGrain, [=](std::int64_t x) { return static_cast<double>(x) <= limit ? value : x; },
        outputs[0], args[0]);
}

/// The gradient where low < x < high, else 0.
Tensor inside(const VjpArgs& a, double low, double high) {
    const Tensor& x = a.input(0);
    return where(logical_and(gt(x, number(low)), lt(x, number(high))), a.grad(), number(0));
}
void hardtanhVjp(const VjpArgs& a, Grads out) {
    out[0] = inside(a, a.attrs.real(0), a.attrs.real(1));
}
void relu6Vjp(const VjpArgs& a, Grads out) { out[0] = inside(a, 0, 6); }
void hardsigmoidVjp(const VjpArgs& a, Grads out) { out[0] = mul(inside(a, -3, 3), 1.0 / 6); }
void hardswishVjp(const VjpArgs& a, Grads out) {
    out[0] = hardswish_backward(a.grad(), a.input(0));
}
/// Of g (x / 3 + 1/2) inside, g above.
void hardswishBackwardVjp(const VjpArgs& a, Grads out) {
    const Tensor& x = a.input(1);
    if (a.need(0)) out[0] = hardswish_backward(a.grad(), x);
    if (a.need(1)) {
        const Tensor bends = logical_and(gt(x, number(-3)), lt(x, number(3)));
        out[1] = where(bends, mul(mul(a.grad(), a.input(0)), 1.0 / 3), number(0));
    }
}
void mishVjp(const VjpArgs& a, Grads out) { out[0] = mish_backward(a.grad(), a.input(0)); }
/// With t = tanh(softplus(x)), s = sigmoid(x), d = 1 - t^2: mish' = t + x s d, and
/// mish'' = s d (2 + x (1 - s) - 2 x s t).
void mishBackwardVjp(const VjpArgs& a, Grads out) {
    const Tensor& x = a.input(1);
    if (a.need(0)) out[0] = mish_backward(a.grad(), x);
    if (a.need(1)) {
        const Tensor t = tanh(softplus(x));
        const Tensor s = sigmoid(x);
        const Tensor bend = add(mul(x, sub(sub(number(1), s), mul(mul(s, t), 2.0))), 2.0);
        out[1] = mul(mul(a.grad(), a.input(0)), mul(mul(s, sub(number(1), square(t))), bend));
    }
}
Tensor atMostZero(const Tensor& x) { return clamp(x, -kInfinity, 0.0); }
void seluVjp(const VjpArgs& a, Grads out) {
    const Tensor& x = a.input(0);
    const Tensor slope = mul(exp(atMostZero(x)), kSeluScale * kSeluAlpha);
    out[0] = mul(a.grad(), where(le(x, number(0)), slope, number(kSeluScale)));
}
void celuVjp(const VjpArgs& a, Grads out) {
    const Tensor& x = a.input(0);
    const Tensor slope = exp(div(atMostZero(x), a.attrs.real(0)));
    out[0] = mul(a.grad(), where(le(x, number(0)), slope, number(1)));
}
void logsigmoidVjp(const VjpArgs& a, Grads out) {
    out[0] = mul(a.grad(), sigmoid(neg(a.input(0))));
}
void softsignVjp(const VjpArgs& a, Grads out) {
    out[0] = div(a.grad(), square(add(abs(a.input(0)), 1.0)));
}
void tanhshrinkVjp(const VjpArgs& a, Grads out) {
    out[0] = mul(a.grad(), square(tanh(a.input(0))));
}
/// Both shrinks keep the gradient outside [-lambd, lambd].
void shrinkVjp(const VjpArgs& a, Grads out) {
    const Tensor& x = a.input(0);
    const double lambd = a.attrs.real(0);
    const Tensor shrunk = logical_and(ge(x, number(-lambd)), le(x, number(lambd)));
    out[0] = masked_fill(a.grad(), shrunk, 0.0);
}
void thresholdVjp(const VjpArgs& a, Grads out) {
    out[0] = masked_fill(a.grad(), le(a.input(0), number(a.attrs.real(0))), 0.0);
}

constexpr OpDef activation(std::string_view name, VjpFn vjp, KernelFn kernel,
                           std::span<const AttrDef> attrs = {}, InferFn infer = inferLikeFirst,
                           TypeRule types = TypeRule::Floating) {
    return {.name = name,
            .family = Family::Pointwise,
            .args = kInputArg,
            .attrs = attrs,
            .types = types,
            .infer = infer,
            .vjp = vjp,
            .saveInputs = 1,
            .kernels = {kernel}};
}
template <OpName name>
constexpr OpDef backward(VjpFn vjp, KernelFn kernel) {
    return {.name = name.view(),
            .family = Family::Pointwise,
            .args = kGradInputArgs,
            .types = TypeRule::Promote,
            .infer = inferBinaryOf<name, Takes::Reals>,
            .vjp = vjp,
            .saveInputs = 0b11,
            .kernels = {kernel}};
}

}  // namespace

constinit OpDef kHardtanh =
    activation("hardtanh", hardtanhVjp, hardtanhKernel, kMinMax, inferHardtanh, TypeRule::AsIs);
constinit OpDef kRelu6 = activation("relu6", relu6Vjp, relu6Kernel, {},
                                    inferUnaryOf<"relu6", Takes::Numbers>, TypeRule::AsIs);
constinit OpDef kHardswish = activation("hardswish", hardswishVjp, cpu::real<RealUnary::Hardswish>);
constinit OpDef kHardsigmoid =
    activation("hardsigmoid", hardsigmoidVjp, cpu::real<RealUnary::Hardsigmoid>);
constinit OpDef kMish = activation("mish", mishVjp, cpu::real<RealUnary::Mish>);
constinit OpDef kSelu = activation("selu", seluVjp, cpu::real<RealUnary::Selu>);
constinit OpDef kCelu = activation("celu", celuVjp, cpu::real<RealUnary::Celu>, kAlpha, inferCelu);
constinit OpDef kLogSigmoid =
    activation("logsigmoid", logsigmoidVjp, cpu::real<RealUnary::LogSigmoid>);
constinit OpDef kSoftsign = activation("softsign", softsignVjp, cpu::real<RealUnary::Softsign>, {},
                                       inferLikeFirst, TypeRule::PromoteFloat);
constinit OpDef kTanhshrink =
    activation("tanhshrink", tanhshrinkVjp, cpu::real<RealUnary::Tanhshrink>, {}, inferLikeFirst,
               TypeRule::PromoteFloat);
constinit OpDef kHardshrink =
    activation("hardshrink", shrinkVjp, cpu::real<RealUnary::Hardshrink>, kLambd);
constinit OpDef kSoftshrink =
    activation("softshrink", shrinkVjp, cpu::real<RealUnary::Softshrink>, kLambd, inferSoftshrink);
constinit OpDef kThreshold = activation("threshold", thresholdVjp, thresholdKernel, kThresholdValue,
                                        inferThreshold, TypeRule::AsIs);
constinit OpDef kHardswishBackward = backward<"hardswish_backward">(
    hardswishBackwardVjp, cpu::realBinary<cpu::RealBinary::HardswishBackward>);
constinit OpDef kMishBackward =
    backward<"mish_backward">(mishBackwardVjp, cpu::realBinary<cpu::RealBinary::MishBackward>);

std::span<OpDef* const> activationRows() {
    static constexpr OpDef* kRows[] = {
        &kHardtanh,   &kRelu6,      &kHardswish,  &kHardsigmoid,       &kMish,
        &kSelu,       &kCelu,       &kLogSigmoid, &kSoftsign,          &kTanhshrink,
        &kHardshrink, &kSoftshrink, &kThreshold,  &kHardswishBackward, &kMishBackward};
    return kRows;
}

Tensor hardtanh(const Tensor& x, double min_val, double max_val, Site site) {
    return call1(kHardtanh, {&x}, Attrs{min_val, max_val}, site);
}
Tensor relu6(const Tensor& x, Site site) { return call1(kRelu6, {&x}, {}, site); }
Tensor hardswish(const Tensor& x, Site site) { return call1(kHardswish, {&x}, {}, site); }
Tensor hardsigmoid(const Tensor& x, Site site) { return call1(kHardsigmoid, {&x}, {}, site); }
Tensor mish(const Tensor& x, Site site) { return call1(kMish, {&x}, {}, site); }
Tensor selu(const Tensor& x, Site site) { return call1(kSelu, {&x}, {}, site); }
Tensor celu(const Tensor& x, double alpha, Site site) {
    return call1(kCelu, {&x}, Attrs{alpha}, site);
}
Tensor logsigmoid(const Tensor& x, Site site) { return call1(kLogSigmoid, {&x}, {}, site); }
Tensor softsign(const Tensor& x, Site site) { return call1(kSoftsign, {&x}, {}, site); }
Tensor tanhshrink(const Tensor& x, Site site) { return call1(kTanhshrink, {&x}, {}, site); }
Tensor hardshrink(const Tensor& x, double lambd, Site site) {
    return call1(kHardshrink, {&x}, Attrs{lambd}, site);
}
Tensor softshrink(const Tensor& x, double lambd, Site site) {
    return call1(kSoftshrink, {&x}, Attrs{lambd}, site);
}
Tensor threshold(const Tensor& x, double threshold, double value, Site site) {
    return call1(kThreshold, {&x}, Attrs{threshold, value}, site);
}
Tensor hardswish_backward(const Tensor& grad, const Tensor& x, Site site) {
    return call1(kHardswishBackward, {&grad, &x}, {}, site);
}
Tensor mish_backward(const Tensor& grad, const Tensor& x, Site site) {
    return call1(kMishBackward, {&grad, &x}, {}, site);
}

}  // namespace tapescope::engine
