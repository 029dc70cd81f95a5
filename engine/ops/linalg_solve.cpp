// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/linalg_kernels.h"
#include "engine/observe/context.h"
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

#include <cmath>
#include <utility>

namespace tapescope::engine {

using linalg::transposed;

namespace {

std::string singular(int info) {
    return "is singular: the pivot of row " + std::to_string(info) +
           " is zero; add a small multiple of the identity, or use linalg_pinv or linalg_lstsq";
}

template <const OpDef& row>
void inferSquare(const OpArgs& a, OutputMetas& out) {
    linalg::checkSquare(row.name, "input", a[0]);
    out.add(a[0].sizes(), a[0].dtype());
}

// --- det, slogdet, inv ---------------------------------------------------------------------------

void inferDet(const OpArgs& a, OutputMetas& out) {
    linalg::checkSquare("linalg_det", "input", a[0]);
    out.add(linalg::leading(a[0], 2), a[0].dtype());
}
void inferSlogdet(const OpArgs& a, OutputMetas& out) {
    linalg::checkSquare("linalg_slogdet", "input", a[0]);
    out.add(linalg::leading(a[0], 2), a[0].dtype());
    out.add(linalg::leading(a[0], 2), a[0].dtype());
}
void detKernel(const OpArgs& a, std::span<Tensor> out) { cpu::detInto(a[0], out[0]); }
void slogdetKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::slogdetInto(a[0], out[0], out[1]);
}
void invKernel(const OpArgs& a, std::span<Tensor> out) {
    linalg::throwFailures("linalg_inv", cpu::invInto(a[0], out[0]), a[0].dim() - 2, singular);
}

Tensor asMatrices(const Tensor& numbers) { return unsqueeze(unsqueeze(numbers, -1), -1); }

/// The matrix of cofactors from the SVD, where the inverse does not exist:
/// det(U) det(Vh) U diag(prod of the other singular values) Vh.
Tensor cofactors(const Tensor& a) {
    const auto [u, s, vh] = linalg_svd(a, true);
    const std::int64_t n = s.size(-1);
    Dims square = s.sizes();
    square.push_back(n);
    const Tensor eyes = eq(eye(n, {.dtype = s.dtype()}), wrappedNumber(1.0));
    const Tensor others = where(eyes, wrappedNumber(1.0), expand(unsqueeze(s, -2), square));
    std::vector<Tensor> factors = split(others, 1, -1);
    Tensor product = factors[0];
    for (std::size_t i = 1; i < factors.size(); ++i) product = mul(product, factors[i]);
    const Tensor sign = asMatrices(mul(linalg_det(u), linalg_det(vh)));
    return mul(sign, matmul(mul(u, transposed(product)), vh));
}

void vjpDet(const VjpArgs& v, std::span<Tensor> grads) {
    const Tensor& a = v.input(0);
    if (a.numel() == 0) {
        grads[0] = zeros_like(a);
        return;
    }
    bool anyZero = false;
    {
        const NoGradGuard guard;
        anyZero = any(eq(v.output(0), wrappedNumber(0.0))).item() != 0;
    }
    grads[0] = anyZero ? mul(asMatrices(v.grad()), cofactors(a))
                       : mul(asMatrices(mul(v.grad(), v.output(0))), transposed(linalg_inv(a)));
}
void vjpSlogdet(const VjpArgs& v, std::span<Tensor> grads) {
    if (v.grad(1).defined())
        grads[0] = mul(asMatrices(v.grad(1)), transposed(linalg_inv(v.input(0))));
}
void vjpInv(const VjpArgs& v, std::span<Tensor> grads) {
    const Tensor t = transposed(v.output(0));
    grads[0] = neg(matmul(t, matmul(v.grad(), t)));
}

// --- solve ---------------------------------------------------------------------------------------

/// PyTorch's rule: b holds vectors if it is 1-d, or a's shape without the last size.
bool holdsVectors(const Dims& a, const Dims& b) {
    if (b.size() == 1) return true;
    Dims lead = a;
    lead.resize(lead.size() - 1);
    return b == lead;
}

void inferSolve(const OpArgs& a, OutputMetas& out) {
    constexpr std::string_view kOp = "linalg_solve";
    linalg::checkSquare(kOp, "A", a[0]);
    checkSameDType(kOp, "A", a[0], "B", a[1]);
    const bool left = a.attrs.flag(0);
    const std::int64_t n = a[0].size(-1);
    if (a[1].dim() == 0) throw ShapeError("linalg_solve: B must have at least 1 dimension");
    if (holdsVectors(a[0].sizes(), a[1].sizes())) {
        if (!left)
            throw ShapeError(
                "linalg_solve: with left=false B must hold matrices [..., k, n], not vectors");
        if (a[1].size(-1) != n)
            throw ShapeError(
                message(kOp, ": B ", a[1].sizes(), " must end in ", n, " for A ", a[0].sizes()));
        out.add(a[1].dim() == 1 ? linalg::leading(a[0], 1) : a[1].sizes(), a[0].dtype());
        return;
    }
    if (a[1].size(left ? -2 : -1) != n)
        throw ShapeError(message(kOp, ": A ", a[0].sizes(), " and B ", a[1].sizes(),
                                 " do not fit: B must have ", n, left ? " rows" : " columns"));
    Dims sizes = linalg::commonBatch(kOp, a[0], a[1]);
    sizes.push_back(a[1].size(-2));
    sizes.push_back(a[1].size(-1));
    out.add(sizes, a[0].dtype());
}
void solveKernel(const OpArgs& a, std::span<Tensor> out) {
    const bool vectors = holdsVectors(a[0].sizes(), a[1].sizes());
    linalg::throwFailures("linalg_solve",
                          cpu::solveInto(a[0], a[1], a.attrs.flag(0), vectors, out[0]),
                          out[0].dim() - (vectors ? 1 : 2), singular);
}
void vjpSolve(const VjpArgs& v, std::span<Tensor> grads) {
    const bool left = v.attrs.flag(0);
    const bool vectors = holdsVectors(v.meta(0).sizes, v.meta(1).sizes);
    const Tensor g = vectors ? unsqueeze(v.grad(), -1) : v.grad();
    const Tensor x = vectors ? unsqueeze(v.output(0), -1) : v.output(0);
    const Tensor gb = linalg_solve(transposed(v.input(0)), g, left);
    if (v.need(1)) grads[1] = sum_to_size(vectors ? squeeze(gb, -1) : gb, v.meta(1).sizes);
    if (v.need(0)) {
        const Tensor ga = neg(left ? matmul(gb, transposed(x)) : matmul(transposed(x), gb));
        grads[0] = sum_to_size(ga, v.meta(0).sizes);
    }
}

// --- solve_triangular: upper, left, unitriangular
// -------------------------------------------------

void inferTriangular(const OpArgs& a, OutputMetas& out) {
    constexpr std::string_view kOp = "linalg_solve_triangular";
    linalg::checkSquare(kOp, "input", a[0]);
    linalg::checkMatrices(kOp, "B", a[1]);
    checkSameDType(kOp, "input", a[0], "B", a[1]);
    const bool left = a.attrs.flag(1);
    if (a[1].size(left ? -2 : -1) != a[0].size(-1))
        throw ShapeError(message(kOp, ": input ", a[0].sizes(), " and B ", a[1].sizes(),
                                 " do not fit: B must have ", a[0].size(-1),
                                 left ? " rows" : " columns"));
    Dims sizes = linalg::commonBatch(kOp, a[0], a[1]);
    sizes.push_back(a[1].size(-2));
    sizes.push_back(a[1].size(-1));
    out.add(sizes, a[0].dtype());
}
void triangularKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::solveTriangularInto(a[0], a[1], a.attrs.flag(0), a.attrs.flag(1), a.attrs.flag(2), out[0]);
}
void vjpTriangular(const VjpArgs& v, std::span<Tensor> grads) {
    const bool isUpper = v.attrs.flag(0);
    const bool left = v.attrs.flag(1);
    const bool unit = v.attrs.flag(2);
    const Tensor& x = v.output(0);
    const Tensor gb =
        linalg_solve_triangular(transposed(v.input(0)), v.grad(), !isUpper, left, unit);
    if (v.need(1)) grads[1] = sum_to_size(gb, v.meta(1).sizes);
    if (v.need(0)) {
        const Tensor ga = neg(left ? matmul(gb, transposed(x)) : matmul(transposed(x), gb));
        const std::int64_t k = unit ? 1 : 0;
        grads[0] =
            sum_to_size(isUpper ? linalg::upper(ga, k) : linalg::lower(ga, -k), v.meta(0).sizes);
    }
}

