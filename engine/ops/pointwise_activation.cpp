// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/copy.h"
#include "engine/cpu/pointwise_kernels.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/pointwise_rows.h"

#include <cmath>
#include <limits>

namespace tapescope::engine {
using cpu::BinaryOp;
using cpu::UnaryOp;

namespace {

constexpr ArgDef kInput[] = {{"input"}};
constexpr ArgDef kGradInput[] = {{"grad"}, {"input"}};
constexpr ArgDef kGradOutput[] = {{"grad"}, {"output"}};
constexpr AttrDef kSlope[] = {{"negative_slope", AttrKind::Float, "0.01"}};
constexpr AttrDef kAlpha[] = {{"alpha", AttrKind::Float, "1"}};
constexpr AttrDef kBounds[] = {{"min", AttrKind::Float}, {"max", AttrKind::Float}};
constexpr double kInvSqrt2Pi = 0.39894228040143267794;

void inferNumeric(const OpDef& row, const OpArgs& args, OutputMetas& out) {
    if (args[0].dtype() == DType::Bool)
        throw DTypeError(message(
            row.name, ": bool tensors cannot be used; convert them with to(x, DType::F32)"));
    out.add(args[0].sizes(), args[0].dtype());
}
void inferRelu(const OpArgs& args, OutputMetas& out) { inferNumeric(kRelu, args, out); }

/// Integers stay integers when both bounds are whole numbers (or infinite), as with PyTorch's
/// integer bounds, and become float32 with others.
void inferClamp(const OpArgs& args, OutputMetas& out) {
    const auto whole = [&](int i) { return std::floor(args.attrs.real(i)) == args.attrs.real(i); };
    if (!isFloating(args[0].dtype()) && !(whole(0) && whole(1)))
        return out.add(args[0].sizes(), DType::F32);
    out.add(args[0].sizes(), args[0].dtype() == DType::Bool ? DType::I64 : args[0].dtype());
}
void clampKernel(const OpArgs& args, std::span<Tensor> outputs) {
    if (args[0].dtype() == outputs[0].dtype()) return cpu::unary<UnaryOp::Clamp>(args, outputs);
    const Tensor x = cpu::converted(args[0], outputs[0].dtype());
    const Tensor* input = &x;
    cpu::unary<UnaryOp::Clamp>({{&input, 1}, args.attrs}, outputs);
}

Tensor reluBackward(const Tensor& grad, const Tensor& y) {
    return call1(kReluBackward, {&grad, &y}, {}, {});
}
Tensor leakyReluBackward(const Tensor& grad, const Tensor& x, const Attrs& attrs) {
    return call1(kLeakyReluBackward, {&grad, &x}, attrs, {});
}
Tensor geluBackward(const Tensor& grad, const Tensor& x) {
    return call1(kGeluBackward, {&grad, &x}, {}, {});
}

}  // namespace

void reluVjp(const VjpArgs& a, std::span<Tensor> out) {
    out[0] = reluBackward(a.grad(), a.output(0));
}

namespace {

void reluBackwardVjp(const VjpArgs& a, std::span<Tensor> out) {
    if (a.need(0)) out[0] = reluBackward(a.grad(), a.input(1));
}
void leakyReluVjp(const VjpArgs& a, std::span<Tensor> out) {
    out[0] = leakyReluBackward(a.grad(), a.input(0), a.attrs);
}
void leakyReluBackwardVjp(const VjpArgs& a, std::span<Tensor> out) {
    if (a.need(0)) out[0] = leakyReluBackward(a.grad(), a.input(1), a.attrs);
}
/// g alpha e^x where x <= 0, else g. min(x, 0) keeps e^x finite where it is not used.
void eluVjp(const VjpArgs& a, std::span<Tensor> out) {
    const Tensor& x = a.input(0);
    const double alpha = a.attrs.has(0) ? a.attrs.real(0) : 1.0;
    const Tensor slope = mul(exp(clamp(x, -std::numeric_limits<double>::infinity(), 0.0)), alpha);
    out[0] = mul(a.grad(), where(le(x, wrappedNumber(0.0)), slope, wrappedNumber(1.0)));
}
void geluVjp(const VjpArgs& a, std::span<Tensor> out) {
    out[0] = geluBackward(a.grad(), a.input(0));
}
/// Of g (Phi(x) + x phi(x)): its slope in x is g phi(x) (2 - x^2).
void geluBackwardVjp(const VjpArgs& a, std::span<Tensor> out) {
    const Tensor& g = a.input(0);
    const Tensor& x = a.input(1);
    if (a.need(0)) out[0] = geluBackward(a.grad(), x);
    if (a.need(1)) {
        const Tensor x2 = square(x);
        const Tensor pdf = mul(exp(mul(x2, -0.5)), kInvSqrt2Pi);
        out[1] = mul(mul(a.grad(), g), mul(pdf, sub(wrappedNumber(2.0), x2)));
    }
}
/// g s (1 + x (1 - s)) with s = sigmoid(x).
void siluVjp(const VjpArgs& a, std::span<Tensor> out) {
    const Tensor& x = a.input(0);
    const Tensor s = sigmoid(x);
    out[0] = mul(a.grad(), mul(s, add(mul(x, sub(wrappedNumber(1.0), s)), 1.0)));
}
void softplusVjp(const VjpArgs& a, std::span<Tensor> out) {
    out[0] = mul(a.grad(), sigmoid(a.input(0)));
}
void clampVjp(const VjpArgs& a, std::span<Tensor> out) {
    const Tensor& x = a.input(0);
    const Tensor low = wrappedNumber(a.attrs.real(0));
    const Tensor high = wrappedNumber(a.attrs.real(1));
    out[0] = where(logical_and(ge(x, low), le(x, high)), a.grad(), wrappedNumber(0.0));
}

template <const OpDef& row>
constexpr OpDef activation(std::string_view name, VjpFn vjp, KernelFn kernel,
                           std::span<const AttrDef> attrs = {}) {
    return {.name = name,
            .family = Family::Pointwise,
            .args = kInput,
            .attrs = attrs,
            .types = TypeRule::Floating,
            .infer = inferLikeInput<row>,
            .vjp = vjp,
            .saveInputs = 1,
            .native = kEveryRealType,
            .kernels = {kernel}};
}
template <const OpDef& row>
constexpr OpDef backward(std::string_view name, std::span<const ArgDef> args, VjpFn vjp,
                         KernelFn kernel, std::uint32_t saves,
                         std::span<const AttrDef> attrs = {}) {
    return {.name = name,
            .family = Family::Pointwise,
            .args = args,
            .attrs = attrs,
            .types = TypeRule::Promote,
            .infer = inferBroadcast<row>,
            .vjp = vjp,
            .saveInputs = saves,
            .native = kEveryRealType,
            .kernels = {kernel}};
}

}  // namespace

constinit OpDef kRelu{.name = "relu",
                      .family = Family::Pointwise,
                      .args = kInput,
                      .infer = inferRelu,
                      .vjp = reluVjp,
                      .saveOutputs = 1,
                      .native = kEveryRealType,
                      .kernels = {cpu::unary<UnaryOp::Relu>}};
constinit OpDef kClamp{.name = "clamp",
                       .family = Family::Pointwise,
                       .args = kInput,
                       .attrs = kBounds,
                       .infer = inferClamp,
                       .vjp = clampVjp,
                       .saveInputs = 1,
                       .native = kEveryRealType,
                       .kernels = {clampKernel}};
constinit OpDef kLeakyRelu =
    activation<kLeakyRelu>("leaky_relu", leakyReluVjp, cpu::unary<UnaryOp::LeakyRelu>, kSlope);
constinit OpDef kElu = activation<kElu>("elu", eluVjp, cpu::unary<UnaryOp::Elu>, kAlpha);
constinit OpDef kGelu = activation<kGelu>("gelu", geluVjp, cpu::unary<UnaryOp::Gelu>);
constinit OpDef kSilu = activation<kSilu>("silu", siluVjp, cpu::unary<UnaryOp::Silu>);
constinit OpDef kSoftplus =
    activation<kSoftplus>("softplus", softplusVjp, cpu::unary<UnaryOp::Softplus>);
constinit OpDef kReluBackward = backward<kReluBackward>(
    "relu_backward", kGradOutput, reluBackwardVjp, cpu::binary<BinaryOp::ReluBackward>, 0b10);
constinit OpDef kLeakyReluBackward =
    backward<kLeakyReluBackward>("leaky_relu_backward", kGradInput, leakyReluBackwardVjp,
                                 cpu::binary<BinaryOp::LeakyReluBackward>, 0b10, kSlope);
constinit OpDef kGeluBackward = backward<kGeluBackward>(
    "gelu_backward", kGradInput, geluBackwardVjp, cpu::binary<BinaryOp::GeluBackward>, 0b11);

Tensor relu(const Tensor& x, Site site) { return call1(kRelu, {&x}, {}, site); }
Tensor leaky_relu(const Tensor& x, double negative_slope, Site site) {
    return call1(kLeakyRelu, {&x}, Attrs{negative_slope}, site);
}
Tensor elu(const Tensor& x, double alpha, Site site) {
    return call1(kElu, {&x}, Attrs{alpha}, site);
}
Tensor gelu(const Tensor& x, Site site) { return call1(kGelu, {&x}, {}, site); }
Tensor silu(const Tensor& x, Site site) { return call1(kSilu, {&x}, {}, site); }
Tensor softplus(const Tensor& x, Site site) { return call1(kSoftplus, {&x}, {}, site); }
Tensor clamp(const Tensor& x, double min, double max, Site site) {
    return call1(kClamp, {&x}, Attrs{min, max}, site);
}

}  // namespace tapescope::engine
