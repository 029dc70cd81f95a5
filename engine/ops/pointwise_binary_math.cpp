// SPDX-License-Identifier: Apache-2.0
// Real functions of two numbers.
#include "engine/cpu/real_kernels.h"
#include "engine/ops/pointwise_arithmetic.h"
#include "engine/ops/pointwise_math.h"
#include "engine/ops/pointwise_more_rows.h"
#include "engine/ops/row_makers.h"
#include "engine/tensor/tensor_impl.h"

#include <cmath>
#include <numbers>

namespace tapescope::engine {
using cpu::RealBinary;

namespace {

using Grads = std::span<Tensor>;

/// d/dy = x / r^2, d/dx = -y / r^2.
void atan2Vjp(const VjpArgs& a, Grads out) {
    const Tensor& y = a.input(0);
    const Tensor& x = a.input(1);
    const Tensor scaled = div(a.grad(), add(square(y), square(x)));
    if (a.need(0)) out[0] = reduceTo(a, 0, mul(scaled, x));
    if (a.need(1)) out[1] = reduceTo(a, 1, mul(neg(scaled), y));
}
void hypotVjp(const VjpArgs& a, Grads out) {
    for (int i = 0; i < 2; ++i)
        if (a.need(i))
            out[static_cast<std::size_t>(i)] =
                reduceTo(a, i, mul(a.grad(), div(a.input(i), a.output(0))));
}
/// The sign that was put on a; 0 where a is 0.
void copysignVjp(const VjpArgs& a, Grads out) {
    const Tensor& x = a.input(0);
    if (a.need(0)) {
        const Tensor flips = mul(sign(x), sign(a.output(0)));
        out[0] = reduceTo(a, 0, mul(a.grad(), flips));
    }
    if (a.need(1)) out[1] = zeros(a.meta(1).sizes, {.dtype = a.meta(1).dtype});
}
/// Each operand's share of the sum: base^(operand - result).
template <Tensor (*power)(const Tensor&, Site)>
void logAddExpVjp(const VjpArgs& a, Grads out) {
    for (int i = 0; i < 2; ++i) {
        if (!a.need(i)) continue;
        const Tensor& mine = a.input(i);
        const Tensor& other = a.input(1 - i);
        // Equal infinities have no difference; each has half.
        const Tensor gap = where(eq(mine, other), wrappedNumber(0.0), sub(other, mine));
        const Tensor share = reciprocal(add(power(gap, Site()), 1.0));
        out[static_cast<std::size_t>(i)] = reduceTo(a, i, mul(a.grad(), share));
    }
}
void xlogyVjp(const VjpArgs& a, Grads out) {
    const Tensor& x = a.input(0);
    const Tensor& y = a.input(1);
    const Tensor zero = wrappedNumber(0.0);
    if (a.need(0)) {
        const Tensor flat = logical_and(eq(x, zero), le(y, zero));
        out[0] = reduceTo(a, 0, masked_fill(xlogy(a.grad(), y), flat, 0.0));
    }
    if (a.need(1)) out[1] = reduceTo(a, 1, div(mul(a.grad(), x), y));
}

template <OpName name>
constexpr OpDef realOnly(VjpFn vjp, std::uint32_t saves, KernelFn kernel) {
    return binaryRow(name.view(), TypeRule::Promote, inferBinaryOf<name, Takes::Reals>, vjp, saves,
                     kernel);
}
template <OpName name>
constexpr OpDef asReal(VjpFn vjp, std::uint32_t saves, KernelFn kernel) {
    return binaryRow(name.view(), TypeRule::PromoteFloat, inferBinary<name>, vjp, saves, kernel);
}
constexpr OpDef keepingOutput(OpDef row) {
    row.saveOutputs = 1;
    return row;
}

/// The neighbour of a 16-bit float towards b.
template <class T>
T nextOf(T a, T b) {
    const float from = a;
    const float towards = b;
    if (std::isnan(from)) return a;
    if (std::isnan(towards) || from == towards) return b;
    if (from == 0) return T::fromBits(towards < 0 ? 0x8001 : 1);
    // Away from zero where both point the same way.
    const int step = (from < towards) == (from > 0) ? 1 : -1;
    return T::fromBits(static_cast<std::uint16_t>(a.bits() + step));
}
void nextafterKernel(const OpArgs& args, std::span<Tensor> outputs) {
    const auto each = [&]<class T>() {
        cpu::mapElements<T, T, T>(
            kLibraryGrain,
            [](T a, T b) {
                if constexpr (kIsFloat16<T>)
                    return nextOf(a, b);
                else
                    return std::nextafter(a, b);
            },
            outputs[0], args[0], args[1]);
    };
    if (outputs[0].dtype() == DType::F16) return each.operator()<Half>();
    if (outputs[0].dtype() == DType::BF16) return each.operator()<BFloat16>();
    visitFloating(outputs[0].dtype(), each);
}

/// The next number moves with the first operand; the second only says which way.
void nextafterVjp(const VjpArgs& a, std::span<Tensor> out) {
    // Where both are equal nothing moves.
    if (a.need(0))
        out[0] =
            sum_to_size(masked_fill(a.grad(), eq(a.input(0), a.input(1)), 0.0), a.meta(0).sizes);
    if (a.need(1)) out[1] = zeros(a.meta(1).sizes, {.dtype = a.meta(1).dtype});
}

Tensor both(const OpDef& row, const Operand& a, const Operand& b, Site site) {
    return call1(row, {&a.tensor, &b.tensor}, {}, site);
}
/// A float64 tensor, or the number itself.
Tensor asDouble(const Operand& x, Site site) {
    return x.tensor.impl()->wrappedNumber ? Tensor::scalar(x.tensor.item(), DType::F64)
                                          : to(x.tensor, DType::F64, site);
}

}  // namespace

constinit OpDef kAtan2 = asReal<"atan2">(atan2Vjp, 0b11, cpu::realBinary<RealBinary::Atan2>);
constinit OpDef kHypot =
    keepingOutput(realOnly<"hypot">(hypotVjp, 0b11, cpu::realBinary<RealBinary::Hypot>));
constinit OpDef kCopysign = keepingOutput(asReal<"copysign">(
    copysignVjp, 0b01, realMap2([](auto a, auto b) { return std::copysign(a, b); })));
constinit OpDef kLogAddExp =
    realOnly<"logaddexp">(logAddExpVjp<exp>, 0b11, cpu::realBinary<RealBinary::LogAddExp>);
constinit OpDef kLogAddExp2 =
    realOnly<"logaddexp2">(logAddExpVjp<exp2>, 0b11, realMap2([](auto a, auto b) {
                               using T = decltype(a);
                               if (a == b) return a + T(1);
                               const T high = a < b ? b : a;
                               const T gap = -std::fabs(a - b);
                               constexpr T kLog2e = static_cast<T>(std::numbers::log2e);
                               return high + std::log1p(std::exp2(gap)) * kLog2e;
                           }));
constinit OpDef kNextafter =
    takingEveryRealType(realOnly<"nextafter">(nextafterVjp, 0b11, nextafterKernel));
constinit OpDef kXlogy = asReal<"xlogy">(xlogyVjp, 0b11, realMap2([](auto a, auto b) {
                                             using T = decltype(a);
                                             if (std::isnan(b)) return b;
                                             return a == T(0) ? T(0) : a * std::log(b);
                                         }));

std::span<OpDef* const> binaryMathRows() {
    static constexpr OpDef* kRows[] = {&kAtan2,      &kHypot,     &kCopysign, &kLogAddExp,
                                       &kLogAddExp2, &kNextafter, &kXlogy};
    return kRows;
}

Tensor atan2(const Operand& y, const Operand& x, Site site) { return both(kAtan2, y, x, site); }
Tensor hypot(const Operand& a, const Operand& b, Site site) { return both(kHypot, a, b, site); }
Tensor copysign(const Operand& a, const Operand& b, Site site) {
    return both(kCopysign, a, b, site);
}
Tensor logaddexp(const Operand& a, const Operand& b, Site site) {
    return both(kLogAddExp, a, b, site);
}
Tensor logaddexp2(const Operand& a, const Operand& b, Site site) {
    return both(kLogAddExp2, a, b, site);
}
Tensor nextafter(const Operand& a, const Operand& b, Site site) {
    return both(kNextafter, a, b, site);
}
Tensor xlogy(const Operand& a, const Operand& b, Site site) { return both(kXlogy, a, b, site); }
Tensor float_power(const Operand& a, const Operand& b, Site site) {
    return pow(asDouble(a, site), asDouble(b, site), site);
}
Tensor ldexp(const Operand& a, const Operand& b, Site site) {
    return mul(a.tensor, pow(wrappedNumber(2.0), b.tensor, site), site);
}

}  // namespace tapescope::engine