// --- lu_factor, lu_solve -------------------------------------------------------------------------

void inferLuFactor(const OpArgs& a, OutputMetas& out) {
    linalg::checkMatrices("linalg_lu_factor", "input", a[0]);
    out.add(a[0].sizes(), a[0].dtype());
    out.add(linalg::leading(a[0], 2, {std::min(a[0].size(-1), a[0].size(-2))}), DType::I32);
}
void luFactorKernel(const OpArgs& a, std::span<Tensor> out) {
    linalg::throwFailures("linalg_lu_factor", cpu::luFactorInto(a[0], out[0], out[1]),
                          a[0].dim() - 2, singular);
}

/// P [..., m, m] with a = P L U, from LAPACK's row exchanges.
Tensor permutationMatrix(const Tensor& pivots, std::int64_t m, DType dtype) {
    const NoGradGuard guard;
    const std::int64_t k = pivots.size(-1);
    const std::vector<std::int64_t> exchanges = pivots.to_vector<std::int64_t>();
    Dims sizes = linalg::leading(pivots, 1, {m});
    const std::int64_t count = m == 0 ? 0 : numelOf(sizes) / m;
    std::vector<std::int64_t> order(static_cast<std::size_t>(count * m));
    for (std::int64_t b = 0; b < count; ++b) {
        std::int64_t* const rows = order.data() + b * m;
        for (std::int64_t i = 0; i < m; ++i) rows[i] = i;
        for (std::int64_t i = 0; i < k; ++i) {
            const std::int64_t other = exchanges[static_cast<std::size_t>(b * k + i)] - 1;
            if (other < 0 || other >= m)
                throw IndexError(
                    message("linalg_lu_solve: pivot ", other + 1, " is not between 1 and ", m));
            std::swap(rows[i], rows[other]);
        }
    }
    const Tensor index = Tensor::from<std::int64_t>(order, sizes);
    // Row i of the exchanged matrix was row order[i]: one-hot rows are P transposed.
    if (m == 0) return zeros(linalg::leading(pivots, 1, {0, 0}), {.dtype = dtype});
    return to(transposed(one_hot(index, m)), dtype);
}

