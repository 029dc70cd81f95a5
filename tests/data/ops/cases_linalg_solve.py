# SPDX-License-Identifier: Apache-2.0
import torch

F64 = torch.float64
L = torch.linalg


def cases(w):
    r = w.randn
    d = lambda *s: r(*s, dtype=F64)
    tol = {"tol": "5e-5"}
    wide = {"tol": "1e-9"}
    # Far from singular, so that differences are exact enough.
    def regular(*s, dtype=F64):
        return (0.6 * r(*s, dtype=F64) + 3 * torch.eye(s[-1], dtype=F64)).to(dtype)

    yes, no = ("bool", True), ("bool", False)
    w.case("linalg_det", "plain", L.det, [r(3, 3)], **tol)
    w.case("linalg_det", "float64", L.det, [d(2, 3, 3)], **wide)
    w.case("linalg_det", "one", L.det, [d(1, 1)])
    w.case("linalg_det", "size_zero", L.det, [r(2, 0, 0)], gradcheck="no")
    # PyTorch's gradient of a determinant of 0 is only near; ours is checked by differences.
    w.case("linalg_det", "singular", L.det, [torch.tensor([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 1.0, 3.0]], dtype=F64)],
           grad=False, second="no", tol="1e-9")
    w.case("linalg_slogdet", "plain", L.slogdet, [r(3, 3)], **tol)
    w.case("linalg_slogdet", "batch", L.slogdet, [-regular(3, 2, 2)], **wide)
    w.case("linalg_slogdet", "singular", L.slogdet, [torch.zeros(2, 2)], grad=False, gradcheck="no")
    w.case("linalg_slogdet", "size_zero", L.slogdet, [r(0, 0)], gradcheck="no")
    w.case("linalg_inv", "plain", L.inv, [regular(3, 3, dtype=torch.float32)], **tol)
    w.case("linalg_inv", "batch", L.inv, [regular(2, 2, 3, 3)], **wide)
    w.case("linalg_inv", "size_zero", L.inv, [r(0, 0)], gradcheck="no")
    w.case("linalg_inv", "empty_batch", L.inv, [r(0, 2, 2)], gradcheck="no")
    solve = lambda a, b: L.solve(a, b)
    right = lambda a, b: L.solve(a, b, left=False)
    w.case("linalg_solve", "plain", solve, [regular(3, 3, dtype=torch.float32), r(3, 2)], [yes], **tol)
    w.case("linalg_solve", "vector", solve, [regular(3, 3), d(3)], [yes], **wide)
    w.case("linalg_solve", "vectors", solve, [regular(2, 3, 3), d(2, 3)], [yes], **wide)
    w.case("linalg_solve", "one_vector_many_matrices", solve, [regular(2, 3, 3), d(3)], [yes], **wide)
    w.case("linalg_solve", "broadcast", solve, [regular(2, 1, 2, 2), d(3, 2, 2)], [yes], **wide)
    w.case("linalg_solve", "right", right, [regular(3, 3), d(2, 3)], [no], **wide)
    w.case("linalg_solve", "right_batch", right, [regular(2, 3, 3), d(2, 2, 3)], [no], **wide)
    w.case("linalg_solve", "no_columns", solve, [regular(3, 3), d(3, 0)], [yes], gradcheck="no")
    for upper in (True, False):
        for left in (True, False):
            for unit in (True, False):
                fn = lambda a, b, u=upper, l=left, n=unit: L.solve_triangular(a, b, upper=u, left=l, unitriangular=n)
                label = "_".join(["upper" if upper else "lower", "left" if left else "right"] + ["unit"] * unit)
                w.case("linalg_solve_triangular", label, fn, [regular(3, 3), d(3, 2) if left else d(2, 3)],
                       [("bool", upper), ("bool", left), ("bool", unit)], **wide)
    up = lambda a, b: L.solve_triangular(a, b, upper=True)
    w.case("linalg_solve_triangular", "float", up, [regular(3, 3, dtype=torch.float32), r(3, 2)], [yes, yes, no], **tol)
    w.case("linalg_solve_triangular", "broadcast", up, [regular(2, 1, 2, 2), d(3, 2, 1)], [yes, yes, no], **wide)
    w.case("linalg_solve_triangular", "zero_diagonal", up, [torch.tensor([[1.0, 2.0], [0.0, 0.0]]), r(2, 1)],
           [yes, yes, no], grad=False, gradcheck="no")

    def factor(a):
        lu, pivots = L.lu_factor(a)
        return lu, pivots

    w.case("linalg_lu_factor", "plain", factor, [d(3, 3)], **wide)
    w.case("linalg_lu_factor", "float", factor, [r(2, 3, 3)], **tol)
    w.case("linalg_lu_factor", "tall", factor, [d(4, 2)], grad=False, gradcheck="no", **wide)
    w.case("linalg_lu_factor", "wide", factor, [d(2, 3)], grad=False, gradcheck="no", **wide)
    for left in (True, False):
        for adjoint in (True, False):
            lu, pivots = L.lu_factor(regular(2, 3, 3))
            fn = lambda a, p, b, l=left, t=adjoint: L.lu_solve(a, p.int(), b, left=l, adjoint=t)
            label = ("left" if left else "right") + ("_adjoint" if adjoint else "")
            w.case("linalg_lu_solve", label, fn, [lu, pivots.long(), d(2, 3, 2) if left else d(2, 2, 3)],
                   [("bool", left), ("bool", adjoint)], **wide)
    lu, pivots = L.lu_factor(regular(3, 3))
    w.case("linalg_lu_solve", "exchanged", lambda a, p, b: L.lu_solve(a, p.int(), b), [lu, torch.tensor([3, 2, 3]), d(2, 3, 1)],
           [yes, no], **wide)

    def positive(*s, dtype=F64):
        a = r(*s, dtype=F64)
        return (a @ a.mT + 2 * torch.eye(s[-1], dtype=F64)).to(dtype)

    for upper in (False, True):
        side = "upper" if upper else "lower"
        u = [("bool", upper)]
        w.case("linalg_cholesky", side, lambda a, v=upper: L.cholesky(a, upper=v), [positive(3, 3)], u, symmetric="yes", **wide)
        w.case("linalg_cholesky", side + "_batch", lambda a, v=upper: L.cholesky(a, upper=v),
               [positive(2, 2, 2, dtype=torch.float32)], u, symmetric="yes", **tol)
        part = (lambda x: x.triu()) if upper else (lambda x: x.tril())
        factor_of = lambda *s: L.cholesky(positive(*s), upper=upper)
        w.case("cholesky_solve", side, lambda b, f, v=upper, p=part: torch.cholesky_solve(b, p(f), upper=v),
               [d(3, 2), factor_of(3, 3)], u, **wide)
        w.case("cholesky_solve", side + "_batch", lambda b, f, v=upper, p=part: torch.cholesky_solve(b, p(f), upper=v),
               [d(3, 2, 2), factor_of(1, 2, 2)], u, **wide)
        w.case("cholesky_inverse", side, lambda f, v=upper, p=part: torch.cholesky_inverse(p(f), upper=v), [factor_of(3, 3)], u,
               **wide)
    w.case("cholesky_inverse", "float", lambda f: torch.cholesky_inverse(f.tril()),
           [L.cholesky(positive(2, 2, 2)).float()], [no], **tol)
    w.case("linalg_cholesky", "size_zero", L.cholesky, [r(0, 0)], [no], gradcheck="no")
