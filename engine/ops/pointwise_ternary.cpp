// SPDX-License-Identifier: Apache-2.0
// Three operands, and forms of the selecting operators that take numbers.
#include "engine/ops/pointwise_arithmetic.h"
#include "engine/ops/pointwise_more_rows.h"
#include "engine/ops/row_makers.h"

namespace tapescope::engine {
namespace {

using Grads = std::span<Tensor>;

constexpr ArgDef kThree[] = {{"input"}, {"tensor1"}, {"tensor2"}};
constexpr AttrDef kValue[] = {{"value", AttrKind::Float, "1"}};

template <OpName name, Takes takes>
void inferThree(const OpArgs& args, OutputMetas& out) {
    checkTakes(name.view(), takes, args[0].dtype());
    checkWhole(name.view(), "value", args[0].dtype(), args.attrs.real(0));
    const Dims factors = broadcastOf(name.view(), args[1].sizes(), args[2].sizes());
    out.add(broadcastOf(name.view(), args[0].sizes(), factors), args[0].dtype());
}

void addcmulKernel(const OpArgs& args, std::span<Tensor> outputs) {
    const double value = args.attrs.real(0);
    const auto run = [&]<class T>(auto fn) {
        cpu::mapElements<T, T, T, T>(cpu::kGrain / 2, fn, outputs[0], args[0], args[1], args[2]);
    };
    if (isFloating(outputs[0].dtype())) {
        visitFloating(outputs[0].dtype(), [&]<class T>() {
            const T scale = static_cast<T>(value);
            run.template operator()<T>([=](T x, T a, T b) { return x + scale * a * b; });
        });
        return;
    }
    // Unsigned arithmetic wraps where signed may not.
    const auto scale = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
    run.template operator()<std::int64_t>([=](std::int64_t x, std::int64_t a, std::int64_t b) {
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(x) +
                                         scale * static_cast<std::uint64_t>(a) *
                                             static_cast<std::uint64_t>(b));
    });
}
void addcdivKernel(const OpArgs& args, std::span<Tensor> outputs) {
    visitFloating(outputs[0].dtype(), [&]<class T>() {
        const T scale = static_cast<T>(args.attrs.real(0));
        cpu::mapElements<T, T, T, T>(
            cpu::kGrain / 2, [=](T x, T a, T b) { return x + scale * a / b; }, outputs[0], args[0],
            args[1], args[2]);
    });
}

void addcmulVjp(const VjpArgs& a, Grads out) {
    const Tensor scaled = mul(a.grad(), a.attrs.real(0));
    if (a.need(0)) out[0] = reduceTo(a, 0, a.grad());
    if (a.need(1)) out[1] = reduceTo(a, 1, mul(scaled, a.input(2)));
    if (a.need(2)) out[2] = reduceTo(a, 2, mul(scaled, a.input(1)));
}
void addcdivVjp(const VjpArgs& a, Grads out) {
    const Tensor share = div(mul(a.grad(), a.attrs.real(0)), a.input(2));
    if (a.need(0)) out[0] = reduceTo(a, 0, a.grad());
    if (a.need(1)) out[1] = reduceTo(a, 1, share);
    if (a.need(2)) out[2] = reduceTo(a, 2, mul(neg(share), div(a.input(1), a.input(2))));
}

template <OpName name, Takes takes>
constexpr OpDef threeRow(VjpFn vjp, KernelFn kernel) {
    return {.name = name.view(),
            .family = Family::Pointwise,
            .args = kThree,
            .attrs = kValue,
            .types = TypeRule::Promote,
            .infer = inferThree<name, takes>,
            .vjp = vjp,
            .saveInputs = 0b110,
            .kernels = {kernel}};
}

}  // namespace

constinit OpDef kAddcmul = threeRow<"addcmul", Takes::Numbers>(addcmulVjp, addcmulKernel);
constinit OpDef kAddcdiv = threeRow<"addcdiv", Takes::Reals>(addcdivVjp, addcdivKernel);

std::span<OpDef* const> ternaryRows() {
    static constexpr OpDef* kRows[] = {&kAddcmul, &kAddcdiv};
    return kRows;
}

Tensor addcmul(const Tensor& x, const Tensor& a, const Tensor& b, double value, Site site) {
    return call1(kAddcmul, {&x, &a, &b}, Attrs{value}, site);
}
Tensor addcdiv(const Tensor& x, const Tensor& a, const Tensor& b, double value, Site site) {
    return call1(kAddcdiv, {&x, &a, &b}, Attrs{value}, site);
}
Tensor lerp(const Tensor& start, const Tensor& end, double weight, Site site) {
    return lerp(start, end, Tensor::scalar(weight, start.dtype()), site);
}
Tensor where(const Tensor& condition, const Operand& a, const Operand& b, Site site) {
    return where(condition, a.tensor, b.tensor, site);
}
Tensor masked_fill(const Tensor& x, const Tensor& mask, const Tensor& value, Site site) {
    if (value.dim() != 0)
        throw ShapeError(message("masked_fill: value ", value.sizes(),
                                 " must be a 0-d tensor; use where() for one value an element"));
    return where(mask, to(value, x.dtype(), site), x, site);
}

}  // namespace tapescope::engine
