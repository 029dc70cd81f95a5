// SPDX-License-Identifier: Apache-2.0
// Rounding, signs, repair of NaN, and tests of single numbers.
#include "engine/cpu/copy.h"
#include "engine/cpu/pointwise_kernels.h"
#include "engine/cpu/real_kernels.h"
#include "engine/ops/complex.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/pointwise_math.h"
#include "engine/ops/pointwise_more_rows.h"
#include "engine/ops/row_makers.h"

#include <cmath>

namespace tapescope::engine {
using cpu::RealUnary;

namespace {

using Grads = std::span<Tensor>;

constexpr AttrDef kDecimals[] = {{"decimals", AttrKind::Int, "0"}};
constexpr AttrDef kReplacements[] = {{"nan", AttrKind::Float, "0"},
                                     {"posinf", AttrKind::Float, "inf"},
                                     {"neginf", AttrKind::Float, "-inf"}};

void copyFirst(const OpArgs& args, std::span<Tensor> outputs) {
    if (!same(outputs[0], args[0])) cpu::copyTensor(outputs[0], args[0]);
}

/// Integers are round already.
template <RealUnary op>
void rounding(const OpArgs& args, std::span<Tensor> outputs) {
    if (!isFloating(args[0].dtype())) return copyFirst(args, outputs);
    cpu::runReal(op, args[0], {}, outputs[0]);
}

void inferRound(const OpArgs& args, OutputMetas& out) {
    checkTakes("round", Takes::Numbers, args[0].dtype());
    if (!isFloating(args[0].dtype()) && args.attrs.has(0) && args.attrs.integer(0) != 0)
        throw DTypeError(message("round: ", args[0].dtype(),
                                 " tensors have no decimals to round to; leave decimals at 0"));
    inferLikeFirst(args, out);
}
void roundKernel(const OpArgs& args, std::span<Tensor> outputs) {
    const std::int64_t decimals = args.attrs.has(0) ? args.attrs.integer(0) : 0;
    if (decimals == 0) return rounding<RealUnary::Round>(args, outputs);
    visitFloating(outputs[0].dtype(), [&]<class T>() {
        const T ten = static_cast<T>(std::pow(10.0, std::fabs(static_cast<double>(decimals))));
        const bool places = decimals > 0;
        cpu::mapElements<T, T>(
            kLibraryGrain,
            [=](T x) {
                return places ? std::nearbyint(x * ten) / ten : std::nearbyint(x / ten) * ten;
            },
            outputs[0], args[0]);
    });
}

template <class T>
T replacement(const Attrs& attrs, int i, T standard) {
    const double value = attrs.has(i) ? attrs.real(i) : static_cast<double>(standard);
    return std::isinf(value) ? standard : static_cast<T>(value);
}
/// In float32, where the largest numbers are still those of the 16-bit type.
void nanToNumReduced(const OpArgs& args, const Tensor& out);

void nanToNumKernel(const OpArgs& args, std::span<Tensor> outputs) {
    if (!isFloating(args[0].dtype())) return copyFirst(args, outputs);
    if (isReducedFloating(args[0].dtype())) return nanToNumReduced(args, outputs[0]);
    visitFloating(outputs[0].dtype(), [&]<class T>() {
        const T nan = replacement<T>(args.attrs, 0, T(0));
        const T high = replacement<T>(args.attrs, 1, std::numeric_limits<T>::max());
        const T low = replacement<T>(args.attrs, 2, std::numeric_limits<T>::lowest());
        constexpr T kInfinity = std::numeric_limits<T>::infinity();
        cpu::mapElements<T, T>(
            cpu::kGrain / 2,
            [=](T x) {
                return std::isnan(x) ? nan : (x == kInfinity ? high : (x == -kInfinity ? low : x));
            },
            outputs[0], args[0]);
    });
}

void nanToNumReduced(const OpArgs& args, const Tensor& out) {
    const FloatInfo limits = finfo(args[0].dtype());
    const auto bound = [&](int i, double standard) {
        return args.attrs.has(i) && !std::isinf(args.attrs.real(i)) ? args.attrs.real(i) : standard;
    };
    const Attrs attrs{args.attrs.has(0) ? args.attrs.real(0) : 0.0, bound(1, limits.max),
                      bound(2, limits.min)};
    const Tensor wide = cpu::converted(args[0], DType::F32);
    const Tensor* input = &wide;
    Tensor result = Tensor::empty(out.sizes(), DType::F32, MemoryRole::Temporary);
    nanToNumKernel({std::span(&input, 1), attrs}, std::span(&result, 1));
    cpu::copyTensor(out, result);
}

/// Fn tests a floating number; constant answers for the others.
template <class Fn, bool others>
void realTest(const OpArgs& args, std::span<Tensor> outputs) {
    if (!isFloating(args[0].dtype())) {
        const Attrs answer{others ? 1.0 : 0.0};
        return cpu::fill({{}, answer}, outputs);
    }
    visitFloating(args[0].dtype(), [&]<class T>() {
        cpu::mapElements<bool, T>(cpu::kGrain / 2, Fn{}, outputs[0], args[0]);
    });
}
template <bool others, class Fn>
constexpr OpDef testRow(std::string_view name, Fn) {
    return {.name = name,
            .family = Family::Comparison,
            .args = kInputArg,
            .infer = inferTestOfFirst,
            .kernels = {realTest<Fn, others>}};
}
void signbitKernel(const OpArgs& args, std::span<Tensor> outputs) {
    visitDType(args[0].dtype(), [&]<class T>() {
        cpu::mapElements<bool, T>(
            cpu::kGrain / 2,
            [](T x) {
                if constexpr (std::is_floating_point_v<T>)
                    return std::signbit(x);
                else
                    return x < T(0);
            },
            outputs[0], args[0]);
    });
}

template <OpName name, Takes takes>
constexpr OpDef roundRow(VjpFn vjp, KernelFn kernel) {
    return {.name = name.view(),
            .family = Family::Pointwise,
            .args = kInputArg,
            .infer = inferUnaryOf<name, takes>,
            .vjp = vjp,
            .kernels = {kernel}};
}
void keepVjp(const VjpArgs& a, Grads out) { out[0] = a.grad(); }

constinit OpDef kIsFinite = testRow<true>("isfinite", [](auto x) { return std::isfinite(x); });
constinit OpDef kIsPosInf =
    testRow<false>("isposinf", [](auto x) { return std::isinf(x) && x > 0; });
constinit OpDef kIsNegInf =
    testRow<false>("isneginf", [](auto x) { return std::isinf(x) && x < 0; });
constinit OpDef kSignbit{.name = "signbit",
                         .family = Family::Comparison,
                         .args = kInputArg,
                         .infer = inferTestOfFirst,
                         .kernels = {signbitKernel}};

/// 0 for real numbers. Complex: the part of the gradient that turns x, without what stretches it.
void sgnVjp(const VjpArgs& a, std::span<Tensor> out) {
    const Tensor& x = a.input(0);
    if (!is_complex(x)) return zeroVjp(a, out);
    const Tensor unit = sgn(x);
    const Tensor size = abs(x);
    const Tensor along = mul(real(mul(a.grad(), conj(unit))), unit);
    const Tensor zero = wrappedNumber(0.0);
    out[0] = where(eq(size, zero), zero, div(sub(a.grad(), along), size));
}

}  // namespace

constinit OpDef kCeil = roundRow<"ceil", Takes::Numbers>(zeroVjp, rounding<RealUnary::Ceil>);
constinit OpDef kTrunc = roundRow<"trunc", Takes::Numbers>(zeroVjp, rounding<RealUnary::Trunc>);
constinit OpDef kFrac = roundRow<"frac", Takes::Reals>(keepVjp, cpu::real<RealUnary::Frac>);
constinit OpDef kRound{.name = "round",
                       .family = Family::Pointwise,
                       .args = kInputArg,
                       .attrs = kDecimals,
                       .infer = inferRound,
                       .vjp = zeroVjp,
                       .kernels = {roundKernel}};
constinit OpDef kSgn{.name = "sgn",
                     .family = Family::Pointwise,
                     .args = kInputArg,
                     .infer = inferLikeFirst,
                     .vjp = sgnVjp,
                     .saveInputs = 1,
                     .native = kComputeTypes | dtypeBit(DType::C64),
                     .kernels = {cpu::unary<cpu::UnaryOp::Sign>}};
constinit OpDef kNanToNum{
    .name = "nan_to_num",
    .family = Family::Pointwise,
    .args = kInputArg,
    .attrs = kReplacements,
    .infer = inferLikeFirst,
    .vjp = [](const VjpArgs& a,
              Grads out) { out[0] = mul(a.grad(), to(isfinite(a.input(0)), a.grad().dtype())); },
    .saveInputs = 1,
    .native = kComputeTypes | dtypeBit(DType::F16) | dtypeBit(DType::BF16),
    .kernels = {nanToNumKernel}};

std::span<OpDef* const> roundRows() {
    static constexpr OpDef* kRows[] = {&kCeil, &kTrunc, &kFrac, &kRound, &kSgn, &kNanToNum};
    return kRows;
}
std::span<OpDef* const> testRows() {
    static constexpr OpDef* kRows[] = {&kIsFinite, &kIsPosInf, &kIsNegInf, &kSignbit};
    return kRows;
}

Tensor ceil(const Tensor& x, Site site) { return call1(kCeil, {&x}, {}, site); }
Tensor trunc(const Tensor& x, Site site) { return call1(kTrunc, {&x}, {}, site); }
Tensor round(const Tensor& x, std::int64_t decimals, Site site) {
    return call1(kRound, {&x}, Attrs{decimals}, site);
}
Tensor frac(const Tensor& x, Site site) { return call1(kFrac, {&x}, {}, site); }
Tensor sgn(const Tensor& x, Site site) { return call1(kSgn, {&x}, {}, site); }
Tensor positive(const Tensor& x, Site) {
    checkTakes("positive", Takes::Numbers, x.dtype());
    return x;
}
Tensor nan_to_num(const Tensor& x, double nan, double posinf, double neginf, Site site) {
    return call1(kNanToNum, {&x}, Attrs{nan, posinf, neginf}, site);
}
Tensor signbit(const Tensor& x, Site site) { return call1(kSignbit, {&x}, {}, site); }
Tensor isfinite(const Tensor& x, Site site) { return call1(kIsFinite, {&x}, {}, site); }
Tensor isposinf(const Tensor& x, Site site) { return call1(kIsPosInf, {&x}, {}, site); }
Tensor isneginf(const Tensor& x, Site site) { return call1(kIsNegInf, {&x}, {}, site); }

}  // namespace tapescope::engine
