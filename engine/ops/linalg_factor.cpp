// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/linalg_kernels.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/linalg_lapack.h"
#include "engine/ops/linalg_parts.h"
#include "engine/ops/linalg_rows.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

namespace tapescope::engine {

using linalg::transposed;

namespace {

std::string notPositiveDefinite(int info) {
    return "is not positive definite: its leading minor of order " + std::to_string(info) +
           " is not positive; check that it is symmetric, or add a small multiple of the identity";
}
std::string zeroDiagonal(int info) {
    return "is not invertible: element " + std::to_string(info) +
           " of the factor's diagonal is zero";
}

// --- cholesky ------------------------------------------------------------------------------------

template <const OpDef& row>
void inferSquare(const OpArgs& a, OutputMetas& out) {
    linalg::checkSquare(row.name, "input", a[0]);
    out.add(a[0].sizes(), a[0].dtype());
}
void choleskyKernel(const OpArgs& a, std::span<Tensor> out) {
    linalg::throwFailures("linalg_cholesky", cpu::choleskyInto(a[0], a.attrs.flag(0), out[0]),
                          a[0].dim() - 2, notPositiveDefinite);
}
void vjpCholesky(const VjpArgs& v, std::span<Tensor> grads) {
    const bool isUpper = v.attrs.flag(0);
    const Tensor l = isUpper ? transposed(v.output(0)) : v.output(0);
    const Tensor gl = isUpper ? transposed(v.grad()) : v.grad();
    // gA = L^-T phi L^-1 with phi the symmetric part of tril(L^T gL).
    const Tensor low = linalg::lower(matmul(transposed(l), gl));
    const Tensor phi = mul(add(low, transposed(linalg::lower(low, -1))), 0.5);
    const Tensor half = linalg_solve_triangular(transposed(l), phi, true);
    grads[0] = linalg_solve_triangular(l, half, false, false);
}

// --- cholesky_solve: input, factor; upper
// ----------------------------------------------------------

void inferCholeskySolve(const OpArgs& a, OutputMetas& out) {
    constexpr std::string_view kOp = "cholesky_solve";
    linalg::checkMatrices(kOp, "input", a[0]);
    linalg::checkSquare(kOp, "factor", a[1]);
    checkSameDType(kOp, "input", a[0], "factor", a[1]);
    if (a[0].size(-2) != a[1].size(-1))
        throw ShapeError(message(kOp, ": input ", a[0].sizes(), " must have ", a[1].size(-1),
                                 " rows for factor ", a[1].sizes()));
    Dims sizes = linalg::commonBatch(kOp, a[0], a[1]);
    sizes.push_back(a[0].size(-2));
    sizes.push_back(a[0].size(-1));
    out.add(sizes, a[0].dtype());
}
void choleskySolveKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::choleskySolveInto(a[0], a[1], a.attrs.flag(0), out[0]);
}

/// The gradient of the factor L of A = L L^T (or U of U^T U) where A's is `ga`.
Tensor factorGradient(const Tensor& ga, const Tensor& factor, bool isUpper) {
    const Tensor both = add(ga, transposed(ga));
    const Tensor part = linalg::triangle(factor, isUpper);
    return linalg::triangle(isUpper ? matmul(part, both) : matmul(both, part), isUpper);
}
void vjpCholeskySolve(const VjpArgs& v, std::span<Tensor> grads) {
    const bool isUpper = v.attrs.flag(0);
    const Tensor gb = cholesky_solve(v.grad(), v.input(1), isUpper);
    if (v.need(0)) grads[0] = sum_to_size(gb, v.meta(0).sizes);
    if (v.need(1)) {
        const Tensor ga = neg(matmul(gb, transposed(v.output(0))));
        grads[1] = sum_to_size(factorGradient(ga, v.input(1), isUpper), v.meta(1).sizes);
    }
}

void choleskyInverseKernel(const OpArgs& a, std::span<Tensor> out) {
    linalg::throwFailures("cholesky_inverse",
                          cpu::choleskyInverseInto(a[0], a.attrs.flag(0), out[0]), a[0].dim() - 2,
                          zeroDiagonal);
}
void vjpCholeskyInverse(const VjpArgs& v, std::span<Tensor> grads) {
    const Tensor& x = v.output(0);
    const Tensor ga = neg(matmul(x, matmul(v.grad(), x)));
    grads[0] = factorGradient(ga, v.input(0), v.attrs.flag(0));
}

// --- qr ------------------------------------------------------------------------------------------

QrMode modeOf(const Attrs& attrs) {
    const std::int64_t mode = attrs.integer(0);
    if (mode < 0 || mode > 2)
        throw Error(
            message("linalg_qr: mode ", mode, " must be 0 (reduced), 1 (complete) or 2 (r)"));
    return static_cast<QrMode>(mode);
}
void inferQr(const OpArgs& a, OutputMetas& out) {
    linalg::checkMatrices("linalg_qr", "input", a[0]);
    const std::int64_t m = a[0].size(-2);
    const std::int64_t n = a[0].size(-1);
    const QrMode mode = modeOf(a.attrs);
    const std::int64_t k = mode == QrMode::Complete ? m : std::min(m, n);
    out.add(mode == QrMode::R ? Dims{0} : linalg::leading(a[0], 2, {m, k}), a[0].dtype());
    out.add(linalg::leading(a[0], 2, {k, n}), a[0].dtype());
}
void qrKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::qrInto(a[0], modeOf(a.attrs) == QrMode::R ? undefinedTensor() : out[0], out[1]);
}

