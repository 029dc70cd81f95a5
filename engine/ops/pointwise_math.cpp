// SPDX-License-Identifier: Apache-2.0
// Trigonometric, hyperbolic, exponential and logarithmic functions.
#include "engine/ops/pointwise_math.h"

#include "engine/cpu/real_kernels.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/pointwise_more_rows.h"
#include "engine/ops/row_makers.h"

#include <cmath>
#include <numbers>

namespace tapescope::engine {
using cpu::RealUnary;

namespace {

using Grads = std::span<Tensor>;

constexpr double kPi = std::numbers::pi;
constexpr double kLn2 = std::numbers::ln2;
constexpr double kLn10 = std::numbers::ln10;
constexpr AttrDef kEps[] = {{"eps", AttrKind::Float, "-1"}};

/// 1 + sign x^2 of the operand.
Tensor onePlusSquare(const VjpArgs& a, double sign) {
    return add(mul(square(a.input(0)), sign), 1.0);
}

/// (cos(pi x) - sinc(x)) / x, 0 at 0.
void sincVjp(const VjpArgs& a, Grads out) {
    const Tensor& x = a.input(0);
    const Tensor slope = div(sub(cos(mul(x, kPi)), sinc(x)), x);
    out[0] = mul(a.grad(), masked_fill(slope, eq(x, wrappedNumber(0.0)), 0.0));
}

/// 1 / (x (1 - x)) inside the bounds. Outside: 0 where x was clamped, NaN where the value is.
void logitVjp(const VjpArgs& a, Grads out) {
    const Tensor& x = a.input(0);
    const double eps = a.attrs.has(0) ? a.attrs.real(0) : -1;
    const double low = eps < 0 ? 0 : eps;
    const double outside = eps < 0 ? std::numeric_limits<double>::quiet_NaN() : 0.0;
    const Tensor beyond = logical_or(lt(x, wrappedNumber(low)), gt(x, wrappedNumber(1 - low)));
    const Tensor slope = div(a.grad(), mul(x, sub(wrappedNumber(1.0), x)));
    out[0] = masked_fill(slope, beyond, outside);
}
void logitKernel(const OpArgs& args, std::span<Tensor> outputs) {
    const double eps = args.attrs.has(0) ? args.attrs.real(0) : -1;
    visitFloating(outputs[0].dtype(), [&]<class T>() {
        const T low = static_cast<T>(eps);
        const T high = T(1) - low;
        cpu::mapElements<T, T>(
            kLibraryGrain,
            [=](T x) {
                const T z = low < 0 ? x : (x < low ? low : (x > high ? high : x));
                return std::log(z / (T(1) - z));
            },
            outputs[0], args[0]);
    });
}

}  // namespace

constinit OpDef kAcos = realRow(
    "acos",
    [](const VjpArgs& a, Grads out) { out[0] = mul(neg(a.grad()), rsqrt(onePlusSquare(a, -1))); },
    Keeps::Input, cpu::real<RealUnary::Acos>);
constinit OpDef kAsin = realRow(
    "asin",
    [](const VjpArgs& a, Grads out) { out[0] = mul(a.grad(), rsqrt(onePlusSquare(a, -1))); },
    Keeps::Input, cpu::real<RealUnary::Asin>);
constinit OpDef kAtan = realRow(
    "atan", [](const VjpArgs& a, Grads out) { out[0] = div(a.grad(), onePlusSquare(a, 1)); },
    Keeps::Input, cpu::real<RealUnary::Atan>);
constinit OpDef kAcosh = realRow(
    "acosh",
    [](const VjpArgs& a, Grads out) {
        out[0] = mul(a.grad(), rsqrt(sub(square(a.input(0)), 1.0)));
    },
    Keeps::Input, realMap([](auto x) { return std::acosh(x); }));
constinit OpDef kAsinh = realRow(
    "asinh",
    [](const VjpArgs& a, Grads out) { out[0] = mul(a.grad(), rsqrt(onePlusSquare(a, 1))); },
    Keeps::Input, realMap([](auto x) { return std::asinh(x); }));
constinit OpDef kAtanh = realRow(
    "atanh", [](const VjpArgs& a, Grads out) { out[0] = div(a.grad(), onePlusSquare(a, -1)); },
    Keeps::Input, cpu::real<RealUnary::Atanh>);
constinit OpDef kSinh = realRow(
    "sinh", [](const VjpArgs& a, Grads out) { out[0] = mul(a.grad(), cosh(a.input(0))); },
    Keeps::Input, realMap([](auto x) { return std::sinh(x); }));
constinit OpDef kCosh = realRow(
    "cosh", [](const VjpArgs& a, Grads out) { out[0] = mul(a.grad(), sinh(a.input(0))); },
    Keeps::Input, realMap([](auto x) { return std::cosh(x); }));
constinit OpDef kTan = realRow(
    "tan",
    [](const VjpArgs& a, Grads out) { out[0] = mul(a.grad(), add(square(a.output(0)), 1.0)); },
    Keeps::Output, cpu::real<RealUnary::Tan>);
constinit OpDef kExpm1 = realRow(
    "expm1", [](const VjpArgs& a, Grads out) { out[0] = mul(a.grad(), add(a.output(0), 1.0)); },
    Keeps::Output, cpu::real<RealUnary::Expm1>);
constinit OpDef kExp2 = realRow(
    "exp2", [](const VjpArgs& a, Grads out) { out[0] = mul(a.grad(), mul(a.output(0), kLn2)); },
    Keeps::Output, cpu::real<RealUnary::Exp2>);
constinit OpDef kLog1p = realRow(
    "log1p", [](const VjpArgs& a, Grads out) { out[0] = div(a.grad(), add(a.input(0), 1.0)); },
    Keeps::Input, cpu::real<RealUnary::Log1p>);
constinit OpDef kLog2 = realRow(
    "log2", [](const VjpArgs& a, Grads out) { out[0] = div(a.grad(), mul(a.input(0), kLn2)); },
    Keeps::Input, cpu::real<RealUnary::Log2>);
constinit OpDef kLog10 = realRow(
    "log10", [](const VjpArgs& a, Grads out) { out[0] = div(a.grad(), mul(a.input(0), kLn10)); },
    Keeps::Input, realMap([](auto x) { return std::log10(x); }));
constinit OpDef kDeg2rad = realRow(
    "deg2rad", [](const VjpArgs& a, Grads out) { out[0] = mul(a.grad(), kPi / 180); }, Keeps::None,
    realMap([](auto x) { return x * static_cast<decltype(x)>(kPi / 180); }));
constinit OpDef kRad2deg = realRow(
    "rad2deg", [](const VjpArgs& a, Grads out) { out[0] = mul(a.grad(), 180 / kPi); }, Keeps::None,
    realMap([](auto x) { return x * static_cast<decltype(x)>(180 / kPi); }));
constinit OpDef kSinc = realRow("sinc", sincVjp, Keeps::Input, realMap([](auto x) {
                                    using T = decltype(x);
                                    const T angle = static_cast<T>(kPi) * x;
                                    return x == T(0) ? T(1) : std::sin(angle) / angle;
                                }));
constinit OpDef kLogit = realRow("logit", logitVjp, Keeps::Input, logitKernel, kEps);

std::span<OpDef* const> mathRows() {
    static constexpr OpDef* kRows[] = {&kAcos, &kAsin,  &kAtan, &kAcosh, &kAsinh,   &kAtanh,
                                       &kSinh, &kCosh,  &kTan,  &kExpm1, &kExp2,    &kLog1p,
                                       &kLog2, &kLog10, &kSinc, &kLogit, &kDeg2rad, &kRad2deg};
    return kRows;
}

Tensor acos(const Tensor& x, Site site) { return call1(kAcos, {&x}, {}, site); }
Tensor asin(const Tensor& x, Site site) { return call1(kAsin, {&x}, {}, site); }
Tensor atan(const Tensor& x, Site site) { return call1(kAtan, {&x}, {}, site); }
Tensor acosh(const Tensor& x, Site site) { return call1(kAcosh, {&x}, {}, site); }
Tensor asinh(const Tensor& x, Site site) { return call1(kAsinh, {&x}, {}, site); }
Tensor atanh(const Tensor& x, Site site) { return call1(kAtanh, {&x}, {}, site); }
Tensor sinh(const Tensor& x, Site site) { return call1(kSinh, {&x}, {}, site); }
Tensor cosh(const Tensor& x, Site site) { return call1(kCosh, {&x}, {}, site); }
Tensor tan(const Tensor& x, Site site) { return call1(kTan, {&x}, {}, site); }
Tensor expm1(const Tensor& x, Site site) { return call1(kExpm1, {&x}, {}, site); }
Tensor exp2(const Tensor& x, Site site) { return call1(kExp2, {&x}, {}, site); }
Tensor log1p(const Tensor& x, Site site) { return call1(kLog1p, {&x}, {}, site); }
Tensor log2(const Tensor& x, Site site) { return call1(kLog2, {&x}, {}, site); }
Tensor log10(const Tensor& x, Site site) { return call1(kLog10, {&x}, {}, site); }
Tensor deg2rad(const Tensor& x, Site site) { return call1(kDeg2rad, {&x}, {}, site); }
Tensor rad2deg(const Tensor& x, Site site) { return call1(kRad2deg, {&x}, {}, site); }
Tensor sinc(const Tensor& x, Site site) { return call1(kSinc, {&x}, {}, site); }
Tensor logit(const Tensor& x, double eps, Site site) {
    return call1(kLogit, {&x}, Attrs{eps}, site);
}

}  // namespace tapescope::engine
