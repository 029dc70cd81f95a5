// SPDX-License-Identifier: Apache-2.0
// Division with rounding, extremes and bounds.
#include "engine/ops/pointwise_arithmetic.h"

#include "engine/cpu/pointwise_kernels.h"
#include "engine/cpu/real_kernels.h"
#include "engine/ops/pointwise_more_rows.h"
#include "engine/ops/row_makers.h"

#include <atomic>
#include <cmath>
#include <limits>
#include <type_traits>

namespace tapescope::engine {
using cpu::RealBinary;

namespace {

using Grads = std::span<Tensor>;

/// Throws where an integer would be divided by 0; a processor stops there.
void checkDivisor(std::string_view op, const Tensor& divisor) {
    std::atomic<bool> zero{false};
    cpu::mapElements<bool, std::int64_t>(
        cpu::kGrain,
        [&](std::int64_t x) {
            if (x == 0) zero.store(true, std::memory_order_relaxed);
            return x == 0;
        },
        Tensor::empty(divisor.sizes(), DType::Bool, MemoryRole::Temporary), divisor);
    if (zero)
        throw Error(message(op, ": an integer is divided by 0; convert it with to(x, DType::F32) ",
                            "to get infinities"));
}

/// The one quotient that overflows wraps, like all integer arithmetic here.
std::int64_t truncQuotient(std::int64_t a, std::int64_t b) {
    if (b == -1) return static_cast<std::int64_t>(std::uint64_t{0} - static_cast<std::uint64_t>(a));
    return a / b;
}
std::int64_t truncRemainder(std::int64_t a, std::int64_t b) { return b == -1 ? 0 : a % b; }

struct Remainder {
    std::int64_t operator()(std::int64_t a, std::int64_t b) const {
        const std::int64_t r = truncRemainder(a, b);
        return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    }
};
struct Fmod {
    std::int64_t operator()(std::int64_t a, std::int64_t b) const { return truncRemainder(a, b); }
};
struct FloorDivide {
    std::int64_t operator()(std::int64_t a, std::int64_t b) const {
        const std::int64_t q = truncQuotient(a, b);
        return truncRemainder(a, b) != 0 && (a < 0) != (b < 0) ? q - 1 : q;
    }
};
struct DivTrunc {
    std::int64_t operator()(std::int64_t a, std::int64_t b) const { return truncQuotient(a, b); }
};
constexpr auto kTruncRatio = [](auto a, auto b) { return std::trunc(a / b); };

/// reals: the kernel for floating numbers.
template <class Fn, OpName name, KernelFn reals>
void divisionKernel(const OpArgs& args, std::span<Tensor> outputs) {
    if (isFloating(args[0].dtype())) return reals(args, outputs);
    checkDivisor(name.view(), args[1]);
    cpu::mapElements<std::int64_t, std::int64_t, std::int64_t>(kLibraryGrain, Fn{}, outputs[0],
                                                               args[0], args[1]);
}

/// d(a - b q)/da = 1, d/db = -q, with q the quotient rounded as the operator does.
template <std::size_t N>
void remainderGrads(const VjpArgs& a, Grads out, const char (&mode)[N]) {
    if (a.need(0)) out[0] = reduceTo(a, 0, a.grad());
    if (a.need(1)) out[1] = reduceTo(a, 1, mul(neg(a.grad()), div(a.input(0), a.input(1), mode)));
}
void remainderVjp(const VjpArgs& a, Grads out) { remainderGrads(a, out, "floor"); }
void fmodVjp(const VjpArgs& a, Grads out) { remainderGrads(a, out, "trunc"); }
/// Steps are flat.
void flatVjp(const VjpArgs& a, Grads out) {
    for (int i = 0; i < 2; ++i)
        if (a.need(i))
            out[static_cast<std::size_t>(i)] = zeros(a.meta(i).sizes, {.dtype = a.meta(i).dtype});
}

/// The operand that won gets the gradient; at ties each gets half.
void winnerGrads(const VjpArgs& a, Grads out, const Tensor& first) {
    const Tensor zero = wrappedNumber(0.0);
    const Tensor tie = eq(a.input(0), a.input(1));
    const Tensor half = mul(a.grad(), 0.5);
    if (a.need(0)) out[0] = reduceTo(a, 0, where(tie, half, where(first, a.grad(), zero)));
    if (a.need(1)) out[1] = reduceTo(a, 1, where(tie, half, where(first, zero, a.grad())));
}
void fmaxVjp(const VjpArgs& a, Grads out) {
    winnerGrads(a, out, logical_or(ge(a.input(0), a.input(1)), isnan(a.input(1))));
}
void fminVjp(const VjpArgs& a, Grads out) {
    winnerGrads(a, out, logical_or(le(a.input(0), a.input(1)), isnan(a.input(1))));
}
void boundGrads(const VjpArgs& a, Grads out, const Tensor& kept, const Tensor& bounded) {
    const Tensor zero = wrappedNumber(0.0);
    if (a.need(0)) out[0] = reduceTo(a, 0, where(kept, a.grad(), zero));
    if (a.need(1)) out[1] = reduceTo(a, 1, where(bounded, a.grad(), zero));
}
void clampMinVjp(const VjpArgs& a, Grads out) {
    boundGrads(a, out, ge(a.input(0), a.input(1)), lt(a.input(0), a.input(1)));
}
void clampMaxVjp(const VjpArgs& a, Grads out) {
    boundGrads(a, out, le(a.input(0), a.input(1)), gt(a.input(0), a.input(1)));
}

template <class Fn>
void extremeKernel(const OpArgs& args, std::span<Tensor> outputs) {
    visitDType(outputs[0].dtype(), [&]<class T>() {
        cpu::mapElements<T, T, T>(cpu::kGrain / 2, Fn{}, outputs[0], args[0], args[1]);
    });
}
struct Fmax {
    template <class T>
    T operator()(T a, T b) const {
        return a >= b || b != b ? a : b;
    }
};
struct Fmin {
    template <class T>
    T operator()(T a, T b) const {
        return a <= b || b != b ? a : b;
    }
};
struct Heaviside {
    template <class T>
    T operator()(T x, T value) const {
        return x == T(0) ? value : static_cast<T>(x > T(0));
    }
};

void inferHeaviside(const OpArgs& args, OutputMetas& out) {
    checkSameDType("heaviside", "input", args[0], "values", args[1]);
    inferBinary<"heaviside">(args, out);
}

template <OpName name, class Fn, KernelFn reals>
constexpr OpDef division(VjpFn vjp, std::uint32_t saves) {
    return binaryRow(name.view(), TypeRule::Promote, inferBinaryOf<name, Takes::Numbers>, vjp,
                     saves, divisionKernel<Fn, name, reals>);
}
template <OpName name>
constexpr OpDef extreme(VjpFn vjp, KernelFn kernel) {
    return binaryRow(name.view(), TypeRule::Promote, inferBinary<name>, vjp, 0b11, kernel);
}

}  // namespace

constinit OpDef kRemainder =
    division<"remainder", Remainder, cpu::realBinary<RealBinary::Remainder>>(remainderVjp, 0b11);
constinit OpDef kFmod = division<"fmod", Fmod, cpu::realBinary<RealBinary::Fmod>>(fmodVjp, 0b11);
constinit OpDef kFloorDivide =
    division<"floor_divide", FloorDivide, cpu::realBinary<RealBinary::FloorDivide>>(flatVjp, 0);
constinit OpDef kDivTrunc =
    division<"div_trunc", DivTrunc, realBinaryKernel<std::remove_const_t<decltype(kTruncRatio)>>>(
        flatVjp, 0);
constinit OpDef kFmax = extreme<"fmax">(fmaxVjp, extremeKernel<Fmax>);
constinit OpDef kFmin = extreme<"fmin">(fminVjp, extremeKernel<Fmin>);
constinit OpDef kClampMin = extreme<"clamp_min">(clampMinVjp, cpu::binary<cpu::BinaryOp::Maximum>);
constinit OpDef kClampMax = extreme<"clamp_max">(clampMaxVjp, cpu::binary<cpu::BinaryOp::Minimum>);
constinit OpDef kHeaviside =
    binaryRow("heaviside", TypeRule::AsIs, inferHeaviside, nullptr, 0, extremeKernel<Heaviside>);

std::span<OpDef* const> arithmeticRows() {
    static constexpr OpDef* kRows[] = {&kRemainder, &kFmod,     &kFloorDivide, &kDivTrunc, &kFmax,
                                       &kFmin,      &kClampMin, &kClampMax,    &kHeaviside};
    return kRows;
}

namespace {

Tensor both(const OpDef& row, const Operand& a, const Operand& b, Site site) {
    return call1(row, {&a.tensor, &b.tensor}, {}, site);
}

}  // namespace

Tensor remainder(const Operand& a, const Operand& b, Site site) {
    return both(kRemainder, a, b, site);
}
Tensor fmod(const Operand& a, const Operand& b, Site site) { return both(kFmod, a, b, site); }
Tensor floor_divide(const Operand& a, const Operand& b, Site site) {
    return both(kFloorDivide, a, b, site);
}
Tensor true_divide(const Operand& a, const Operand& b, Site site) {
    return div(a.tensor, b.tensor, site);
}
Tensor div(const Operand& a, const Operand& b, std::string_view rounding_mode, Site site) {
    if (rounding_mode.empty()) return div(a.tensor, b.tensor, site);
    if (rounding_mode == "floor") return both(kFloorDivide, a, b, site);
    if (rounding_mode == "trunc") return both(kDivTrunc, a, b, site);
    throw Error(message("div: rounding_mode must be empty, \"floor\" or \"trunc\", not \"",
                        rounding_mode, "\""));
}
Tensor fmax(const Operand& a, const Operand& b, Site site) { return both(kFmax, a, b, site); }
Tensor fmin(const Operand& a, const Operand& b, Site site) { return both(kFmin, a, b, site); }
Tensor heaviside(const Operand& x, const Operand& values, Site site) {
    return both(kHeaviside, x, values, site);
}
Tensor clamp_min(const Operand& x, const Operand& min, Site site) {
    return both(kClampMin, x, min, site);
}
Tensor clamp_max(const Operand& x, const Operand& max, Site site) {
    return both(kClampMax, x, max, site);
}
Tensor clamp(const Tensor& x, const Tensor& min, const Tensor& max, Site site) {
    if (!min.defined() && !max.defined())
        throw Error("clamp: neither min nor max is given; give at least one of them");
    const Tensor raised = min.defined() ? clamp_min(x, min, site) : x;
    return max.defined() ? clamp_max(raised, max, site) : raised;
}

}  // namespace tapescope::engine