/// x R^-T.
Tensor overUpper(const Tensor& x, const Tensor& r) {
    return linalg_solve_triangular(transposed(r), x, false, false);
}
/// m >= n: gA = (gQ + Q copyltu(R gR^T - gQ^T Q)) R^-T, copyltu mirroring the lower triangle.
Tensor tallQrGradient(const Tensor& q, const Tensor& r, const Tensor& gq, const Tensor& gr) {
    Tensor core;
    if (gr.defined()) core = matmul(r, transposed(gr));
    if (gq.defined()) {
        const Tensor part = matmul(transposed(gq), q);
        core = core.defined() ? sub(core, part) : neg(part);
    }
    const Tensor mirrored = add(linalg::lower(core), transposed(linalg::lower(core, -1)));
    Tensor sum = matmul(q, mirrored);
    if (gq.defined()) sum = add(gq, sum);
    return overUpper(sum, r);
}
void vjpQr(const VjpArgs& v, std::span<Tensor> grads) {
    const QrMode mode = modeOf(v.attrs);
    const Dims& sizes = v.meta(0).sizes;
    const std::int64_t m = sizes[sizes.size() - 2];
    const std::int64_t n = sizes.back();
    if (mode == QrMode::R)
        throw Error("linalg_qr: mode r has no gradient, as Q is not computed; use reduced");
    if (mode == QrMode::Complete && m > n)
        throw Error(message("linalg_qr: mode complete has no gradient for ", sizes,
                            " with more rows than columns; use reduced"));
    const Tensor& q = v.output(0);
    const Tensor& r = v.output(1);
    const Tensor& gq = v.grad(0);
    const Tensor& gr = v.grad(1);
    if (!gq.defined() && !gr.defined()) return;
    if (m >= n) {
        grads[0] = tallQrGradient(q, r, gq, gr);
        return;
    }
    // A = [X Y] = Q [U V]: V = Q^T Y, and X = Q U is the square case.
    const Tensor u = linalg::columns(r, 0, m);
    if (!gr.defined()) {
        const Tensor gx = tallQrGradient(q, u, gq, {});
        const Tensor parts[] = {gx, zeros(linalg::leading(gx, 1, {n - m}), {.dtype = gx.dtype()})};
        grads[0] = cat(parts, -1);
        return;
    }
    const Tensor gu = linalg::columns(gr, 0, m);
    const Tensor gv = linalg::columns(gr, m, n - m);
    const Tensor y = matmul(q, linalg::columns(r, m, n - m));
    const Tensor fromV = matmul(y, transposed(gv));
    const Tensor gqAll = gq.defined() ? add(gq, fromV) : fromV;
    const Tensor parts[] = {tallQrGradient(q, u, gqAll, gu), matmul(q, gv)};
    grads[0] = cat(parts, -1);
}

constexpr ArgDef kA[] = {{"A"}};
constexpr ArgDef kInput[] = {{"input"}};
constexpr ArgDef kInputFactor[] = {{"input"}, {"factor"}};
constexpr AttrDef kUpper[] = {{"upper", AttrKind::Bool, "false"}};
constexpr AttrDef kMode[] = {{"mode", AttrKind::Int, "0"}};

}  // namespace

constinit OpDef kLinalgCholesky{.name = "linalg_cholesky",
                                .family = Family::Linalg,
                                .args = kA,
                                .attrs = kUpper,
                                .infer = inferSquare<kLinalgCholesky>,
                                .vjp = vjpCholesky,
                                .saveOutputs = 0b1,
                                .kernels = {choleskyKernel}};
constinit OpDef kCholeskySolve{.name = "cholesky_solve",
                               .family = Family::Linalg,
                               .args = kInputFactor,
                               .attrs = kUpper,
                               .infer = inferCholeskySolve,
                               .vjp = vjpCholeskySolve,
                               .saveInputs = 0b10,
                               .saveOutputs = 0b1,
                               .kernels = {choleskySolveKernel}};
constinit OpDef kCholeskyInverse{.name = "cholesky_inverse",
                                 .family = Family::Linalg,
                                 .args = kInput,
                                 .attrs = kUpper,
                                 .infer = inferSquare<kCholeskyInverse>,
                                 .vjp = vjpCholeskyInverse,
                                 .saveInputs = 0b1,
                                 .saveOutputs = 0b1,
                                 .kernels = {choleskyInverseKernel}};
// mode: 0 reduced, 1 complete, 2 r.
constinit OpDef kLinalgQr{.name = "linalg_qr",
                          .family = Family::Linalg,
                          .args = kA,
                          .attrs = kMode,
                          .infer = inferQr,
                          .vjp = vjpQr,
                          .saveOutputs = 0b11,
                          .kernels = {qrKernel}};

Tensor linalg_cholesky(const Tensor& a, bool upper, Site site) {
    return call1(kLinalgCholesky, {&a}, Attrs(upper), site);
}
Tensor cholesky_solve(const Tensor& b, const Tensor& factor, bool upper, Site site) {
    return call1(kCholeskySolve, {&b, &factor}, Attrs(upper), site);
}
Tensor cholesky_inverse(const Tensor& factor, bool upper, Site site) {
    return call1(kCholeskyInverse, {&factor}, Attrs(upper), site);
}
std::pair<Tensor, Tensor> linalg_qr(const Tensor& a, QrMode mode, Site site) {
    Outputs out = call(kLinalgQr, {&a}, Attrs(static_cast<std::int64_t>(mode)), site);
    return {out[0], out[1]};
}

}  // namespace tapescope::engine
