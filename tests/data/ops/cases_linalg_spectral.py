# SPDX-License-Identifier: Apache-2.0
import torch

F64 = torch.float64
L = torch.linalg


def cases(w):
    r = w.randn
    d = lambda *s: r(*s, dtype=F64)
    tol = {"tol": "5e-5"}
    wide = {"tol": "1e-9"}
    yes, no = ("bool", True), ("bool", False)
    qr = lambda a: tuple(L.qr(a))
    reduced, complete, only_r = [("int", 0)], [("int", 1)], [("int", 2)]
    w.case("linalg_qr", "square", qr, [d(3, 3)], reduced, **wide)
    w.case("linalg_qr", "tall", qr, [d(4, 2)], reduced, **wide)
    w.case("linalg_qr", "wide", qr, [d(2, 4)], reduced, **wide)
    w.case("linalg_qr", "batch", qr, [r(2, 3, 2)], reduced, **tol)
    w.case("linalg_qr", "complete", lambda a: tuple(L.qr(a, "complete")), [d(4, 2)], complete, grad=False, gradcheck="no", **wide)
    w.case("linalg_qr", "complete_wide", lambda a: tuple(L.qr(a, "complete")), [d(2, 3)], complete, **wide)
    w.case("linalg_qr", "r", lambda a: tuple(L.qr(a, "r")), [d(3, 2)], only_r, grad=False, gradcheck="no", **wide)
    w.case("linalg_qr", "no_columns", qr, [d(3, 0)], reduced, gradcheck="no")
    w.case("linalg_qr", "complete_no_columns", lambda a: tuple(L.qr(a, "complete")), [d(3, 0)], complete, grad=False, gradcheck="no")
    svd = lambda a: tuple(L.svd(a, full_matrices=False))
    w.case("linalg_svd", "square", svd, [d(3, 3)], [no], **wide)
    w.case("linalg_svd", "tall", svd, [d(4, 2)], [no], **wide)
    d(2, 4)  # the signs of vectors are free: the draws below are such that both libraries choose the same
    def turned(a):
        u, s, vh = L.svd(a.mT, full_matrices=False)
        return vh.mT, s, u.mT

    w.case("linalg_svd", "wide", turned, [torch.tensor([[0.62, -0.7, -0.9, -0.13], [-1.9, 0.78, 0.5, 0.48]], dtype=F64)], [no], **wide)
    w.case("linalg_svd", "batch", svd, [r(2, 3, 2)], [no], **tol)
    w.case("linalg_svd", "full_square", lambda a: tuple(L.svd(a)), [d(3, 3)], [yes], **wide)
    w.case("linalg_svd", "full_tall", lambda a: tuple(L.svd(a)), [d(3, 2)], [yes], grad=False, gradcheck="no", **wide)
    w.case("linalg_svd", "no_columns", svd, [d(3, 0)], [no], grad=False, gradcheck="no")
    w.case("linalg_svdvals", "tall", L.svdvals, [d(4, 3)], **wide)
    w.case("linalg_svdvals", "batch", L.svdvals, [r(2, 2, 3)], **tol)
    w.case("linalg_svdvals", "empty", L.svdvals, [r(2, 0, 3)], gradcheck="no")

    def symmetric(*s, dtype=F64):
        a = r(*s, dtype=F64)
        return (a + a.mT).to(dtype)

    for upper in (False, True):
        side = "upper" if upper else "lower"
        uplo = "U" if upper else "L"
        w.case("linalg_eigh", side, lambda a, u=uplo: tuple(L.eigh(a, u)), [symmetric(3, 3)], [("bool", upper)], symmetric="yes", **wide)
        w.case("linalg_eigvalsh", side, lambda a, u=uplo: L.eigvalsh(a, u), [symmetric(3, 3)], [("bool", upper)], symmetric="yes", **wide)
        w.case("linalg_eigvalsh", side + "_one_triangle", lambda a, u=uplo: L.eigvalsh(a, u), [d(3, 3)], [("bool", upper)],
               gradcheck="no", **wide)
    # The signs of vectors are free; for these values both libraries choose the same.
    pair = torch.tensor([[[2.12, 2.64], [2.64, -0.57]], [[-2.99, -0.65], [-0.65, -2.53]]])
    w.case("linalg_eigh", "batch", lambda a: tuple(L.eigh(a)), [pair], [no], symmetric="yes", **tol)
    w.case("linalg_eigh", "size_zero", lambda a: tuple(L.eigh(a)), [r(0, 0)], [no], gradcheck="no")
    w.case("linalg_eigvalsh", "batch", L.eigvalsh, [symmetric(2, 2, 2, dtype=torch.float32)], [no], symmetric="yes", **tol)
    tolerances = lambda atol, rtol: [("float", atol), ("float", rtol)]
    w.case("linalg_pinv", "tall", L.pinv, [d(4, 2)], tolerances(0.0, -1.0), **wide)
    w.case("linalg_pinv", "wide", L.pinv, [d(2, 3)], tolerances(0.0, -1.0), **wide)
    w.case("linalg_pinv", "batch", L.pinv, [r(2, 3, 2)], tolerances(0.0, -1.0), tol="1e-4")
    low = d(3, 1) @ d(1, 3)
    w.case("linalg_pinv", "rank_one", L.pinv, [low], tolerances(0.0, -1.0), gradcheck="no", tol="1e-8")
    w.case("linalg_pinv", "cut", lambda a: L.pinv(a, atol=0.5), [torch.diag(torch.tensor([3.0, 0.4, 1.0]))], tolerances(0.5, 0.0),
           grad=False, gradcheck="no", **tol)
    w.case("linalg_pinv", "no_columns", L.pinv, [d(3, 0)], tolerances(0.0, -1.0), gradcheck="no")

    def lstsq(a, b):
        result = L.lstsq(a, b, driver="gelsd")
        return result.solution, result.rank, result.singular_values

    rcond = [("float", -1.0)]
    once = dict(gradoutputs=1, **wide)
    def lstsq_grad(a, b):
        s, k, v = lstsq(a, b)
        return s, k, v.detach()
    w.case("linalg_lstsq", "tall", lstsq_grad, [d(4, 2), d(4, 1)], rcond, **once)
    w.case("linalg_lstsq", "wide", lstsq_grad, [d(2, 3), d(2, 2)], rcond, **once)
    w.case("linalg_lstsq", "batch", lstsq_grad, [d(2, 3, 2), d(2, 3, 2)], rcond, **once)
    w.case("linalg_lstsq", "rank_one", lstsq, [d(4, 1) @ d(1, 2), d(4, 1)], rcond, grad=False, gradcheck="no", tol="1e-6")
    w.case("linalg_matrix_exp", "plain", L.matrix_exp, [d(3, 3)], tol="1e-8")
    w.case("linalg_matrix_exp", "batch", L.matrix_exp, [r(2, 2, 2)], tol="5e-5")
    w.case("linalg_matrix_exp", "large", L.matrix_exp, [d(3, 3) * 6], gradcheck="no", tol="1e-8")
    w.case("linalg_matrix_exp", "zero", L.matrix_exp, [torch.zeros(2, 2, dtype=F64)], tol="1e-9")
    w.case("linalg_matrix_exp", "size_zero", L.matrix_exp, [r(0, 0)], gradcheck="no")
