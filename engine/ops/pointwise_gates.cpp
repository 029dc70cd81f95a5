// SPDX-License-Identifier: Apache-2.0
// Activations with learned slopes, gates, and gelu's tanh approximation.
#include "engine/cpu/copy.h"
#include "engine/cpu/real_kernels.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/pointwise_activations.h"
#include "engine/ops/pointwise_more_rows.h"
#include "engine/ops/row_makers.h"
#include "engine/tensor/tensor_impl.h"

#include <array>
#include <cmath>

namespace tapescope::engine {
namespace {

using Grads = std::span<Tensor>;

constexpr ArgDef kInputWeight[] = {{"input"}, {"weight"}};
constexpr AttrDef kDim[] = {{"dim", AttrKind::Int, "-1"}};
constexpr double kBeta = 0.79788456080286535588;  // sqrt(2 / pi)
constexpr double kCubic = 0.044715;

/// The sizes with which weight broadcasts to x: [1, C, 1, ...], or [] for one number.
Dims slopeSizes(const Dims& x, std::int64_t count) {
    if (count == 1) return Dims::filled(x.size(), 1);
    Dims sizes = Dims::filled(x.size(), 1);
    sizes[1] = count;
    return sizes;
}
void inferPrelu(const OpArgs& args, OutputMetas& out) {
    const Tensor& x = args[0];
    const Tensor& weight = args[1];
    checkSameDType("prelu", "input", x, "weight", weight);
    const std::int64_t channels = x.dim() >= 2 ? x.size(1) : 1;
    if (weight.dim() > 1 || (weight.numel() != 1 && weight.numel() != channels))
        throw ShapeError(message("prelu: weight ", weight.sizes(), " must hold one slope, or one ",
                                 "for each of the ", channels, " channels of input ", x.sizes()));
    inferLikeFirst(args, out);
}
void preluKernel(const OpArgs& args, std::span<Tensor> outputs) {
    const Tensor& weight = args[1];
    const Dims sizes = slopeSizes(args[0].sizes(), weight.numel());
    Dims strides = Dims::filled(sizes.size(), 0);
    if (weight.numel() > 1) strides[1] = weight.strides()[0];
    const Tensor slopes = makeView(weight, sizes, strides, weight.storage_offset());
    visitFloating(outputs[0].dtype(), [&]<class T>() {
        cpu::mapElements<T, T, T>(
            cpu::kGrain / 2, [](T x, T w) { return x > T(0) ? x : w * x; }, outputs[0], args[0],
            slopes);
    });
}
void preluVjp(const VjpArgs& a, Grads out) {
    const Tensor& x = a.input(0);
    const Dims sizes = slopeSizes(x.sizes(), numelOf(a.meta(1).sizes));
    const Tensor positive = gt(x, wrappedNumber(0.0));
    if (a.need(0)) {
        const Tensor slopes = reshape(a.input(1), sizes);
        out[0] = where(positive, a.grad(), mul(a.grad(), slopes));
    }
    if (a.need(1)) {
        const Tensor each = masked_fill(mul(a.grad(), x), positive, 0.0);
        out[1] = reshape(sum_to_size(each, sizes), a.meta(1).sizes);
    }
}

void inferGlu(const OpArgs& args, OutputMetas& out) {
    const Tensor& x = args[0];
    if (x.dim() == 0) throw ShapeError("glu: a 0-d tensor has no dimension to halve");
    const int dim = wrapDim("glu", args.attrs.integer(0), x.dim());
    Dims sizes = x.sizes();
    if (sizes[dim] % 2 != 0)
        throw ShapeError(message("glu: dimension ", dim, " of input ", sizes,
                                 " must have an even size to be halved"));
    sizes[dim] /= 2;
    out.add(sizes, x.dtype());
}
void gluKernel(const OpArgs& args, std::span<Tensor> outputs) {
    const Tensor& x = args[0];
    const Dims& half = outputs[0].sizes();
    const int dim = wrapDim("glu", args.attrs.integer(0), x.dim());
    const Tensor first = makeView(x, half, x.strides(), x.storage_offset());
    const Tensor second =
        makeView(x, half, x.strides(), x.storage_offset() + half[dim] * x.strides()[dim]);
    visitFloating(x.dtype(), [&]<class T>() {
        cpu::mapElements<T, T, T>(
            kLibraryGrain, [](T a, T b) { return a / (T(1) + std::exp(-b)); }, outputs[0], first,
            second);
    });
}
void gluVjp(const VjpArgs& a, Grads out) {
    const Tensor& x = a.input(0);
    const std::int64_t dim = a.attrs.integer(0);
    const std::int64_t half = a.grad().sizes()[wrapDim("glu", dim, x.dim())];
    const Tensor value = narrow(x, dim, 0, half);
    const Tensor gate = sigmoid(narrow(x, dim, half, half));
    const Tensor open = mul(a.grad(), gate);
    const std::array parts{open, mul(mul(open, value), sub(wrappedNumber(1.0), gate))};
    out[0] = cat(parts, dim);
}

void geluTanhVjp(const VjpArgs& a, Grads out) { out[0] = gelu_tanh_backward(a.grad(), a.input(0)); }
/// With u = beta (x + c x^3), t = tanh(u), d = 1 - t^2: gelu' = (1 + t + x d u') / 2, and
/// gelu'' = d (u' + x u'' / 2 - x t u'^2).
void geluTanhBackwardVjp(const VjpArgs& a, Grads out) {
    const Tensor& x = a.input(1);
    if (a.need(0)) out[0] = gelu_tanh_backward(a.grad(), x);
    if (a.need(1)) {
        const Tensor x2 = square(x);
        const Tensor t = tanh(mul(mul(x, kBeta), add(mul(x2, kCubic), 1.0)));
        const Tensor slope = mul(add(mul(x2, 3 * kCubic), 1.0), kBeta);
        const Tensor bend = mul(x2, 3 * kCubic * kBeta);  // x u'' / 2
        const Tensor second = sub(add(slope, bend), mul(mul(x, t), square(slope)));
        const Tensor flat = sub(wrappedNumber(1.0), square(t));
        out[1] = mul(mul(a.grad(), a.input(0)), mul(flat, second));
    }
}

}  // namespace

constinit OpDef kPrelu{.name = "prelu",
                       .family = Family::Pointwise,
                       .args = kInputWeight,
                       .types = TypeRule::Floating,
                       .infer = inferPrelu,
                       .vjp = preluVjp,
                       .saveInputs = 0b11,
                       .kernels = {preluKernel}};
constinit OpDef kGlu{.name = "glu",
                     .family = Family::Pointwise,
                     .args = kInputArg,
                     .attrs = kDim,
                     .types = TypeRule::Floating,
                     .infer = inferGlu,
                     .vjp = gluVjp,
                     .saveInputs = 1,
                     .kernels = {gluKernel}};
constinit OpDef kGeluTanh{.name = "gelu_tanh",
                          .family = Family::Pointwise,
                          .args = kInputArg,
                          .types = TypeRule::Floating,
                          .infer = inferLikeFirst,
                          .vjp = geluTanhVjp,
                          .saveInputs = 1,
                          .kernels = {cpu::real<cpu::RealUnary::GeluTanh>}};
constinit OpDef kGeluTanhBackward{.name = "gelu_tanh_backward",
                                  .family = Family::Pointwise,
                                  .args = kGradInputArgs,
                                  .types = TypeRule::Promote,
                                  .infer = inferBinaryOf<"gelu_tanh_backward", Takes::Reals>,
                                  .vjp = geluTanhBackwardVjp,
                                  .saveInputs = 0b11,
                                  .kernels = {cpu::realBinary<cpu::RealBinary::GeluTanhBackward>}};

std::span<OpDef* const> gateRows() {
    static constexpr OpDef* kRows[] = {&kPrelu, &kGlu, &kGeluTanh, &kGeluTanhBackward};
    return kRows;
}

Tensor gelu(const Tensor& x, std::string_view approximate, Site site) {
    if (approximate == "none") return gelu(x, site);
    if (approximate != "tanh")
        throw Error(
            message("gelu: approximate must be \"none\" or \"tanh\", not \"", approximate, "\""));
    return call1(kGeluTanh, {&x}, {}, site);
}
Tensor gelu_tanh_backward(const Tensor& grad, const Tensor& x, Site site) {
    return call1(kGeluTanhBackward, {&grad, &x}, {}, site);
}
Tensor prelu(const Tensor& x, const Tensor& weight, Site site) {
    return call1(kPrelu, {&x, &weight}, {}, site);
}
Tensor glu(const Tensor& x, std::int64_t dim, Site site) {
    return call1(kGlu, {&x}, Attrs{dim}, site);
}

}  // namespace tapescope::engine
