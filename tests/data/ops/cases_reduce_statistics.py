# SPDX-License-Identifier: Apache-2.0
import math

import torch

F64 = torch.float64
NAN = math.nan
INF = math.inf


def cases(w):
    r = w.randn
    o = {"tol": "4e-6"}

    for name, fn in (("any", torch.any), ("all", torch.all)):
        flags = w.randint(0, 2, (3, 4, 2), torch.bool)
        for label, dims, keep in (("first", [0], False), ("last_keepdim", [-1], True), ("two", [0, 2], False)):
            w.case(name, label, lambda x, f=fn, d=dims, k=keep: f(x, tuple(d), k), [flags], [("dims", dims), ("bool", keep)])
        w.case(name, "float_dim", lambda x, f=fn: f(x, 1), [torch.tensor([[0.0, NAN], [0.0, 0.0], [1.0, 2.0]])],
               [("dims", [1]), ("bool", False)])
        w.case(name, "int_dim", lambda x, f=fn: f(x, 0), [torch.tensor([[0, 3], [0, 1]])], [("dims", [0]), ("bool", False)])
        w.case(name, "empty_dim", lambda x, f=fn: f(x, 0), [torch.zeros(0, 2)], [("dims", [0]), ("bool", False)])
        w.case(name, "zero_dim", lambda x, f=fn: f(x, 0), [torch.tensor(True)], [("dims", [0]), ("bool", False)])

    at = lambda p, d, k: [("float", p), ("dims", d), ("bool", k)]
    vector = torch.linalg.vector_norm
    for p in (2.0, 1.0, 0.0, INF, -INF, 3.0, 1.5, 0.5, -1.0):
        label = f"p_{p}".replace(".", "_")
        second = {} if p != 0 else {"gradcheck": "no", "grad": False}
        for name in ("norm", "vector_norm"):
            few = name == "vector_norm" and p not in (2.0, INF, 3.0)
            if few:
                continue
            w.case(name, label, lambda x, p=p: vector(x, p, (0,), False), [r(4, 3)], at(p, [0], False), **second, **o)
            w.case(name, label + "_all", lambda x, p=p: vector(x, p), [r(2, 3)], at(p, [], False), **second, **o)
            w.case(name, label + "_keepdim", lambda x, p=p: vector(x, p, (0, 2), True), [r(2, 3, 2)], at(p, [0, 2], True),
                   **second, **o)
            w.case(name, label + "_float64", lambda x, p=p: vector(x, p, (-1,)), [r(2, 3, dtype=F64)], at(p, [-1], False),
                   **second)
    for p in (2.0, 1.0, 3.0, 1.5, INF):
        w.case("norm", f"zeros_{p}".replace(".", "_"), lambda x, p=p: vector(x, p), [torch.zeros(3)], at(p, [], False),
               gradcheck="no", **o)
    for p in (2.0, 1.0, 0.0):
        w.case("norm", f"empty_{p}".replace(".", "_"), lambda x, p=p: vector(x, p, (0,)), [torch.zeros(0, 2)],
               at(p, [0], False), grad=p != 0)
    w.case("norm", "nan_inf", lambda x: vector(x, INF), [torch.tensor([1.0, NAN, 2.0])], at(INF, [], False), grad=False,
           gradcheck="no")
    w.case("norm", "zero_dim", lambda x: vector(x, 3), [torch.tensor(-2.5)], at(3.0, [], False), **o)
    w.case("norm", "ties_inf", lambda x: vector(x, INF), [torch.tensor([2.0, -2.0, 1.0])], at(INF, [], False), gradcheck="no")
    w.case("norm", "long", lambda x: vector(x, 1), [r(40, 33)], at(1.0, [], False), gradcheck="no", tol="1e-5")

    for p in (2.0, 1.0, INF):
        w.case("dist", f"p_{p}".replace(".", "_"), lambda x, y, p=p: torch.dist(x, y, p), [r(2, 3), r(3)], [("float", p)], **o)
    w.case("dist", "float64", torch.dist, [r(4, dtype=F64), r(4, dtype=F64)], [("float", 2.0)])
    for p in (2.0, 1.0):
        for d in (0, 1, -1):
            w.case("renorm", f"p{int(p)}_dim{d}", lambda x, p=p, d=d: torch.renorm(x, p, d, 1.2), [r(3, 2, 2)],
                   [("float", p), ("int", d), ("float", 1.2)], tol="1e-5")

    w.case("count_nonzero", "all", torch.count_nonzero, [torch.tensor([[0.0, 1.0], [NAN, -0.0]])], [("dims", [])])
    w.case("count_nonzero", "dim", lambda x: torch.count_nonzero(x, 0), [w.randint(0, 2, (4, 3))], [("dims", [0])])
    w.case("count_nonzero", "dims", lambda x: torch.count_nonzero(x, (0, 2)), [w.randint(0, 2, (2, 3, 2))],
           [("dims", [0, 2])])
    w.case("count_nonzero", "bool", torch.count_nonzero, [torch.tensor([True, False, True])], [("dims", [])])
    w.case("count_nonzero", "empty", torch.count_nonzero, [torch.zeros(0)], [("dims", [])])
    holes = torch.tensor([[1.0, NAN, 3.0], [NAN, NAN, NAN], [0.5, 2.0, -1.0]])
    for name, fn in (("nansum", torch.nansum), ("nanmean", torch.nanmean)):
        d = lambda dims, keep: [("dims", dims), ("bool", keep)]
        w.case(name, "all", fn, [holes], d([], False), gradcheck="no", **o)
        w.case(name, "rows", lambda x, f=fn: f(x, 1), [holes], d([1], False), gradcheck="no", **o)
        w.case(name, "some_rows", lambda x, f=fn: f(x, 1), [holes[::2]], d([1], False), gradcheck="no", **o)
        w.case(name, "keepdim", lambda x, f=fn: f(x, 0, True), [r(3, 2)], d([0], True), **o)
        w.case(name, "dims", lambda x, f=fn: f(x, (0, 2)), [r(2, 3, 2)], d([0, 2], False), **o)
    w.case("nansum", "int", torch.nansum, [torch.tensor([1, 2])], [("dims", []), ("bool", False)])
    w.case("nansum", "empty", torch.nansum, [torch.zeros(0)], [("dims", []), ("bool", False)])
    w.case("aminmax", "all", torch.aminmax, [w.permutation(3, 4)], [("none", None), ("bool", False)])
    w.case("aminmax", "dim", lambda x: torch.aminmax(x, dim=1, keepdim=True), [w.permutation(3, 4)], [("int", 1), ("bool", True)])
    w.case("aminmax", "int", lambda x: torch.aminmax(x, dim=0), [w.randint(-9, 9, (3, 4))], [("int", 0), ("bool", False)])
    w.case("aminmax", "nan", torch.aminmax, [torch.tensor([1.0, NAN])], [("none", None), ("bool", False)], grad=False,
           gradcheck="no")
    for name, fn in (("var_mean", torch.var_mean), ("std_mean", torch.std_mean)):
        for label, dims, c, keep in (("all", [], 1, False), ("dim", [1], 1, True), ("biased", [0, 2], 0, False)):
            w.case(name, label, lambda x, f=fn, d=dims, c=c, k=keep: f(x, tuple(d) if d else None, correction=c, keepdim=k),
                   [r(2, 3, 4)], [("dims", dims), ("int", c), ("bool", keep)], **o)

    w.case("cov", "matrix", lambda x, f, a: torch.cov(x), [r(3, 5), None, None], [("int", 1)], **o)
    w.case("cov", "vector", lambda x, f, a: torch.cov(x), [r(5), None, None], [("int", 1)], **o)
    w.case("cov", "biased", lambda x, f, a: torch.cov(x, correction=0), [r(2, 4), None, None], [("int", 0)], **o)
    counts = torch.tensor([1, 2, 0, 3])
    w.case("cov", "frequencies", lambda x, f, a: torch.cov(x, fweights=f), [r(2, 4), counts, None], [("int", 1)], **o)
    w.case("cov", "weights", lambda x, f, a: torch.cov(x, aweights=a), [r(2, 4), None, w.rand(4)], [("int", 1)],
           constant="2", **o)
    w.case("cov", "both", lambda x, f, a: torch.cov(x, fweights=f, aweights=a), [r(2, 4), counts, w.rand(4)], [("int", 1)],
           constant="2", **o)
    w.case("cov", "float64", lambda x, f, a: torch.cov(x), [r(2, 4, dtype=F64), None, None], [("int", 1)])
    w.case("cov", "int", lambda x, f, a: torch.cov(x), [w.randint(-9, 9, (2, 5)), None, None], [("int", 1)], **o)
    w.case("corrcoef", "matrix", torch.corrcoef, [r(3, 5)], tol="1e-5", gradcheck="no")
    w.case("corrcoef", "vector", torch.corrcoef, [r(5)], tol="1e-5", gradcheck="no")
    w.case("corrcoef", "float64", lambda x: torch.corrcoef(x), [r(2, 4, dtype=F64)], tol="1e-10")

    def histc(label, x, bins, low, high):
        w.case("histc", label, lambda t: torch.histc(t, bins, low, high), [x], [("int", bins), ("float", low), ("float", high)],
               grad=False)
    histc("range", torch.tensor([-1.0, 0.0, 0.4, 0.5, 2.0, 3.0, NAN]), 4, 0.0, 2.0)
    histc("own_range", r(30), 5, 0.0, 0.0)
    histc("constant", torch.tensor([2.0, 2.0]), 3, 0.0, 0.0)
    histc("float64", r(3, 4, dtype=F64), 3, -1.0, 1.0)
    histc("empty", torch.zeros(0), 3, 0.0, 1.0)
    w.case("bincount", "plain", lambda x, v: torch.bincount(x), [torch.tensor([3, 0, 1, 3, 5]), None], [("int", 0)])
    w.case("bincount", "minlength", lambda x, v: torch.bincount(x, minlength=4), [torch.tensor([1, 0]), None], [("int", 4)])
    for kind in (torch.float32, F64, torch.int64):
        w.case("bincount", f"weights_{kind}".replace("torch.", ""), lambda x, v: torch.bincount(x, v),
               [torch.tensor([2, 0, 2]), torch.tensor([0.5, 1.0, 2.25]).to(kind)], [("int", 0)], grad=False)
    w.case("bincount", "empty", lambda x, v: torch.bincount(x), [torch.zeros(0, dtype=torch.int64), None], [("int", 0)])

    def histogram(label, x, bins, low=0.0, high=0.0, edges=None, weight=None, density=False):
        def fn(t, e, v):
            if e is not None:
                return torch.histogram(t, e, weight=v, density=density)
            span = None if low == high else (low, high)
            return torch.histogram(t, bins, range=span, weight=v, density=density)
        w.case("histogram", label, fn, [x, edges, weight],
               [("int", bins), ("float", low), ("float", high), ("bool", density)], grad=False, **o)
    histogram("range", torch.tensor([-1.0, 0.0, 0.4, 0.5, 2.0, 3.0]), 4, 0.0, 2.0)
    histogram("own_range", r(20), 5)
    histogram("edges", r(20), 1, edges=torch.tensor([-1.0, -0.5, 0.7, 2.0]))
    histogram("weights", r(3, 4), 3, -1.0, 1.0, weight=w.rand(3, 4))
    histogram("density", r(20, dtype=F64), 4, density=True)