Tensor unitLower(const Tensor& lu, std::int64_t k) {
    const Tensor part = linalg::columns(lu, 0, k);
    const Tensor diagonal = narrow(eye(std::max(lu.size(-2), k), {.dtype = lu.dtype()}), 1, 0, k);
    return add(linalg::lower(part, -1), narrow(diagonal, 0, 0, lu.size(-2)));
}

void vjpLuFactor(const VjpArgs& v, std::span<Tensor> grads) {
    if (!v.grad().defined()) return;
    const Tensor& lu = v.output(0);
    const std::int64_t m = lu.size(-2);
    const std::int64_t n = lu.size(-1);
    if (m != n)
        throw Error(message("linalg_lu_factor: the gradient is defined for square matrices, not ",
                            lu.sizes()));
    const Tensor l = unitLower(lu, n);
    const Tensor u = linalg::upper(lu);
    const Tensor gl = linalg::lower(v.grad(), -1);
    const Tensor gu = linalg::upper(v.grad());
    // gA = P L^-T (tril(L^T gL, -1) + triu(gU U^T)) U^-T
    const Tensor core =
        add(linalg::lower(matmul(transposed(l), gl), -1), linalg::upper(matmul(gu, transposed(u))));
    const Tensor half = linalg_solve_triangular(transposed(u), core, false, false);
    const Tensor whole = linalg_solve_triangular(transposed(l), half, true, true, true);
    grads[0] = matmul(permutationMatrix(v.output(1), m, lu.dtype()), whole);
}

