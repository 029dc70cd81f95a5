# SPDX-License-Identifier: Apache-2.0
import math

import torch

F64 = torch.float64
NAN = math.nan
INF = math.inf


def cases(w):
    dim = lambda d: [("int", d)]
    r = w.randn
    for name, fn in (("cumprod", torch.cumprod), ("cummax", torch.cummax), ("cummin", torch.cummin),
                     ("logcumsumexp", torch.logcumsumexp)):
        make = w.permutation if name in ("cummax", "cummin") else r
        o = {} if name in ("cummax", "cummin") else {"tol": "4e-6"}
        w.case(name, "last", lambda x, f=fn: f(x, -1), [make(3, 4)], dim(-1), **o)
        w.case(name, "first", lambda x, f=fn: f(x, 0), [make(4, 3)], dim(0), **o)
        w.case(name, "middle", lambda x, f=fn: f(x, 1), [make(2, 4, 3)], dim(1), **o)
        w.case(name, "float64", lambda x, f=fn: f(x, 0), [make(5, dtype=F64)], dim(0))
        w.case(name, "zero_dim", lambda x, f=fn: f(x, 0), [torch.tensor(1.5)], dim(0), **o)
        w.case(name, "empty", lambda x, f=fn: f(x, 1), [torch.zeros(2, 0)], dim(1))
        w.case(name, "infinities", lambda x, f=fn: f(x, 0), [torch.tensor([-INF, 1.0, INF, 2.0])], dim(0), grad=False,
               gradcheck="no", **o)
        w.case(name, "nan", lambda x, f=fn: f(x, 0), [torch.tensor([1.0, NAN, 2.0, NAN])], dim(0), grad=False,
               gradcheck="no", **o)
        if name != "logcumsumexp":
            w.case(name, "int", lambda x, f=fn: f(x, 1), [w.randint(-4, 5, (3, 5))], dim(1))
            w.case(name, "bool", lambda x, f=fn: f(x, 0), [torch.tensor([True, True, False, True])], dim(0))
    w.case("cumprod", "one_zero", lambda x: torch.cumprod(x, 0), [torch.tensor([2.0, 0.0, 3.0, -1.5], dtype=F64)], dim(0))
    w.case("cumprod", "zeros", lambda x: torch.cumprod(x, 1),
           [torch.tensor([[2.0, 0.0, 3.0, 0.0, 1.5], [1.0, 2.0, 0.5, 3.0, 2.0]])], dim(1), gradcheck="no", tol="4e-6")
    w.case("cumprod", "zeros_first", lambda x: torch.cumprod(x, 0), [torch.tensor([[0.0, 1.0], [2.0, 0.0], [0.5, 3.0]])],
           dim(0), tol="4e-6")
    ties = torch.tensor([1.0, 3.0, 3.0, 2.0, 3.0])
    w.case("cummax", "last_of_equals", lambda x: torch.cummax(x, 0), [ties], dim(0), gradcheck="no")
    w.case("cummin", "last_of_equals", lambda x: torch.cummin(x, 0), [-ties], dim(0), gradcheck="no")
    w.case("logcumsumexp", "large", lambda x: torch.logcumsumexp(x, 0), [torch.tensor([100.0, 101.0, -100.0, 99.0])],
           dim(0), gradcheck="no", tol="4e-5")

    def log_grad(g, x, y, forward):
        n = x.shape[-1]
        e = torch.exp(x.unsqueeze(-1) - y.unsqueeze(-2)) * torch.ones(n, n, dtype=x.dtype).triu()  # [i, j], j >= i
        return (g.unsqueeze(-1) * e).sum(-2) if forward else (g.unsqueeze(-2) * e).sum(-1)
    for forward in (False, True):
        x = r(2, 4, dtype=F64)
        w.case("logcumsumexp_grad", f"forward_{forward}", lambda g, a, y, f=forward: log_grad(g, a, y, f),
               [r(2, 4, dtype=F64), x, torch.logcumsumexp(x, 1) + 0.1], dim(1) + [("bool", forward)])

    def diff(label, x, n=1, d=-1, before=None, after=None, **o):
        w.case("diff", label, lambda t, b, a: torch.diff(t, n, d, b, a), [x, before, after], [("int", n), ("int", d)], **o)
    diff("last", r(2, 5))
    diff("twice", r(2, 5), 2)
    diff("first", r(4, 2), 1, 0)
    diff("joined", r(2, 3), 1, 1, r(2, 1), r(2, 2))
    diff("prepended", r(3), 1, 0, r(1))
    diff("too_often", r(2, 3), 4, gradcheck="no")
    diff("int", w.randint(-9, 9, (6,)))
    diff("bool", torch.tensor([True, False, False, True]))
    diff("none", r(3), 0)

    def trapezoid(label, y, x=None, dx=1.0, d=-1, **o):
        for name, fn in (("trapezoid", torch.trapezoid), ("cumulative_trapezoid", torch.cumulative_trapezoid)):
            call = (lambda a, b, f=fn: f(a, dx=dx, dim=d)) if x is None else (lambda a, b, f=fn: f(a, b, dim=d))
            w.case(name, label, call, [y, x], [("float", dx), ("int", d)], **o)
    trapezoid("step", r(2, 5), dx=0.5)
    trapezoid("first", r(4, 2), d=0)
    trapezoid("places", r(2, 4), r(4))
    trapezoid("places_first", r(4, 2), r(4), d=0)
    trapezoid("own_places", r(2, 4), r(2, 4))
    trapezoid("one", r(2, 1), gradcheck="no")
