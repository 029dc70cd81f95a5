# SPDX-License-Identifier: Apache-2.0
import math

import torch
import torch.nn.functional as F

F64 = torch.float64
L = torch.linalg


def cases(w):
    r = w.randn
    d = lambda *s: r(*s, dtype=F64)
    ints = lambda *s: w.randint(-5, 5, s)

    def einsum(label, equation, *operands, **options):
        w.case("einsum", label, lambda *x: torch.einsum(equation, *x), list(operands), text=equation.replace(" ", "_"),
               **{"tol": "1e-5", **options})

    einsum("matmul", "ij,jk->ik", r(2, 3), r(3, 4))
    einsum("implicit", "ij,jk", r(2, 3), r(3, 2))
    einsum("implicit_order", "ba", r(2, 3))
    einsum("implicit_case", "bA,A", r(2, 3), r(3))
    einsum("spaces", " i j , j k -> i k ", d(2, 3), d(3, 2))
    einsum("transpose", "ij->ji", d(2, 3))
    einsum("trace", "ii", d(3, 3))
    einsum("diagonal", "ii->i", d(3, 3))
    einsum("diagonal_batch", "bii->bi", d(2, 3, 3))
    einsum("diagonal_apart", "iji->ij", d(2, 3, 2))
    einsum("triple_diagonal", "iii->i", d(2, 2, 2))
    einsum("sum", "ij->", d(2, 3))
    einsum("sum_one", "ij->j", d(2, 3))
    einsum("outer", "i,j->ij", d(2), d(3))
    einsum("dot", "i,i", d(4), d(4))
    einsum("scalar", "i,->i", d(3), d())
    einsum("hadamard", "ij,ij->ij", d(2, 3), d(2, 3))
    einsum("batch", "bij,bjk->bik", d(2, 2, 3), d(2, 3, 2))
    einsum("batch_moved", "bij,kjb->ikb", d(2, 2, 3), d(2, 3, 2))
    einsum("ellipsis", "...ij,...jk->...ik", d(2, 2, 3), d(2, 3, 2))
    einsum("ellipsis_unequal", "...i,i...->...", d(2, 3), d(3, 1))
    einsum("ellipsis_implicit", "...ij,...jk", d(2, 2, 2), d(2, 2))
    einsum("ellipsis_middle", "i...j->j...i", d(2, 3, 2))
    einsum("ellipsis_empty", "i...j->ji...", d(2, 3))
    einsum("broadcast_one", "ij,ij->ij", d(2, 1), d(2, 3))
    einsum("broadcast_one_inner", "ij,jk->ik", d(2, 1), d(3, 2))
    einsum("three", "ij,jk,kl->il", d(2, 3), d(3, 2), d(2, 2))
    einsum("bilinear", "bi,oij,bj->bo", d(2, 2), d(3, 2, 2), d(2, 2))
    einsum("chain", "ab,bc,cd,de,ef,fg->ag", *(d(2, 2) for _ in range(6)), second="no")
    einsum("seven", "ab,bc,cd,de,ef,fg,gh->ah", *(d(2, 2) for _ in range(7)), second="no")
    einsum("summed_before", "ijk,jl->l", d(2, 3, 2), d(3, 2))
    einsum("int", "ij,jk->ik", ints(2, 3), ints(3, 2))
    einsum("inner_zero", "ij,jk->ik", r(2, 0), r(0, 3))
    einsum("attention", "bhqd,bhkd->bhqk", r(1, 2, 2, 3), r(1, 2, 3, 3))

    number = lambda v: [("int", v)]
    w.case("tensordot", "two", lambda a, b: torch.tensordot(a, b, dims=2), [d(2, 3, 2), d(3, 2, 2)], number(2))
    w.case("tensordot", "none", lambda a, b: torch.tensordot(a, b, dims=0), [d(2), d(2, 2)], number(0))
    pairs = [("dims", (0, -1)), ("dims", (1, 0))]
    w.case("tensordot_dims", "pairs", lambda a, b: torch.tensordot(a, b, dims=([0, -1], [1, 0])), [d(2, 2, 3), d(3, 2)], pairs)
    w.case("inner", "matrices", torch.inner, [d(2, 3), d(2, 3)])
    w.case("inner", "vector", torch.inner, [d(2, 3), d(3)])
    w.case("inner", "scalar", torch.inner, [d(2, 3), d()])
    w.case("kron", "matrices", torch.kron, [d(2, 2), d(2, 3)])
    w.case("kron", "ranks", torch.kron, [d(2), d(2, 2)])
    w.case("kron", "int", torch.kron, [ints(2, 2), ints(1, 3)])
    w.case("linalg_cross", "last", L.cross, [d(2, 3), d(2, 3)], number(-1))
    w.case("linalg_cross", "broadcast", lambda a, b: L.cross(a, b, dim=0), [d(3, 1), d(3, 2)], number(0))
    w.case("cross", "first_of_three", torch.cross, [d(3, 3), d(3, 3)])
    w.case("linalg_vecdot", "plain", L.vecdot, [d(2, 3), d(2, 3)], number(-1))
    w.case("linalg_multi_dot", "four", lambda *x: L.multi_dot(x), [d(2, 3), d(3, 1), d(1, 4), d(4, 2)])
    w.case("linalg_multi_dot", "vectors", lambda *x: L.multi_dot(x), [d(3), d(3, 2), d(2)])
    w.case("bilinear", "bias", F.bilinear, [d(2, 3), d(2, 2), d(2, 3, 2), d(2)])
    w.case("bilinear", "batches", lambda a, b, v, c: F.bilinear(a, b, v), [d(2, 1, 3), d(2, 1, 2), d(2, 3, 2), None])
    for n in (0, 1, 2, 3, 5, -2):
        a = d(2, 2) + 2 * torch.eye(2, dtype=F64)
        w.case("matrix_power", f"power_{n}".replace("-", "minus"), lambda x, n=n: torch.matrix_power(x, n), [a], number(n),
               **({"gradcheck": "no", "grad": False} if n == 0 else {}))
    w.case("logdet", "plain", torch.logdet, [torch.tensor([[2.0, 0.5], [0.3, 1.0]], dtype=F64)], tol="1e-9")
    w.case("logdet", "negative", torch.logdet, [torch.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=F64)], grad=False, gradcheck="no")
    w.case("linalg_lu", "tall", lambda a: tuple(L.lu(a)), [d(3, 2)], grad=False, gradcheck="no", tol="1e-9")
    w.case("linalg_lu", "wide", lambda a: tuple(L.lu(a)), [d(2, 3)], grad=False, gradcheck="no", tol="1e-9")
    kind = {"fro": 0, "nuc": 1}
    for name, code in kind.items():
        w.case("matrix_norm_named", name, lambda a, n=name: L.matrix_norm(a, n), [d(3, 2)], number(code), tol="1e-8")
    for p in (1, -1, 2, -2, math.inf, -math.inf):
        w.case("linalg_matrix_norm", f"ord_{p}".replace("-", "minus_"), lambda a, p=p: L.matrix_norm(a, float(p)), [d(2, 3, 2)],
               [("float", float(p)), ("dims", (-2, -1)), ("bool", False)], tol="1e-8")
    w.case("linalg_matrix_norm", "dims", lambda a: L.matrix_norm(a, 1.0, (0, 1), True), [d(2, 3, 2)],
           [("float", 1.0), ("dims", (0, 1)), ("bool", True)])
    w.case("matrix_norm_named", "fro_zero", lambda a: L.matrix_norm(a), [torch.zeros(2, 2, dtype=F64)], number(0), gradcheck="no")
    # torch.linalg.cond writes in place what its own backward needs.
    def cond(a, p):
        return L.cond(a, p) if abs(p) == 2 else L.matrix_norm(a, p) * L.matrix_norm(L.inv(a), p)

    for p in (2, -2, 1, math.inf):
        w.case("linalg_cond", f"p_{p}".replace("-", "minus_"), lambda a, p=p: cond(a, float(p)),
               [d(2, 2) + 2 * torch.eye(2, dtype=F64)], [("float", float(p))], tol="1e-7", second="no")
    w.case("linalg_matrix_rank", "full", L.matrix_rank, [d(2, 3, 2)], grad=False)
    w.case("linalg_matrix_rank", "one", L.matrix_rank, [d(3, 1) @ d(1, 3)], grad=False)
    w.case("linalg_matrix_rank", "zero", L.matrix_rank, [torch.zeros(2, 2)], grad=False)
    w.case("lstsq_residuals", "tall", lambda a, b: L.lstsq(a, b, driver="gelsd").residuals, [d(4, 2), d(4, 2)], tol="1e-8", second="no")
    w.case("pinverse", "plain", torch.pinverse, [d(3, 2)], tol="1e-8")
