// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/linalg_kernels.h"
#include "engine/ops/checks.h"
#include "engine/ops/composed_vjp.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/linalg_lapack.h"
#include "engine/ops/linalg_parts.h"
#include "engine/ops/linalg_rows.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

#include <limits>

namespace tapescope::engine {

using linalg::transposed;

namespace {

std::string notConverged(int) { return "did not converge: it is badly conditioned"; }

double epsilonOf(DType dtype) {
    return dtype == DType::F64 ? std::numeric_limits<double>::epsilon()
                               : static_cast<double>(std::numeric_limits<float>::epsilon());
}

// --- svd -----------------------------------------------------------------------------------------

void inferSvd(const OpArgs& a, OutputMetas& out) {
    linalg::checkMatrices("linalg_svd", "input", a[0]);
    const std::int64_t m = a[0].size(-2);
    const std::int64_t n = a[0].size(-1);
    const std::int64_t k = std::min(m, n);
    const bool full = a.attrs.flag(0);
    out.add(linalg::leading(a[0], 2, {m, full ? m : k}), a[0].dtype());
    out.add(linalg::leading(a[0], 2, {k}), a[0].dtype());
    out.add(linalg::leading(a[0], 2, {full ? n : k, n}), a[0].dtype());
}
void svdKernel(const OpArgs& a, std::span<Tensor> out) {
    linalg::throwFailures("linalg_svd", cpu::svdInto(a[0], out[0], out[1], out[2]), a[0].dim() - 2,
                          notConverged);
}

Tensor skew(const Tensor& x) { return sub(x, transposed(x)); }

/// gA = U [(skew(U^T gU) / E) S + S (skew(V^T gV) / E) + diag(gS)] V^T, E_ij = s_j^2 - s_i^2, and
/// what U and V span besides. Source: PyTorch's svd_backward.
void vjpSvd(const VjpArgs& v, std::span<Tensor> grads) {
    const std::int64_t k = v.output(1).size(-1);
    const Tensor u = linalg::columns(v.output(0), 0, k);
    const Tensor& s = v.output(1);
    const Tensor vh = linalg::rows(v.output(2), 0, k);
    const std::int64_t m = u.size(-2);
    const std::int64_t n = vh.size(-1);
    // Gradients of the extra columns of full matrices mean nothing: they are not determined.
    const Tensor gu = v.grad(0).defined() ? linalg::columns(v.grad(0), 0, k) : Tensor();
    const Tensor& gs = v.grad(1);
    const Tensor gvh = v.grad(2).defined() ? linalg::rows(v.grad(2), 0, k) : Tensor();
    if (!gu.defined() && !gs.defined() && !gvh.defined()) return;
    Tensor core;
    if (gu.defined() || gvh.defined()) {
        const Tensor s2 = square(s);
        const Tensor gaps =
            add(sub(unsqueeze(s2, -2), unsqueeze(s2, -1)), eye(k, {.dtype = s.dtype()}));
        if (gu.defined()) core = mul(div(skew(matmul(transposed(u), gu)), gaps), unsqueeze(s, -2));
        if (gvh.defined()) {
            const Tensor part = mul(div(skew(matmul(vh, transposed(gvh))), gaps), unsqueeze(s, -1));
            core = core.defined() ? add(core, part) : part;
        }
        if (gs.defined()) core = add(core, linalg::diagonalMatrix(gs));
    } else {
        grads[0] = matmul(mul(u, unsqueeze(gs, -2)), vh);
        return;
    }
    Tensor ga = matmul(u, matmul(core, vh));
    if (gu.defined() && m > k) {
        const Tensor scaled = div(gu, unsqueeze(s, -2));
        const Tensor outside = sub(scaled, matmul(u, matmul(transposed(u), scaled)));
        ga = add(ga, matmul(outside, vh));
    }
    if (gvh.defined() && n > k) {
        const Tensor scaled = div(gvh, unsqueeze(s, -1));
        const Tensor outside = sub(scaled, matmul(matmul(scaled, transposed(vh)), vh));
        ga = add(ga, matmul(u, outside));
    }
    grads[0] = ga;
}

void inferSvdvals(const OpArgs& a, OutputMetas& out) {
    linalg::checkMatrices("linalg_svdvals", "input", a[0]);
    out.add(linalg::leading(a[0], 2, {std::min(a[0].size(-2), a[0].size(-1))}), a[0].dtype());
}
void svdvalsKernel(const OpArgs& a, std::span<Tensor> out) {
    linalg::throwFailures("linalg_svdvals",
                          cpu::svdInto(a[0], undefinedTensor(), out[0], undefinedTensor()),
                          a[0].dim() - 2, notConverged);
}
void vjpSvdvals(const VjpArgs& v, std::span<Tensor> grads) {
    const auto [u, s, vh] = linalg_svd(v.input(0), false);
    grads[0] = matmul(mul(u, unsqueeze(v.grad(), -2)), vh);
}

// --- eigh ----------------------------------------------------------------------------------------

void inferEigh(const OpArgs& a, OutputMetas& out) {
    linalg::checkSquare("linalg_eigh", "input", a[0]);
    out.add(linalg::leading(a[0], 1), a[0].dtype());
    out.add(a[0].sizes(), a[0].dtype());
}
void inferEigvalsh(const OpArgs& a, OutputMetas& out) {
    linalg::checkSquare("linalg_eigvalsh", "input", a[0]);
    out.add(linalg::leading(a[0], 1), a[0].dtype());
}
void eighKernel(const OpArgs& a, std::span<Tensor> out) {
    linalg::throwFailures("linalg_eigh", cpu::eighInto(a[0], a.attrs.flag(0), out[0], out[1]),
                          a[0].dim() - 2, notConverged);
}
void eigvalshKernel(const OpArgs& a, std::span<Tensor> out) {
    linalg::throwFailures("linalg_eigvalsh",
                          cpu::eighInto(a[0], a.attrs.flag(0), out[0], undefinedTensor()),
                          a[0].dim() - 2, notConverged);
}
void vjpEigh(const VjpArgs& v, std::span<Tensor> grads) {
    const Tensor& values = v.output(0);
    const Tensor& vectors = v.output(1);
    const Tensor& gl = v.grad(0);
    const Tensor& gv = v.grad(1);
    if (!gl.defined() && !gv.defined()) return;
    if (!gv.defined()) {
        grads[0] = matmul(mul(vectors, unsqueeze(gl, -2)), transposed(vectors));
        return;
    }
    const Tensor eyes = eye(values.size(-1), {.dtype = values.dtype()});
    const Tensor gaps = add(sub(unsqueeze(values, -2), unsqueeze(values, -1)), eyes);
    const Tensor turned = matmul(transposed(vectors), gv);
    // The diagonal (a change of length) is no freedom of the eigenvectors.
    Tensor core = div(where(eq(eyes, wrappedNumber(1.0)), wrappedNumber(0.0), turned), gaps);
    if (gl.defined()) core = add(core, linalg::diagonalMatrix(gl));
    const Tensor ga = matmul(vectors, matmul(core, transposed(vectors)));
    grads[0] = mul(add(ga, transposed(ga)), 0.5);
}
void vjpEigvalsh(const VjpArgs& v, std::span<Tensor> grads) {
    const auto [values, vectors] = linalg_eigh(v.input(0), v.attrs.flag(0));
    grads[0] = matmul(mul(vectors, unsqueeze(v.grad(), -2)), transposed(vectors));
}

// --- pinv: atol, rtol; lstsq: rcond
// ----------------------------------------------------------------

void inferPinv(const OpArgs& a, OutputMetas& out) {
    linalg::checkMatrices("linalg_pinv", "input", a[0]);
    out.add(linalg::leading(a[0], 2, {a[0].size(-1), a[0].size(-2)}), a[0].dtype());
}
/// A negative rtol stands for the default.
double relative(const Tensor& a, double rtol) {
    return rtol >= 0 ? rtol
                     : static_cast<double>(std::max(a.size(-1), a.size(-2))) * epsilonOf(a.dtype());
}
void pinvKernel(const OpArgs& a, std::span<Tensor> out) {
    linalg::throwFailures(
        "linalg_pinv",
        cpu::pinvInto(a[0], a.attrs.real(0), relative(a[0], a.attrs.real(1)), out[0]),
        a[0].dim() - 2, notConverged);
}
/// gA = -P^T G P^T + (I - A P) G^T P P^T + P^T P G^T (I - P A). Source: Golub and Pereyra 1973.
Tensor pinvGradient(const Tensor& a, const Tensor& p, const Tensor& g) {
    const Tensor pt = transposed(p);
    const Tensor gt = transposed(g);
    const Tensor first = matmul(pt, matmul(g, pt));
    const Tensor left = matmul(gt, matmul(p, pt));
    const Tensor right = matmul(matmul(pt, p), gt);
    const Tensor second = sub(left, matmul(a, matmul(p, left)));
    const Tensor third = sub(right, matmul(matmul(right, p), a));
    return sub(add(second, third), first);
}
void vjpPinv(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = pinvGradient(v.input(0), v.output(0), v.grad());
}

void inferLstsq(const OpArgs& a, OutputMetas& out) {
    constexpr std::string_view kOp = "linalg_lstsq";
    linalg::checkMatrices(kOp, "A", a[0]);
    linalg::checkMatrices(kOp, "B", a[1]);
    checkSameDType(kOp, "A", a[0], "B", a[1]);
    if (a[0].size(-2) != a[1].size(-2))
        throw ShapeError(
            message(kOp, ": A ", a[0].sizes(), " and B ", a[1].sizes(), " differ in rows"));
    const Dims batch = linalg::commonBatch(kOp, a[0], a[1]);
    Dims sizes = batch;
    sizes.push_back(a[0].size(-1));
    sizes.push_back(a[1].size(-1));
    out.add(sizes, a[0].dtype());
    out.add(batch, DType::I64);
    sizes = batch;
    sizes.push_back(std::min(a[0].size(-1), a[0].size(-2)));
    out.add(sizes, a[0].dtype());
}
void lstsqKernel(const OpArgs& a, std::span<Tensor> out) {
    linalg::throwFailures(
        "linalg_lstsq",
        cpu::lstsqInto(a[0], a[1], relative(a[0], a.attrs.real(0)), out[0], out[1], out[2]),
        out[0].dim() - 2, notConverged);
}
void vjpLstsq(const VjpArgs& v, std::span<Tensor> grads) {
    vjpByComposition(v, grads, [](std::span<const Tensor> in) -> std::vector<Tensor> {
        return {matmul(linalg_pinv(in[0]), in[1])};
    });
}

// --- matrix_exp ----------------------------------------------------------------------------------

void inferExp(const OpArgs& a, OutputMetas& out) {
    linalg::checkSquare("linalg_matrix_exp", "input", a[0]);
    out.add(a[0].sizes(), a[0].dtype());
}
void expKernel(const OpArgs& a, std::span<Tensor> out) { cpu::matrixExpInto(a[0], out[0]); }
/// The upper right block of exp([[A^T, G], [0, A^T]]). Source: Mathias 1996.
void vjpExp(const VjpArgs& v, std::span<Tensor> grads) {
    const Tensor at = transposed(v.input(0));
    const std::int64_t n = at.size(-1);
    const Tensor top[] = {at, v.grad()};
    const Tensor bottom[] = {zeros_like(at), at};
    const Tensor blocks[] = {cat(top, -1), cat(bottom, -1)};
    const Tensor whole = linalg_matrix_exp(cat(blocks, -2));
    grads[0] = linalg::columns(linalg::rows(whole, 0, n), n, n);
}

constexpr ArgDef kA[] = {{"A"}};
constexpr ArgDef kAB[] = {{"A"}, {"B"}};
constexpr AttrDef kFull[] = {{"full_matrices", AttrKind::Bool, "true"}};
constexpr AttrDef kUpper[] = {{"upper", AttrKind::Bool, "false"}};
constexpr AttrDef kTolerances[] = {{"atol", AttrKind::Float, "0"}, {"rtol", AttrKind::Float, "-1"}};
constexpr AttrDef kRcond[] = {{"rcond", AttrKind::Float, "-1"}};

}  // namespace

constinit OpDef kLinalgSvd{.name = "linalg_svd",
                           .family = Family::Linalg,
                           .args = kA,
                           .attrs = kFull,
                           .infer = inferSvd,
                           .vjp = vjpSvd,
                           .saveOutputs = 0b111,
                           .kernels = {svdKernel}};
constinit OpDef kLinalgSvdvals{.name = "linalg_svdvals",
                               .family = Family::Linalg,
                               .args = kA,
                               .infer = inferSvdvals,
                               .vjp = vjpSvdvals,
                               .saveInputs = 0b1,
                               .kernels = {svdvalsKernel}};
constinit OpDef kLinalgEigh{.name = "linalg_eigh",
                            .family = Family::Linalg,
                            .args = kA,
                            .attrs = kUpper,
                            .infer = inferEigh,
                            .vjp = vjpEigh,
                            .saveOutputs = 0b11,
                            .kernels = {eighKernel}};
constinit OpDef kLinalgEigvalsh{.name = "linalg_eigvalsh",
                                .family = Family::Linalg,
                                .args = kA,
                                .attrs = kUpper,
                                .infer = inferEigvalsh,
                                .vjp = vjpEigvalsh,
                                .saveInputs = 0b1,
                                .kernels = {eigvalshKernel}};
constinit OpDef kLinalgPinv{.name = "linalg_pinv",
                            .family = Family::Linalg,
                            .args = kA,
                            .attrs = kTolerances,
                            .infer = inferPinv,
                            .vjp = vjpPinv,
                            .saveInputs = 0b1,
                            .saveOutputs = 0b1,
                            .kernels = {pinvKernel}};
// Outputs: solution, rank, singular values.
constinit OpDef kLinalgLstsq{.name = "linalg_lstsq",
                             .family = Family::Linalg,
                             .args = kAB,
                             .attrs = kRcond,
                             .infer = inferLstsq,
                             .vjp = vjpLstsq,
                             .saveInputs = 0b11,
                             .kernels = {lstsqKernel}};
constinit OpDef kLinalgMatrixExp{.name = "linalg_matrix_exp",
                                 .family = Family::Linalg,
                                 .args = kA,
                                 .infer = inferExp,
                                 .vjp = vjpExp,
                                 .saveInputs = 0b1,
                                 .kernels = {expKernel}};

std::tuple<Tensor, Tensor, Tensor> linalg_svd(const Tensor& a, bool full_matrices, Site site) {
    Outputs out = call(kLinalgSvd, {&a}, Attrs(full_matrices), site);
    return {out[0], out[1], out[2]};
}
Tensor linalg_svdvals(const Tensor& a, Site site) {
    return call1(kLinalgSvdvals, {&a}, Attrs(), site);
}
std::pair<Tensor, Tensor> linalg_eigh(const Tensor& a, bool upper, Site site) {
    Outputs out = call(kLinalgEigh, {&a}, Attrs(upper), site);
    return {out[0], out[1]};
}
Tensor linalg_eigvalsh(const Tensor& a, bool upper, Site site) {
    return call1(kLinalgEigvalsh, {&a}, Attrs(upper), site);
}
Tensor linalg_pinv(const Tensor& a, std::optional<double> atol, std::optional<double> rtol,
                   Site site) {
    // PyTorch: a given atol alone switches the relative part off.
    const double relativePart = rtol.value_or(atol && *atol > 0 ? 0 : -1);
    return call1(kLinalgPinv, {&a}, Attrs(atol.value_or(0), relativePart), site);
}
Tensor linalg_matrix_exp(const Tensor& a, Site site) {
    return call1(kLinalgMatrixExp, {&a}, Attrs(), site);
}

LstsqResult linalg_lstsq(const Tensor& a, const Tensor& b, std::optional<double> rcond, Site site) {
    const bool vectors = b.dim() == 1 || b.dim() == a.dim() - 1;
    const Tensor matrix = vectors ? unsqueeze(b, -1) : b;
    Outputs out = call(kLinalgLstsq, {&a, &matrix}, Attrs(rcond.value_or(-1)), site);
    LstsqResult result{out[0], zeros({0}, {.dtype = a.dtype()}), out[1], out[2]};
    bool fullRank = a.size(-2) > a.size(-1);
    for (const std::int64_t rank : out[1].to_vector<std::int64_t>())
        fullRank = fullRank && rank == a.size(-1);
    if (fullRank) result.residuals = sum(square(sub(matmul(a, out[0], site), matrix, site)), {-2});
    if (vectors) result.solution = squeeze(result.solution, -1);
    return result;
}

}  // namespace tapescope::engine
