// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/pointwise_kernels.h"
#include "engine/ops/checks.h"
#include "engine/ops/complex.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/pointwise_rows.h"
#include "engine/ops/shape.h"
#include "engine/tensor/tensor_impl.h"

namespace tapescope::engine {
using cpu::BinaryOp;

Dims broadcastOf(std::string_view op, const Dims& a, const Dims& b) {
    Dims out;
    if (!broadcastShapes(a, b, out))
        throw ShapeError(message(op, ": shapes ", a, " and ", b, " do not broadcast"));
    return out;
}

namespace {

constexpr ArgDef kInputOther[] = {{"input"}, {"other"}};

/// The operators that calculate refuse bool where PyTorch does.
template <const OpDef& row, BinaryOp op>
void inferArithmetic(const OpArgs& args, OutputMetas& out) {
    inferBroadcast<row>(args, out);
    const DType dtype = args[0].dtype();
    if (!cpu::takes(op, dtype))
        throw DTypeError(message(row.name, ": ", dtype,
                                 " tensors cannot be used; convert them with to(x, ",
                                 isComplex(dtype) ? "DType::F32)" : "DType::I64)"));
}

/// The factor in the gradient of a complex function is the conjugate of its derivative.
Tensor conjugate(const Tensor& x) { return isComplex(x.dtype()) ? conj(x) : x; }

/// What flows to operand i: summed where it was broadcast.
Tensor reduceTo(const VjpArgs& a, int i, const Tensor& grad) {
    return sum_to_size(grad, a.meta(i).sizes);
}

}  // namespace

void addVjp(const VjpArgs& a, std::span<Tensor> out) {
    if (a.need(0)) out[0] = reduceTo(a, 0, a.grad());
    if (a.need(1)) out[1] = reduceTo(a, 1, a.grad());
}
void subVjp(const VjpArgs& a, std::span<Tensor> out) {
    if (a.need(0)) out[0] = reduceTo(a, 0, a.grad());
    if (a.need(1)) out[1] = reduceTo(a, 1, neg(a.grad()));
}
void mulVjp(const VjpArgs& a, std::span<Tensor> out) {
    if (a.need(0)) out[0] = reduceTo(a, 0, mul(a.grad(), conjugate(a.input(1))));
    if (a.need(1)) out[1] = reduceTo(a, 1, mul(a.grad(), conjugate(a.input(0))));
}
void divVjp(const VjpArgs& a, std::span<Tensor> out) {
    const Tensor& divisor = a.input(1);
    if (a.need(0)) out[0] = reduceTo(a, 0, div(a.grad(), conjugate(divisor)));
    if (a.need(1))
        out[1] =
            reduceTo(a, 1, mul(neg(a.grad()), conjugate(div(div(a.input(0), divisor), divisor))));
}

namespace {

/// d/da a^b = b a^(b-1), 0 where b = 0; d/db a^b = a^b log a, 0 where a = 0 and b >= 0.
void powVjp(const VjpArgs& a, std::span<Tensor> out) {
    const Tensor& base = a.input(0);
    const Tensor& exponent = a.input(1);
    const Tensor zero = wrappedNumber(0.0);
    if (a.need(0)) {
        const Tensor slope = mul(exponent, pow(base, sub(exponent, 1.0)));
        out[0] = reduceTo(a, 0, mul(a.grad(), where(eq(exponent, zero), zero, slope)));
    }
    if (a.need(1)) {
        const Tensor flat = logical_and(eq(base, zero), ge(exponent, zero));
        out[1] =
            reduceTo(a, 1, where(flat, zero, mul(a.grad(), mul(pow(base, exponent), log(base)))));
    }
}
/// The operand that won gets the gradient; at ties each gets half.
Tensor winnerGrad(const Tensor& grad, const Tensor& mine, const Tensor& other, const Tensor& lost) {
    return masked_fill(where(eq(mine, other), mul(grad, 0.5), grad), lost, 0.0);
}
void maximumVjp(const VjpArgs& a, std::span<Tensor> out) {
    const Tensor& x = a.input(0);
    const Tensor& y = a.input(1);
    if (a.need(0)) out[0] = reduceTo(a, 0, winnerGrad(a.grad(), x, y, lt(x, y)));
    if (a.need(1)) out[1] = reduceTo(a, 1, winnerGrad(a.grad(), y, x, lt(y, x)));
}
void minimumVjp(const VjpArgs& a, std::span<Tensor> out) {
    const Tensor& x = a.input(0);
    const Tensor& y = a.input(1);
    if (a.need(0)) out[0] = reduceTo(a, 0, winnerGrad(a.grad(), x, y, gt(x, y)));
    if (a.need(1)) out[1] = reduceTo(a, 1, winnerGrad(a.grad(), y, x, gt(y, x)));
}

template <class Number>
Tensor makeWrapped(Number number, DType dtype) {
    Tensor t = Tensor::scalar(0, dtype);
    *t.data<Number>() = number;
    t.impl()->wrappedNumber = true;
    return t;
}

}  // namespace

constinit OpDef kAdd{.name = "add",
                     .family = Family::Pointwise,
                     .args = kInputOther,
                     .types = TypeRule::Promote,
                     .infer = inferArithmetic<kAdd, BinaryOp::Add>,
                     .vjp = addVjp,
                     .native = kEveryType,
                     .kernels = {cpu::binary<BinaryOp::Add>}};
constinit OpDef kSub{.name = "sub",
                     .family = Family::Pointwise,
                     .args = kInputOther,
                     .types = TypeRule::PromoteNumbers,
                     .infer = inferArithmetic<kSub, BinaryOp::Sub>,
                     .vjp = subVjp,
                     .native = kEveryType,
                     .kernels = {cpu::binary<BinaryOp::Sub>}};
constinit OpDef kMul{.name = "mul",
                     .family = Family::Pointwise,
                     .args = kInputOther,
                     .types = TypeRule::Promote,
                     .infer = inferArithmetic<kMul, BinaryOp::Mul>,
                     .vjp = mulVjp,
                     .saveInputs = 0b11,
                     .native = kEveryType,
                     .wideNumber = true,
                     .kernels = {cpu::binary<BinaryOp::Mul>}};
constinit OpDef kDiv{.name = "div",
                     .family = Family::Pointwise,
                     .args = kInputOther,
                     .types = TypeRule::PromoteFloat,
                     .infer = inferBroadcast<kDiv>,
                     .vjp = divVjp,
                     .saveInputs = 0b11,
                     .native = kEveryType,
                     .wideNumber = true,
                     .kernels = {cpu::binary<BinaryOp::Div>}};
constinit OpDef kPow{.name = "pow",
                     .family = Family::Pointwise,
                     .args = kInputOther,
                     .types = TypeRule::Promote,
                     .infer = inferArithmetic<kPow, BinaryOp::Pow>,
                     .vjp = powVjp,
                     .saveInputs = 0b11,
                     .native = kEveryType,
                     .kernels = {cpu::binary<BinaryOp::Pow>}};
constinit OpDef kMaximum{.name = "maximum",
                         .family = Family::Pointwise,
                         .args = kInputOther,
                         .types = TypeRule::Promote,
                         .infer = inferBroadcast<kMaximum>,
                         .vjp = maximumVjp,
                         .saveInputs = 0b11,
                         .native = kEveryRealType,
                         .kernels = {cpu::binary<BinaryOp::Maximum>}};
constinit OpDef kMinimum{.name = "minimum",
                         .family = Family::Pointwise,
                         .args = kInputOther,
                         .types = TypeRule::Promote,
                         .infer = inferBroadcast<kMinimum>,
                         .vjp = minimumVjp,
                         .saveInputs = 0b11,
                         .native = kEveryRealType,
                         .kernels = {cpu::binary<BinaryOp::Minimum>}};

Tensor wrappedNumber(double number) { return makeWrapped<double>(number, DType::F64); }
Tensor wrappedNumber(std::int64_t number) { return makeWrapped<std::int64_t>(number, DType::I64); }
Tensor wrappedNumber(std::complex<double> number) {
    return makeWrapped<Complex64>(Complex64(number), DType::C64);
}
Operand::Operand(double number, Site s) : tensor(wrappedNumber(number)), site(s) {}

Tensor add(const Tensor& a, const Tensor& b, Site site) { return call1(kAdd, {&a, &b}, {}, site); }
Tensor sub(const Tensor& a, const Tensor& b, Site site) { return call1(kSub, {&a, &b}, {}, site); }
Tensor mul(const Tensor& a, const Tensor& b, Site site) {
    // The number second, as Python's 2 * x calls it.
    const bool turned =
        a.defined() && b.defined() && a.impl()->wrappedNumber && !b.impl()->wrappedNumber;
    return turned ? call1(kMul, {&b, &a}, {}, site) : call1(kMul, {&a, &b}, {}, site);
}
Tensor div(const Tensor& a, const Tensor& b, Site site) { return call1(kDiv, {&a, &b}, {}, site); }
Tensor pow(const Tensor& a, const Tensor& b, Site site) { return call1(kPow, {&a, &b}, {}, site); }
Tensor maximum(const Tensor& a, const Tensor& b, Site site) {
    return call1(kMaximum, {&a, &b}, {}, site);
}
Tensor minimum(const Tensor& a, const Tensor& b, Site site) {
    return call1(kMinimum, {&a, &b}, {}, site);
}

Tensor add(const Tensor& a, double b, Site site) { return add(a, wrappedNumber(b), site); }
Tensor sub(const Tensor& a, double b, Site site) { return sub(a, wrappedNumber(b), site); }
Tensor mul(const Tensor& a, double b, Site site) { return mul(a, wrappedNumber(b), site); }
Tensor div(const Tensor& a, double b, Site site) { return div(a, wrappedNumber(b), site); }
Tensor pow(const Tensor& a, double b, Site site) { return pow(a, wrappedNumber(b), site); }

}  // namespace tapescope::engine