void inferLuSolve(const OpArgs& a, OutputMetas& out) {
    constexpr std::string_view kOp = "linalg_lu_solve";
    linalg::checkSquare(kOp, "LU", a[0]);
    linalg::checkMatrices(kOp, "B", a[2]);
    checkSameDType(kOp, "LU", a[0], "B", a[2]);
    checkIndexDType(kOp, a[1], "pivots");
    if (a[1].sizes() != linalg::leading(a[0], 1))
        throw ShapeError(message(kOp, ": pivots ", a[1].sizes(), " must be ",
                                 linalg::leading(a[0], 1), " for LU ", a[0].sizes()));
    const bool left = a.attrs.flag(0);
    if (a[2].size(left ? -2 : -1) != a[0].size(-1))
        throw ShapeError(message(kOp, ": LU ", a[0].sizes(), " and B ", a[2].sizes(),
                                 " do not fit: B must have ", a[0].size(-1),
                                 left ? " rows" : " columns"));
    Dims sizes = linalg::commonBatch(kOp, a[0], a[2]);
    sizes.push_back(a[2].size(-2));
    sizes.push_back(a[2].size(-1));
    out.add(sizes, a[0].dtype());
}
void luSolveKernel(const OpArgs& a, std::span<Tensor> out) {
    for (const std::int64_t pivot : a[1].to_vector<std::int64_t>())
        if (pivot < 1 || pivot > a[0].size(-1))
            throw IndexError(
                message("linalg_lu_solve: pivot ", pivot, " is not between 1 and ", a[0].size(-1)));
    cpu::luSolveInto(a[0], a[1], a[2], a.attrs.flag(0), a.attrs.flag(1), out[0]);
}
void vjpLuSolve(const VjpArgs& v, std::span<Tensor> grads) {
    const bool left = v.attrs.flag(0);
    const bool adjoint = v.attrs.flag(1);
    vjpByComposition(v, grads, [&](std::span<const Tensor> in) -> std::vector<Tensor> {
        const Tensor& lu = in[0];
        const Tensor p = permutationMatrix(in[1], lu.size(-1), lu.dtype());
        // Everything from the left, without transposition: L U x = P^T b.
        Tensor b = left ? in[2] : transposed(in[2]);
        Tensor x;
        if (left != adjoint) {
            const Tensor y =
                linalg_solve_triangular(lu, matmul(transposed(p), b), false, true, true);
            x = linalg_solve_triangular(lu, y, true);
        } else {
            const Tensor y = linalg_solve_triangular(transposed(lu), b, false);
            x = matmul(p, linalg_solve_triangular(transposed(lu), y, true, true, true));
        }
        return {left ? x : transposed(x)};
    });
}

constexpr ArgDef kA[] = {{"A"}};
constexpr ArgDef kAB[] = {{"A"}, {"B"}};
constexpr ArgDef kInputB[] = {{"input"}, {"B"}};
constexpr ArgDef kLuArgs[] = {{"LU"}, {"pivots"}, {"B"}};
constexpr AttrDef kLeft[] = {{"left", AttrKind::Bool, "true"}};
constexpr AttrDef kTriangularAttrs[] = {{"upper", AttrKind::Bool},
                                        {"left", AttrKind::Bool, "true"},
                                        {"unitriangular", AttrKind::Bool, "false"}};
constexpr AttrDef kLuSolveAttrs[] = {{"left", AttrKind::Bool, "true"},
                                     {"adjoint", AttrKind::Bool, "false"}};

}  // namespace

constinit OpDef kLinalgDet{.name = "linalg_det",
                           .family = Family::Linalg,
                           .args = kA,
                           .infer = inferDet,
                           .vjp = vjpDet,
                           .saveInputs = 0b1,
                           .saveOutputs = 0b1,
                           .kernels = {detKernel}};
