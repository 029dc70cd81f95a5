// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/copy.h"
#include "engine/cpu/pointwise_kernels.h"
#include "engine/ops/checks.h"
#include "engine/ops/complex.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/pointwise_math.h"
#include "engine/ops/pointwise_rows.h"
#include "engine/ops/shape.h"

namespace tapescope::engine {
using cpu::BinaryOp;
using cpu::UnaryOp;

namespace {

constexpr ArgDef kInput[] = {{"input"}};
constexpr ArgDef kGradOutput[] = {{"grad"}, {"output"}};

template <const OpDef& row, UnaryOp op>
void inferUnary(const OpArgs& args, OutputMetas& out) {
    if (!cpu::takes(op, args[0].dtype()))
        throw DTypeError(message(row.name, ": ", args[0].dtype(),
                                 " tensors cannot be used; convert them with to(x, DType::F32)"));
    out.add(args[0].sizes(), op == UnaryOp::Abs ? realType(args[0].dtype()) : args[0].dtype());
}

/// Bool has no sign to drop.
void inferAbs(const OpArgs& args, OutputMetas& out) {
    inferUnary<kAbs, UnaryOp::Abs>(args, out);
    if (args[0].dtype() == DType::Bool)
        throw DTypeError("abs: bool tensors cannot be used; convert them with to(x, DType::I64)");
}
/// PyTorch's square is pow(x, 2), which counts with bools in int64.
void inferSquare(const OpArgs& args, OutputMetas& out) {
    if (args[0].dtype() == DType::Bool) return out.add(args[0].sizes(), DType::I64);
    inferUnary<kSquare, UnaryOp::Square>(args, out);
}
void squareKernel(const OpArgs& args, std::span<Tensor> outputs) {
    if (args[0].dtype() == DType::Bool) return cpu::copyTensor(outputs[0], args[0]);
    cpu::unary<UnaryOp::Square>(args, outputs);
}

void negVjp(const VjpArgs& a, std::span<Tensor> out) { out[0] = neg(a.grad()); }
void absVjp(const VjpArgs& a, std::span<Tensor> out) {
    const Tensor& x = a.input(0);
    out[0] = mul(a.grad(), isComplex(x.dtype()) ? sgn(x) : sign(x));
}
void flatVjp(const VjpArgs& a, std::span<Tensor> out) { out[0] = zeros_like(a.grad()); }
void expVjp(const VjpArgs& a, std::span<Tensor> out) {
    const Tensor& y = a.output(0);
    out[0] = mul(a.grad(), isComplex(y.dtype()) ? conj(y) : y);
}
void logVjp(const VjpArgs& a, std::span<Tensor> out) { out[0] = div(a.grad(), a.input(0)); }
void sqrtVjp(const VjpArgs& a, std::span<Tensor> out) {
    out[0] = div(a.grad(), mul(a.output(0), 2.0));
}
void rsqrtVjp(const VjpArgs& a, std::span<Tensor> out) {
    const Tensor& y = a.output(0);
    out[0] = mul(mul(a.grad(), -0.5), mul(square(y), y));
}
void squareVjp(const VjpArgs& a, std::span<Tensor> out) {
    out[0] = mul(a.grad(), mul(a.input(0), 2.0));
}
void reciprocalVjp(const VjpArgs& a, std::span<Tensor> out) {
    out[0] = mul(neg(a.grad()), square(a.output(0)));
}
void sinVjp(const VjpArgs& a, std::span<Tensor> out) { out[0] = mul(a.grad(), cos(a.input(0))); }
void cosVjp(const VjpArgs& a, std::span<Tensor> out) {
    out[0] = mul(neg(a.grad()), sin(a.input(0)));
}

Tensor tanhBackward(const Tensor& grad, const Tensor& y) {
    return call1(kTanhBackward, {&grad, &y}, {}, {});
}
Tensor sigmoidBackward(const Tensor& grad, const Tensor& y) {
    return call1(kSigmoidBackward, {&grad, &y}, {}, {});
}
void tanhVjp(const VjpArgs& a, std::span<Tensor> out) {
    out[0] = tanhBackward(a.grad(), a.output(0));
}
void sigmoidVjp(const VjpArgs& a, std::span<Tensor> out) {
    out[0] = sigmoidBackward(a.grad(), a.output(0));
}

/// Of g (1 - y^2).
void tanhBackwardVjp(const VjpArgs& a, std::span<Tensor> out) {
    const Tensor& g = a.input(0);
    const Tensor& y = a.input(1);
    if (a.need(0)) out[0] = tanhBackward(a.grad(), y);
    if (a.need(1)) out[1] = mul(mul(a.grad(), g), mul(y, -2.0));
}
/// Of g y (1 - y).
void sigmoidBackwardVjp(const VjpArgs& a, std::span<Tensor> out) {
    const Tensor& g = a.input(0);
    const Tensor& y = a.input(1);
    if (a.need(0)) out[0] = sigmoidBackward(a.grad(), y);
    if (a.need(1)) out[1] = mul(mul(a.grad(), g), add(mul(y, -2.0), 1.0));
}

/// A row of one operand. types: Promote leaves integers as they are, PromoteFloat takes them as
/// float32.
constexpr OpDef unaryRow(std::string_view name, TypeRule types, InferFn infer, VjpFn vjp,
                         std::uint32_t saveInputs, std::uint32_t saveOutputs, KernelFn kernel) {
    return {.name = name,
            .family = Family::Pointwise,
            .args = kInput,
            .types = types,
            .infer = infer,
            .vjp = vjp,
            .saveInputs = saveInputs,
            .saveOutputs = saveOutputs,
            .native = kEveryType,
            .kernels = {kernel}};
}
template <const OpDef& row, UnaryOp op>
constexpr OpDef same(std::string_view name, VjpFn vjp, bool saveInput = false) {
    return unaryRow(name, TypeRule::AsIs, inferUnary<row, op>, vjp, saveInput, 0, cpu::unary<op>);
}
enum class Saves : std::uint8_t { Input, Output };
template <const OpDef& row, UnaryOp op>
constexpr OpDef real(std::string_view name, VjpFn vjp, Saves saves) {
    return unaryRow(name, TypeRule::PromoteFloat, inferUnary<row, op>, vjp, saves == Saves::Input,
                    saves == Saves::Output, cpu::unary<op>);
}
template <const OpDef& row>
constexpr OpDef backward(std::string_view name, VjpFn vjp, KernelFn kernel) {
    return {.name = name,
            .family = Family::Pointwise,
            .args = kGradOutput,
            .types = TypeRule::Promote,
            .infer = inferBroadcast<row>,
            .vjp = vjp,
            .saveInputs = 0b11,
            .native = kEveryRealType,
            .kernels = {kernel}};
}

}  // namespace

constinit OpDef kNeg = same<kNeg, UnaryOp::Neg>("neg", negVjp);
constinit OpDef kAbs =
    unaryRow("abs", TypeRule::AsIs, inferAbs, absVjp, true, 0, cpu::unary<UnaryOp::Abs>);
constinit OpDef kSign = same<kSign, UnaryOp::Sign>("sign", flatVjp);
constinit OpDef kFloor = same<kFloor, UnaryOp::Floor>("floor", flatVjp);
constinit OpDef kSquare =
    unaryRow("square", TypeRule::AsIs, inferSquare, squareVjp, true, 0, squareKernel);
constinit OpDef kExp = real<kExp, UnaryOp::Exp>("exp", expVjp, Saves::Output);
constinit OpDef kLog = real<kLog, UnaryOp::Log>("log", logVjp, Saves::Input);
constinit OpDef kSqrt = real<kSqrt, UnaryOp::Sqrt>("sqrt", sqrtVjp, Saves::Output);
constinit OpDef kRsqrt = real<kRsqrt, UnaryOp::Rsqrt>("rsqrt", rsqrtVjp, Saves::Output);
constinit OpDef kReciprocal =
    real<kReciprocal, UnaryOp::Reciprocal>("reciprocal", reciprocalVjp, Saves::Output);
constinit OpDef kSin = real<kSin, UnaryOp::Sin>("sin", sinVjp, Saves::Input);
constinit OpDef kCos = real<kCos, UnaryOp::Cos>("cos", cosVjp, Saves::Input);
constinit OpDef kTanh = real<kTanh, UnaryOp::Tanh>("tanh", tanhVjp, Saves::Output);
constinit OpDef kSigmoid = real<kSigmoid, UnaryOp::Sigmoid>("sigmoid", sigmoidVjp, Saves::Output);
constinit OpDef kTanhBackward =
    backward<kTanhBackward>("tanh_backward", tanhBackwardVjp, cpu::binary<BinaryOp::TanhBackward>);
constinit OpDef kSigmoidBackward = backward<kSigmoidBackward>(
    "sigmoid_backward", sigmoidBackwardVjp, cpu::binary<BinaryOp::SigmoidBackward>);

Tensor neg(const Tensor& x, Site site) { return call1(kNeg, {&x}, {}, site); }
Tensor abs(const Tensor& x, Site site) { return call1(kAbs, {&x}, {}, site); }
Tensor sign(const Tensor& x, Site site) { return call1(kSign, {&x}, {}, site); }
Tensor floor(const Tensor& x, Site site) { return call1(kFloor, {&x}, {}, site); }
Tensor square(const Tensor& x, Site site) { return call1(kSquare, {&x}, {}, site); }
Tensor exp(const Tensor& x, Site site) { return call1(kExp, {&x}, {}, site); }
Tensor log(const Tensor& x, Site site) { return call1(kLog, {&x}, {}, site); }
Tensor sqrt(const Tensor& x, Site site) { return call1(kSqrt, {&x}, {}, site); }
Tensor rsqrt(const Tensor& x, Site site) { return call1(kRsqrt, {&x}, {}, site); }
Tensor reciprocal(const Tensor& x, Site site) { return call1(kReciprocal, {&x}, {}, site); }
Tensor sin(const Tensor& x, Site site) { return call1(kSin, {&x}, {}, site); }
Tensor cos(const Tensor& x, Site site) { return call1(kCos, {&x}, {}, site); }
Tensor tanh(const Tensor& x, Site site) { return call1(kTanh, {&x}, {}, site); }
Tensor sigmoid(const Tensor& x, Site site) { return call1(kSigmoid, {&x}, {}, site); }
Tensor operator-(const Operand& a) { return neg(a.tensor, a.site); }

}  // namespace tapescope::engine
