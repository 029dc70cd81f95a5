// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/scan.h"

#include "engine/cpu/cumulative_kernels.h"
#include "engine/observe/context.h"
#include "engine/ops/checks.h"
#include "engine/ops/composite.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/families.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

namespace tapescope::engine {

extern OpDef kCumprod, kCummax, kCummin, kLogcumsumexp, kLogcumsumexpGrad;
extern OpDef kDiff, kTrapezoid, kCumulativeTrapezoid;

namespace {

constexpr ArgDef kInput[] = {{"input"}};
constexpr ArgDef kGradArgs[] = {{"grad"}, {"input"}, {"output"}};
constexpr ArgDef kDiffArgs[] = {
    {"input"}, {.name = "prepend", .optional = true}, {.name = "append", .optional = true}};
constexpr ArgDef kTrapezoidArgs[] = {{"y"}, {.name = "x", .optional = true}};
constexpr AttrDef kDim[] = {{"dim", AttrKind::Int}};
constexpr AttrDef kGradAttrs[] = {{"dim", AttrKind::Int}, {"forward", AttrKind::Bool, "false"}};
constexpr AttrDef kDiffAttrs[] = {{"n", AttrKind::Int, "1"}, {"dim", AttrKind::Int, "-1"}};
constexpr AttrDef kTrapezoidAttrs[] = {{"dx", AttrKind::Float, "1"}, {"dim", AttrKind::Int, "-1"}};

void inferCumprod(const OpArgs& a, OutputMetas& out) {
    wrapDim("cumprod", a.attrs.integer(0), a[0].dim());
    out.add(a[0].sizes(), isFloating(a[0].dtype()) ? a[0].dtype() : DType::I64);
}
template <const OpDef& row>
void inferExtremes(const OpArgs& a, OutputMetas& out) {
    wrapDim(row.name, a.attrs.integer(0), a[0].dim());
    out.add(a[0].sizes(), a[0].dtype());
    out.add(a[0].sizes(), DType::I64);
}
template <const OpDef& row>
void inferSame(const OpArgs& a, OutputMetas& out) {
    wrapDim(row.name, a.attrs.integer(0), a[0].dim());
    out.add(a[0].sizes(), a[0].dtype());
}
void inferLogGrad(const OpArgs& a, OutputMetas& out) {
    for (const int i : {1, 2}) {
        if (a[i].sizes() != a[0].sizes())
            throw ShapeError(message("logcumsumexp_grad: input and output must have grad's sizes ",
                                     a[0].sizes(), ", not ", a[i].sizes()));
        checkSameDType("logcumsumexp_grad", "grad", a[0], i == 1 ? "input" : "output", a[i]);
    }
    inferSame<kLogcumsumexpGrad>(a, out);
}

/// The sum over j >= i.
Tensor sumFromEnd(const Tensor& x, std::int64_t dim) {
    return flip(cumsum(flip(x, {dim}), dim), {dim});
}

/// dx_i = the sum over j >= i of g_j times the product of x_0..x_j without x_i.
void vjpCumprod(const VjpArgs& v, std::span<Tensor> grads) {
    const Tensor& x = v.input(0);
    const std::int64_t dim = v.attrs.integer(0);
    if (x.dim() == 0 || x.numel() == 0) {
        grads[0] = v.grad();
        return;
    }
    bool zeros = false;
    {
        const NoGradGuard guard;
        zeros = any(eq(x, wrappedNumber(0.0))).item() != 0;
    }
    if (!zeros) {
        grads[0] = div(sumFromEnd(mul(v.grad(), v.output(0)), dim), x);
        return;
    }
    // With zeros a product cannot be divided: [..., i, j], in O(n^2).
    const Tensor last = transpose(x, dim, -1);
    const std::int64_t n = last.size(-1);
    Dims square = last.sizes();
    square.push_back(n);
    const Tensor places = arange(0, static_cast<double>(n));
    const Tensor row = unsqueeze(places, 1);
    const Tensor one = wrappedNumber(1.0);
    const Tensor others = where(eq(row, places), one, expand(unsqueeze(last, -2), square));
    const Tensor products = where(le(row, places), cumprod(others, -1), wrappedNumber(0.0));
    const Tensor grad = unsqueeze(transpose(v.grad(), dim, -1), -2);
    grads[0] = transpose(sum(mul(products, grad), {-1}), dim, -1);
}

void vjpExtremes(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = scatter_add(zeros(v.meta(0).sizes, {.dtype = v.meta(0).dtype}), v.attrs.integer(0),
                           v.output(1), v.grad());
}

Tensor logGrad(const Tensor& g, const Tensor& x, const Tensor& y, std::int64_t dim, bool forward) {
    return call1(kLogcumsumexpGrad, {&g, &x, &y}, Attrs(dim, forward), {});
}
void vjpLogcumsumexp(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = logGrad(v.grad(), v.input(0), v.output(0), v.attrs.integer(0), false);
}
/// r_i = sum over j >= i of g_j e_ij with e_ij = exp(x_i - y_j), or with forward r_j = sum over
/// i <= j of g_i e_ij; h is the gradient of r. Both are the other's transpose in g.
void vjpLogGrad(const VjpArgs& v, std::span<Tensor> grads) {
    const std::int64_t dim = v.attrs.integer(0);
    const bool forward = v.attrs.flag(1);
    const Tensor& g = v.input(0);
    const Tensor& h = v.grad();
    const Tensor transposed = logGrad(h, v.input(1), v.input(2), dim, !forward);
    const Tensor own = mul(h, v.output(0));
    const Tensor other = mul(g, transposed);
    if (v.need(0)) grads[0] = transposed;
    if (v.need(1)) grads[1] = forward ? other : own;
    if (v.need(2)) grads[2] = neg(forward ? own : other);
}

Tensor diffOf(const OpArgs& a, Site site) {
    if (a[0].dim() == 0) throw ShapeError("diff: the input must have at least 1 dimension");
    const std::int64_t n = a.attrs.integer(0);
    const int dim = wrapDim("diff", a.attrs.integer(1), a[0].dim());
    if (n < 0) throw Error(message("diff: n ", n, " must not be negative"));
    if (n == 0) return clone(a[0], site);
    Tensor x = a[0];
    if (a.has(1) || a.has(2)) {
        std::vector<Tensor> parts{x};
        if (a.has(1)) parts.insert(parts.begin(), a[1]);
        if (a.has(2)) parts.push_back(a[2]);
        x = cat(parts, dim, site);
    }
    for (std::int64_t i = 0; i < n && x.size(dim) > 0; ++i) {
        const std::int64_t length = x.size(dim) - 1;
        const Tensor later = narrow(x, dim, 1, length, site);
        const Tensor earlier = narrow(x, dim, 0, length, site);
        x = x.dtype() == DType::Bool ? ne(later, earlier, site) : sub(later, earlier, site);
    }
    return x;
}

/// The trapezoids' areas along dim.
Tensor areas(std::string_view op, const OpArgs& a, int dim, Site site) {
    const Tensor& y = a[0];
    const std::int64_t length = y.size(dim) - 1;
    const Tensor ends = add(narrow(y, dim, 1, length, site), narrow(y, dim, 0, length, site), site);
    if (!a.has(1)) return mul(ends, a.attrs.real(0) / 2, site);
    const Tensor& x = a[1];
    if (x.dim() == 1) {
        if (x.size(0) != y.size(dim))
            throw ShapeError(message(op, ": x ", x.sizes(), " must have the size of dimension ",
                                     dim, " of y ", y.sizes()));
        Dims sizes = Dims::filled(y.dim(), 1);
        sizes[dim] = length;
        const Tensor widths = reshape(diff(x, 1, 0, {}, {}, site), sizes, site);
        return mul(mul(ends, widths, site), 0.5, site);
    }
    const Tensor widths = diff(x, 1, dim - y.dim(), {}, {}, site);
    return mul(mul(ends, widths, site), 0.5, site);
}
int trapezoidDim(std::string_view op, const OpArgs& a) {
    if (a[0].dim() == 0 || (a.has(1) && a[1].dim() == 0))
        throw ShapeError(message(op, ": y and x must have at least 1 dimension"));
    return wrapDim(op, a.attrs.integer(1), a[0].dim());
}
Tensor trapezoidOf(const OpArgs& a, Site site) {
    const int dim = trapezoidDim("trapezoid", a);
    if (a[0].size(dim) == 0) return sum(a[0], {dim}, false, site);
    return sum(areas("trapezoid", a, dim, site), {dim}, false, site);
}
Tensor cumulativeOf(const OpArgs& a, Site site) {
    const int dim = trapezoidDim("cumulative_trapezoid", a);
    if (a[0].size(dim) == 0) return a[0];
    return cumsum(areas("cumulative_trapezoid", a, dim, site), dim, site);
}

template <const OpDef& row>
constexpr OpDef running(std::string_view name, KernelFn kernel) {
    return {.name = name,
            .family = Family::Reduction,
            .args = kInput,
            .attrs = kDim,
            .infer = inferExtremes<row>,
            .vjp = vjpExtremes,
            .saveOutputs = 0b10,
            .kernels = {kernel}};
}

}  // namespace

constinit OpDef kCumprod{.name = "cumprod",
                         .family = Family::Reduction,
                         .args = kInput,
                         .attrs = kDim,
                         .infer = inferCumprod,
                         .vjp = vjpCumprod,
                         .saveInputs = 1,
                         .saveOutputs = 1,
                         .kernels = {cpu::cumprod}};
constinit OpDef kCummax = running<kCummax>("cummax", cpu::cummax);
constinit OpDef kCummin = running<kCummin>("cummin", cpu::cummin);
constinit OpDef kLogcumsumexp{.name = "logcumsumexp",
                              .family = Family::Reduction,
                              .args = kInput,
                              .attrs = kDim,
                              .types = TypeRule::Floating,
                              .infer = inferSame<kLogcumsumexp>,
                              .vjp = vjpLogcumsumexp,
                              .saveInputs = 1,
                              .saveOutputs = 1,
                              .kernels = {cpu::logcumsumexp}};
constinit OpDef kLogcumsumexpGrad{.name = "logcumsumexp_grad",
                                  .family = Family::Reduction,
                                  .args = kGradArgs,
                                  .attrs = kGradAttrs,
                                  .types = TypeRule::Floating,
                                  .infer = inferLogGrad,
                                  .vjp = vjpLogGrad,
                                  .saveInputs = 0b111,
                                  .saveOutputs = 1,
                                  .kernels = {cpu::logcumsumexpGrad}};
constinit OpDef kDiff =
    compositeRow("diff", Family::Reduction, kDiffArgs, kDiffAttrs, composeOne<diffOf>);
constinit OpDef kTrapezoid = compositeRow("trapezoid", Family::Reduction, kTrapezoidArgs,
                                          kTrapezoidAttrs, composeOne<trapezoidOf>);
constinit OpDef kCumulativeTrapezoid =
    compositeRow("cumulative_trapezoid", Family::Reduction, kTrapezoidArgs, kTrapezoidAttrs,
                 composeOne<cumulativeOf>);

std::span<OpDef* const> scanOps() {
    static constexpr OpDef* kRows[] = {
        &kCumprod,          &kCummax, &kCummin,    &kLogcumsumexp,
        &kLogcumsumexpGrad, &kDiff,   &kTrapezoid, &kCumulativeTrapezoid};
    return kRows;
}

Tensor cumprod(const Tensor& x, std::int64_t dim, Site site) {
    return call1(kCumprod, {&x}, Attrs(dim), site);
}
ValuesAndIndices cummax(const Tensor& x, std::int64_t dim, Site site) {
    Outputs outs = call(kCummax, {&x}, Attrs(dim), site);
    return {outs[0], outs[1]};
}
ValuesAndIndices cummin(const Tensor& x, std::int64_t dim, Site site) {
    Outputs outs = call(kCummin, {&x}, Attrs(dim), site);
    return {outs[0], outs[1]};
}
Tensor logcumsumexp(const Tensor& x, std::int64_t dim, Site site) {
    return call1(kLogcumsumexp, {&x}, Attrs(dim), site);
}
Tensor diff(const Tensor& x, std::int64_t n, std::int64_t dim, const Tensor& prepend,
            const Tensor& append, Site site) {
    return call1(kDiff, {&x, &prepend, &append}, Attrs(n, dim), site);
}
Tensor trapezoid(const Tensor& y, double dx, std::int64_t dim, Site site) {
    return call1(kTrapezoid, {&y}, Attrs(dx, dim), site);
}
Tensor trapezoid(const Tensor& y, const Tensor& x, std::int64_t dim, Site site) {
    return call1(kTrapezoid, {&y, &x}, Attrs(1.0, dim), site);
}
Tensor cumulative_trapezoid(const Tensor& y, double dx, std::int64_t dim, Site site) {
    return call1(kCumulativeTrapezoid, {&y}, Attrs(dx, dim), site);
}
Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, std::int64_t dim, Site site) {
    return call1(kCumulativeTrapezoid, {&y, &x}, Attrs(1.0, dim), site);
}

}  // namespace tapescope::engine
