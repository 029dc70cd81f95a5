# SPDX-License-Identifier: Apache-2.0
"""Functions of one real number, rounding, and tests of single numbers."""
import math

import torch

F64 = torch.float64
INF = math.inf
NAN = math.nan


def exact(fn):
    """float32 computed in float64 and rounded once, so that the reference has no error of its own."""
    def run(x):
        return fn(x) if x.dtype == F64 else fn(x.double()).to(torch.float32)
    return run


def real(w, name, fn, sample, specials=None, tol64=1e-12):
    value = exact(fn)
    w.case(name, "matrix", value, [sample(3, 4)])
    w.case(name, "zero_dim", value, [sample(1).reshape(())])
    w.case(name, "empty", value, [sample(0, 3)])
    w.case(name, "float64", fn, [sample(2, 3, dtype=F64)], tol=tol64)
    w.case(name, "long", value, [sample(37)], gradcheck="no")
    points = torch.tensor([0.0, -0.0, 1.0, -1.0, INF, -INF, NAN, 1e-40, 3e38]) if specials is None else specials
    w.case(name, "specials", value, [points], grad=False, gradcheck="no")
    w.case(name, "specials_float64", fn, [points.double()], grad=False, gradcheck="no")
    w.case(name, "int", value, [torch.tensor([3, -1, 0, 7])])
    w.case(name, "bool", value, [torch.tensor([True, False])])


def functions(w):
    inside = lambda *s, **k: w.rand(*s, low=-0.85, high=0.85, **k)
    above_one = lambda *s, **k: w.rand(*s, low=1.3, high=4.0, **k)
    positive = lambda *s, **k: w.rand(*s, low=0.2, high=3.0, **k)
    unit = lambda *s, **k: w.rand(*s, low=0.1, high=0.9, **k)
    away = lambda *s, **k: torch.sign(w.randn(*s, **k)) * w.rand(*s, low=0.2, high=1.4, **k)
    wide = lambda *s, **k: w.randn(*s, **k)
    moderate = torch.tensor([0.0, -0.0, 1.0, -1.0, INF, -INF, NAN, 1e-40, 1e4])
    for name, sample in [("acos", inside), ("asin", inside), ("atan", wide), ("acosh", above_one), ("asinh", wide),
                         ("atanh", inside), ("sinh", wide), ("cosh", wide), ("expm1", wide), ("exp2", wide),
                         ("log1p", positive), ("log2", positive), ("log10", positive), ("deg2rad", wide),
                         ("erf", wide), ("erfc", wide), ("erfinv", inside)]:
        real(w, name, getattr(torch, name), sample)
    real(w, "tan", torch.tan, inside, moderate)
    real(w, "sinc", torch.sinc, away, moderate)
    real(w, "rad2deg", torch.rad2deg, wide, moderate)
    real(w, "logit", torch.logit, unit)
    w.case("logit", "eps", lambda x: torch.logit(x, 0.2), [torch.tensor([0.05, 0.3, 0.5, 0.7, 0.95])], [("float", 0.2)])
    w.case("logit", "outside", torch.logit, [torch.tensor([-0.5, 0.25, 1.5])], gradcheck="no")
    w.case("expm1", "range", exact(torch.expm1),
           [torch.tensor([-60.0, -50.5, -20.0, -1.0, -1e-3, -1e-9, 1e-9, 1e-3, 1.0, 40.0, 79.9, 80.1, 88.7, 89.0])],
           grad=False, gradcheck="no")
    w.case("log1p", "range", exact(torch.log1p),
           [torch.tensor([-1.5, -1.0, -0.99999994, -0.5, -1e-4, -1e-9, 1e-30, 1e-9, 1e-4, 0.5, 1e8, 3e38])],
           grad=False, gradcheck="no")
    w.case("erf", "range", exact(torch.erf), [torch.tensor([-6.0, -4.0, -0.93, -0.92, -1e-5, 1e-20, 0.924, 0.926, 3.9, 5.0])],
           grad=False, gradcheck="no")
    w.case("erfinv", "tails", torch.erfinv,
           [torch.tensor([-1 + 1e-12, -0.999999, -0.5, -1e-300, 1e-12, 0.5, 0.51, 0.9999, 1 - 1e-10, 1.5], dtype=F64)],
           grad=False, gradcheck="no", tol=1e-11)
    w.case("exp2", "whole", torch.exp2, [torch.tensor([-150.0, -149.0, -126.0, 0.0, 1.0, 10.0, 127.0, 128.0])],
           grad=False, gradcheck="no")