constinit OpDef kLinalgSlogdet{.name = "linalg_slogdet",
                               .family = Family::Linalg,
                               .args = kA,
                               .infer = inferSlogdet,
                               .vjp = vjpSlogdet,
                               .saveInputs = 0b1,
                               .kernels = {slogdetKernel}};
constinit OpDef kLinalgInv{.name = "linalg_inv",
                           .family = Family::Linalg,
                           .args = kA,
                           .infer = inferSquare<kLinalgInv>,
                           .vjp = vjpInv,
                           .saveOutputs = 0b1,
                           .kernels = {invKernel}};
constinit OpDef kLinalgSolve{.name = "linalg_solve",
                             .family = Family::Linalg,
                             .args = kAB,
                             .attrs = kLeft,
                             .infer = inferSolve,
                             .vjp = vjpSolve,
                             .saveInputs = 0b1,
                             .saveOutputs = 0b1,
                             .kernels = {solveKernel}};
constinit OpDef kLinalgSolveTriangular{.name = "linalg_solve_triangular",
                                       .family = Family::Linalg,
                                       .args = kInputB,
                                       .attrs = kTriangularAttrs,
                                       .infer = inferTriangular,
                                       .vjp = vjpTriangular,
                                       .saveInputs = 0b1,
                                       .saveOutputs = 0b1,
                                       .kernels = {triangularKernel}};
constinit OpDef kLinalgLuFactor{.name = "linalg_lu_factor",
                                .family = Family::Linalg,
                                .args = kA,
                                .infer = inferLuFactor,
                                .vjp = vjpLuFactor,
                                .saveOutputs = 0b11,
                                .kernels = {luFactorKernel}};
constinit OpDef kLinalgLuSolve{.name = "linalg_lu_solve",
                               .family = Family::Linalg,
                               .args = kLuArgs,
                               .attrs = kLuSolveAttrs,
                               .infer = inferLuSolve,
                               .vjp = vjpLuSolve,
                               .saveInputs = 0b111,
                               .kernels = {luSolveKernel}};

Tensor linalg_det(const Tensor& a, Site site) { return call1(kLinalgDet, {&a}, Attrs(), site); }
std::pair<Tensor, Tensor> linalg_slogdet(const Tensor& a, Site site) {
    Outputs out = call(kLinalgSlogdet, {&a}, Attrs(), site);
    return {out[0], out[1]};
}
Tensor logdet(const Tensor& a, Site site) {
    const auto [sign, logabsdet] = linalg_slogdet(a, site);
    // log of the sign: 0 for 1, NaN for -1; a zero determinant is -infinity already.
    return where(lt(sign, wrappedNumber(0.0)), wrappedNumber(std::nan("")), logabsdet, site);
}
Tensor linalg_inv(const Tensor& a, Site site) { return call1(kLinalgInv, {&a}, Attrs(), site); }
Tensor linalg_solve(const Tensor& a, const Tensor& b, bool left, Site site) {
    return call1(kLinalgSolve, {&a, &b}, Attrs(left), site);
}
Tensor linalg_solve_triangular(const Tensor& a, const Tensor& b, bool upper, bool left,
                               bool unitriangular, Site site) {
    return call1(kLinalgSolveTriangular, {&a, &b}, Attrs(upper, left, unitriangular), site);
}
std::pair<Tensor, Tensor> linalg_lu_factor(const Tensor& a, Site site) {
    Outputs out = call(kLinalgLuFactor, {&a}, Attrs(), site);
    return {out[0], out[1]};
}
Tensor linalg_lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool left,
                       bool adjoint, Site site) {
    return call1(kLinalgLuSolve, {&lu, &pivots, &b}, Attrs(left, adjoint), site);
}
std::tuple<Tensor, Tensor, Tensor> linalg_lu(const Tensor& a, Site site) {
    const auto [lu, pivots] = linalg_lu_factor(a, site);
    const std::int64_t k = pivots.size(-1);
    return {permutationMatrix(pivots, a.size(-2), a.dtype()), unitLower(lu, k),
            linalg::upper(linalg::rows(lu, 0, k))};
}

}  // namespace tapescope::engine
