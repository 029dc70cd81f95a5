// SPDX-License-Identifier: Apache-2.0
// The error function, the gamma function and their relatives.
#include "engine/cpu/real_kernels.h"
#include "engine/cpu/special_math.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/pointwise_math.h"
#include "engine/ops/pointwise_more_rows.h"
#include "engine/ops/row_makers.h"

#include <cmath>
#include <numbers>

namespace tapescope::engine {
using cpu::RealUnary;

namespace {

using Grads = std::span<Tensor>;

constexpr double kTwoOverRootPi = 2 * std::numbers::inv_sqrtpi;
constexpr AttrDef kOrder[] = {{"n", AttrKind::Int}};

/// 2 / sqrt(pi) exp(-x^2), times sign.
Tensor erfGrad(const VjpArgs& a, double sign) {
    return mul(a.grad(), mul(exp(neg(square(a.input(0)))), sign * kTwoOverRootPi));
}

void inferPolygamma(const OpArgs& args, OutputMetas& out) {
    if (args.attrs.integer(0) < 0)
        throw Error(
            message("polygamma: the order n = ", args.attrs.integer(0), " must not be negative"));
    constexpr std::int64_t kMost = std::int64_t{1} << 60;  // the gradient takes the next one
    if (args.attrs.integer(0) > kMost)
        throw Error(message("polygamma: the order n = ", args.attrs.integer(0), " must be at most ",
                            kMost));
    inferLikeFirst(args, out);
}
void polygammaKernel(const OpArgs& args, std::span<Tensor> outputs) {
    const std::int64_t n = args.attrs.integer(0);
    visitFloating(outputs[0].dtype(), [&]<class T>() {
        cpu::mapElements<T, T>(
            kLibraryGrain / 4,
            [=](T x) {
                const auto v = static_cast<double>(x);
                return static_cast<T>(n == 0 ? cpu::digamma(v) : cpu::polygamma(n, v));
            },
            outputs[0], args[0]);
    });
}

/// In double whatever the type: their series would lose float32's digits.
template <double (*fn)(double)>
constexpr KernelFn inDouble() {
    return realMap([](auto x) { return static_cast<decltype(x)>(fn(static_cast<double>(x))); });
}

}  // namespace

constinit OpDef kErf = realRow(
    "erf", [](const VjpArgs& a, Grads out) { out[0] = erfGrad(a, 1); }, Keeps::Input,
    cpu::real<RealUnary::Erf>);
constinit OpDef kErfc = realRow(
    "erfc", [](const VjpArgs& a, Grads out) { out[0] = erfGrad(a, -1); }, Keeps::Input,
    cpu::real<RealUnary::Erfc>);
constinit OpDef kErfinv = realRow(
    "erfinv",
    [](const VjpArgs& a, Grads out) {
        out[0] = mul(a.grad(), mul(exp(square(a.output(0))), 1 / kTwoOverRootPi));
    },
    Keeps::Output, cpu::real<RealUnary::Erfinv>);
constinit OpDef kLgamma = realRow(
    "lgamma", [](const VjpArgs& a, Grads out) { out[0] = mul(a.grad(), digamma(a.input(0))); },
    Keeps::Input, cpu::real<RealUnary::Lgamma>);
constinit OpDef kDigamma = realRow(
    "digamma",
    [](const VjpArgs& a, Grads out) { out[0] = mul(a.grad(), polygamma(1, a.input(0))); },
    Keeps::Input, inDouble<cpu::digamma>());
constinit OpDef kPolygamma{
    .name = "polygamma",
    .family = Family::Pointwise,
    .args = kInputArg,
    .attrs = kOrder,
    .types = TypeRule::PromoteFloat,
    .infer = inferPolygamma,
    .vjp = [](const VjpArgs& a,
              Grads out) { out[0] = mul(a.grad(), polygamma(a.attrs.integer(0) + 1, a.input(0))); },
    .saveInputs = 1,
    .kernels = {polygammaKernel}};

std::span<OpDef* const> specialRows() {
    static constexpr OpDef* kRows[] = {&kErf, &kErfc, &kErfinv, &kLgamma, &kDigamma, &kPolygamma};
    return kRows;
}

Tensor erf(const Tensor& x, Site site) { return call1(kErf, {&x}, {}, site); }
Tensor erfc(const Tensor& x, Site site) { return call1(kErfc, {&x}, {}, site); }
Tensor erfinv(const Tensor& x, Site site) { return call1(kErfinv, {&x}, {}, site); }
Tensor lgamma(const Tensor& x, Site site) { return call1(kLgamma, {&x}, {}, site); }
Tensor digamma(const Tensor& x, Site site) { return call1(kDigamma, {&x}, {}, site); }
Tensor polygamma(std::int64_t n, const Tensor& x, Site site) {
    return call1(kPolygamma, {&x}, Attrs{n}, site);
}

}  // namespace tapescope::engine