def gammas(w):
    # PyTorch's trigamma is good to 1e-9 only; tests/engine/cpu/special_math_test.cpp has exact values.
    positive = lambda *s, **k: w.rand(*s, low=0.3, high=4.0, **k)
    points = torch.tensor([0.5, 1.0, 2.0, 3.5, 12.0, 100.0, -0.5, -1.5, -2.25])
    real(w, "lgamma", torch.lgamma, positive, torch.tensor([0.0, -1.0, -2.5, 1e-20, 170.5, INF, NAN]))
    real(w, "digamma", torch.digamma, positive, torch.tensor([0.0, -0.0, -1.0, -2.5, 1e-10, 1e6, INF, NAN]), 1e-9)
    w.case("digamma", "points", torch.digamma, [points.double()], tol=1e-9)
    for n in (0, 1, 2, 3, 5):
        poly = lambda x, n=n: torch.special.polygamma(n, x)
        value = exact(poly)
        w.case("polygamma", f"order_{n}", poly, [positive(5, dtype=F64)], [("int", n)], tol=1e-9)
        w.case("polygamma", f"float32_{n}", value, [positive(2, 3)], [("int", n)])
    w.case("polygamma", "points", lambda x: torch.special.polygamma(1, x), [points.double()], [("int", 1)], tol=1e-9)
    w.case("polygamma", "specials", lambda x: torch.special.polygamma(1, x),
           [torch.tensor([0.0, INF, NAN], dtype=F64)], [("int", 1)], grad=False, gradcheck="no")
    w.case("polygamma", "empty", lambda x: torch.special.polygamma(1, x), [w.randn(0, 2)], [("int", 1)])
    w.case("polygamma", "int", lambda x: torch.special.polygamma(1, x), [torch.tensor([1, 2, 5])], [("int", 1)])


def rounding(w):
    halves = lambda *s, **k: w.randint(-9, 9, s).to(k.get("dtype", torch.float32)) + 0.3
    edges = torch.tensor([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.0, -0.0, 1e10, 8388609.0, INF, -INF, NAN])
    for name in ("ceil", "trunc", "round", "frac"):
        fn = getattr(torch, name)
        w.case(name, "matrix", fn, [halves(3, 4)])
        w.case(name, "zero_dim", fn, [halves(1).reshape(())])
        w.case(name, "empty", fn, [halves(0, 2)])
        w.case(name, "float64", fn, [halves(5, dtype=F64)])
        w.case(name, "long", fn, [halves(35)])
        w.case(name, "edges", fn, [edges], gradcheck="no")
        w.case(name, "edges_float64", fn, [edges.double()], gradcheck="no")
        if name != "frac":
            w.case(name, "int", fn, [torch.tensor([3, -4, 0])])
    decimals = lambda d: (lambda x: torch.round(x, decimals=d))
    for d in (0, 2, 1, -1):
        w.case("round", f"decimals_{d}".replace("-", "minus"), decimals(d),
               [torch.tensor([123.4567, -0.125, 15.0, 25.0, -37.6512])], [("int", d)], gradcheck="no")
    w.case("round", "decimals_float64", decimals(3), [w.randn(5, dtype=F64)], [("int", 3)], gradcheck="no")
    away = lambda *s: torch.sign(w.randn(*s)) * w.rand(*s, low=0.2, high=2.5)
    w.case("sgn", "matrix", torch.sgn, [away(3, 4)])
    w.case("sgn", "int", torch.sgn, [torch.tensor([3, -4, 0])])
    w.case("sgn", "specials", torch.sgn, [torch.tensor([0.0, -0.0, INF, -INF])], gradcheck="no")
    special = torch.tensor([NAN, INF, -INF, 0.0, 1.5])
    attrs = lambda n, p, m: [("float", n), ("float", p), ("float", m)]
    w.case("nan_to_num", "defaults", torch.nan_to_num, [special], gradcheck="no")
    w.case("nan_to_num", "defaults_float64", torch.nan_to_num, [special.double()], gradcheck="no")
    w.case("nan_to_num", "given", lambda x: torch.nan_to_num(x, 7.0, 8.0, -9.0), [special.repeat(2, 1)],
           attrs(7.0, 8.0, -9.0), gradcheck="no")
    w.case("nan_to_num", "numbers", torch.nan_to_num, [w.randn(2, 3)])
    w.case("nan_to_num", "int", torch.nan_to_num, [torch.tensor([1, 2])])
    w.case("nan_to_num", "empty", torch.nan_to_num, [w.randn(0)])


def tests(w):
    special = torch.tensor([NAN, INF, -INF, 0.0, -0.0, -1.5, 3.0, -1e-40])
    for name in ("isfinite", "isposinf", "isneginf", "signbit"):
        fn = getattr(torch, name)
        w.case(name, "float", fn, [special.reshape(2, 4)])
        w.case(name, "float64", fn, [special.double()])
        w.case(name, "long", fn, [special.repeat(5)])
        w.case(name, "int", fn, [torch.tensor([1, 0, -3])])
        w.case(name, "bool", fn, [torch.tensor([True, False])])
        w.case(name, "empty", fn, [torch.zeros(0, 2)])
        w.case(name, "zero_dim", fn, [torch.tensor(-2.0)])


def cases(w):
    functions(w)
    gammas(w)
    rounding(w)
    tests(w)
