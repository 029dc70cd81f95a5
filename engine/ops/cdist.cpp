// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/distance.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/linalg.h"
#include "engine/ops/linalg_parts.h"
#include "engine/ops/linalg_rows.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

#include <cmath>

namespace tapescope::engine {

using linalg::transposed;

namespace {

void inferCdist(const OpArgs& a, OutputMetas& out) {
    linalg::checkMatrices("cdist", "x1", a[0]);
    linalg::checkMatrices("cdist", "x2", a[1]);
    checkSameDType("cdist", "x1", a[0], "x2", a[1]);
    if (a[0].size(-1) != a[1].size(-1))
        throw ShapeError(message("cdist: x1 ", a[0].sizes(), " and x2 ", a[1].sizes(),
                                 " must have the same last size"));
    if (!(a.attrs.real(0) >= 0))
        throw Error("cdist: p must not be negative, but is " + std::to_string(a.attrs.real(0)));
    Dims sizes = linalg::commonBatch("cdist", a[0], a[1]);
    sizes.push_back(a[0].size(-2));
    sizes.push_back(a[1].size(-2));
    out.add(sizes, a[0].dtype());
}
void cdistKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::cdistInto(a[0], a[1], a.attrs.real(0), out[0]);
}

/// g / d where d is not 0, else 0.
Tensor overDistance(const Tensor& g, const Tensor& d, double power) {
    const Tensor zero = eq(d, wrappedNumber(0.0));
    const Tensor safe = where(zero, wrappedNumber(1.0), d);
    const Tensor quotient = div(g, power == 1 ? safe : pow(safe, power));
    return where(zero, wrappedNumber(0.0), quotient);
}

/// Without a tensor of all differences: sum over j of w_ij (a_i - b_j).
void euclideanGradient(const VjpArgs& v, std::span<Tensor> grads) {
    const Tensor w = overDistance(v.grad(), v.output(0), 1);
    const Tensor& a = v.input(0);
    const Tensor& b = v.input(1);
    if (v.need(0))
        grads[0] = sum_to_size(sub(mul(sum(w, {-1}, true), a), matmul(w, b)), v.meta(0).sizes);
    if (v.need(1)) {
        const Tensor wt = transposed(w);
        grads[1] = sum_to_size(sub(mul(sum(wt, {-1}, true), b), matmul(wt, a)), v.meta(1).sizes);
    }
}

void vjpCdist(const VjpArgs& v, std::span<Tensor> grads) {
    const double p = v.attrs.real(0);
    if (v.meta(0).sizes.back() == 0 || p == 0) {
        for (int i = 0; i < 2; ++i)
            if (v.need(i))
                grads[static_cast<unsigned>(i)] =
                    zeros(v.meta(i).sizes, {.dtype = v.meta(i).dtype});
        return;
    }
    if (p == 2) return euclideanGradient(v, grads);
    // [..., p, r, m]
    const Tensor difference = sub(unsqueeze(v.input(0), -2), unsqueeze(v.input(1), -3));
    const Tensor g = unsqueeze(v.grad(), -1);
    const Tensor d = unsqueeze(v.output(0), -1);
    Tensor along;
    if (p == 1) {
        along = mul(g, sign(difference));
    } else if (std::isinf(p)) {
        const Tensor largest = eq(abs(difference), d);
        along = where(largest, mul(g, sign(difference)), wrappedNumber(0.0));
    } else {
        const Tensor size = abs(difference);
        const Tensor zero = eq(size, wrappedNumber(0.0));
        const Tensor powers = pow(where(zero, wrappedNumber(1.0), size), p - 1);
        along = mul(where(zero, wrappedNumber(0.0), mul(sign(difference), powers)),
                    overDistance(g, d, p - 1));
    }
    if (v.need(0)) grads[0] = sum_to_size(sum(along, {-2}), v.meta(0).sizes);
    if (v.need(1)) grads[1] = sum_to_size(neg(sum(along, {-3})), v.meta(1).sizes);
}

constexpr ArgDef kArgs[] = {{"x1"}, {"x2"}};
constexpr AttrDef kP[] = {{"p", AttrKind::Float, "2"}};

}  // namespace

constinit OpDef kCdist{.name = "cdist",
                       .family = Family::Linalg,
                       .args = kArgs,
                       .attrs = kP,
                       .infer = inferCdist,
                       .vjp = vjpCdist,
                       .saveInputs = 0b11,
                       .saveOutputs = 0b1,
                       .kernels = {cdistKernel}};

Tensor cdist(const Tensor& x1, const Tensor& x2, double p, Site site) {
    return call1(kCdist, {&x1, &x2}, Attrs(p), site);
}

}  // namespace tapescope::engine
