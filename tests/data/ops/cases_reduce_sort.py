# SPDX-License-Identifier: Apache-2.0
"""Orders and chosen elements. The values are distinct where PyTorch leaves the order of equals open."""
import math

import torch

F64 = torch.float64
NAN = math.nan
INF = math.inf


def stable(x, dim=-1, descending=False):
    return torch.sort(x, dim=dim, descending=descending, stable=True)


def cases(w):
    p = w.permutation
    for dim in (0, 1, -1):
        for down in (False, True):
            attrs = [("int", dim), ("bool", down)]
            fn = lambda x, d=dim, r=down: stable(x, d, r)
            w.case("sort", f"dim{dim}_{down}", fn, [p(3, 4, 2)], attrs)
            w.case("argsort", f"dim{dim}_{down}", lambda x, f=fn: f(x)[1], [p(3, 4, 2)], attrs)
    up, down = [("int", -1), ("bool", False)], [("int", -1), ("bool", True)]
    ties = torch.tensor([2.0, 1.0, 2.0, 1.0, 0.0, -0.0, 2.0])
    w.case("sort", "ties", stable, [ties], up, gradcheck="no")
    w.case("sort", "ties_descending", lambda x: stable(x, -1, True), [ties], down, gradcheck="no")
    edges = torch.tensor([NAN, 1.0, INF, NAN, -INF, 0.0])
    w.case("sort", "nan", stable, [edges], up, grad=False, gradcheck="no")
    w.case("sort", "nan_descending", lambda x: stable(x, -1, True), [edges], down, grad=False, gradcheck="no")
    w.case("sort", "float64", stable, [p(5, dtype=F64)], up)
    w.case("sort", "int", stable, [w.randint(-5, 5, (3, 9))], up)
    w.case("sort", "bool", lambda x: stable(x, 0), [w.randint(0, 2, (7, 2), torch.bool)], [("int", 0), ("bool", False)])
    w.case("sort", "zero_dim", stable, [torch.tensor(1.5)], up)
    w.case("sort", "empty", stable, [torch.zeros(3, 0)], up)
    w.case("sort", "empty_lines", stable, [torch.zeros(0, 3)], up)
    w.case("argsort", "int", lambda x: stable(x)[1], [w.randint(-5, 5, (3, 9))], up)
    w.case("argsort", "zero_dim", lambda x: stable(x)[1], [torch.tensor(1.5)], up)
    w.case("msort", "matrix", torch.msort, [p(4, 3)])
    w.case("msort", "int", torch.msort, [w.randint(-9, 9, (5,))])
    w.case("msort", "empty", torch.msort, [torch.zeros(0, 2)])

    def topk(label, x, k, dim=-1, largest=True, **o):
        w.case("topk", label, lambda t: torch.topk(t, k, dim, largest, True), [x],
               [("int", k), ("int", dim), ("bool", largest), ("bool", True)], **o)
    topk("last", p(3, 6), 2)
    topk("smallest", p(3, 6), 3, largest=False)
    topk("first", p(5, 2, 2), 2, dim=0)
    topk("all", p(4), 4)
    topk("none", p(2, 3), 0, gradcheck="no")
    topk("nan", torch.tensor([1.0, NAN, 3.0, -INF]), 2, grad=False, gradcheck="no")
    topk("nan_smallest", torch.tensor([1.0, NAN, 3.0, -INF]), 3, largest=False, grad=False, gradcheck="no")
    topk("int", torch.tensor([5, -2, 7, 0]), 2)
    topk("float64", p(2, 5, dtype=F64), 2)
    topk("zero_dim", torch.tensor(1.5), 1)
    topk("no_lines", torch.zeros(0, 3), 2)

    def kth(label, x, k, dim=-1, keep=False, **o):
        w.case("kthvalue", label, lambda t: torch.kthvalue(t, k, dim, keep), [x],
               [("int", k), ("int", dim), ("bool", keep)], **o)
    kth("last", p(3, 5), 2)
    kth("first_keepdim", p(4, 3), 4, 0, True)
    kth("middle", p(2, 5, 3), 1, 1)
    kth("nan", torch.tensor([NAN, 1.0, 3.0]), 3, grad=False, gradcheck="no")
    kth("int", torch.tensor([5, -2, 7, 0]), 3)
    kth("zero_dim", torch.tensor(1.5), 1)
    kth("float64", p(2, 4, dtype=F64), 3, -1, True)

    none = [("none", None), ("bool", False)]
    for name, fn in (("median", torch.median), ("nanmedian", torch.nanmedian), ("max", torch.max), ("min", torch.min)):
        at = lambda d, k: [("int", d), ("bool", k)]
        w.case(name, "whole", fn, [p(3, 5)], none)
        w.case(name, "whole_even", fn, [p(2, 4)], none)
        w.case(name, "whole_ties", fn, [torch.tensor([3.0, 1.0, 3.0, 3.0, 1.0, 1.0, 5.0])], none, gradcheck="no")
        w.case(name, "whole_nan", fn, [torch.tensor([3.0, NAN, 1.0])], none, grad=False, gradcheck="no")
        w.case(name, "whole_int", fn, [torch.tensor([[4, 2], [9, -3]])], none)
        w.case(name, "whole_zero_dim", fn, [torch.tensor(2.5)], none)
        w.case(name, "last", lambda x, f=fn: f(x, -1), [p(3, 5)], at(-1, False))
        w.case(name, "first_keepdim", lambda x, f=fn: f(x, 0, True), [p(4, 3)], at(0, True))
        w.case(name, "middle", lambda x, f=fn: f(x, 1), [p(2, 4, 3)], at(1, False))
        w.case(name, "nan", lambda x, f=fn: f(x, 1), [torch.tensor([[1.0, NAN, 0.0], [5.0, 2.0, 7.0], [NAN, NAN, NAN]])],
               at(1, False), grad=False, gradcheck="no")
        w.case(name, "int", lambda x, f=fn: f(x, 0), [torch.tensor([[4, 2], [9, -3], [0, 1]])], at(0, False))
        w.case(name, "float64", lambda x, f=fn: f(x, 1), [p(3, 4, dtype=F64)], at(1, False))
        w.case(name, "zero_dim", lambda x, f=fn: f(x, 0), [torch.tensor(2.5)], at(0, False))
        w.case(name, "no_lines", lambda x, f=fn: f(x, 1), [torch.zeros(0, 3)], at(1, False))
    for name, fn in (("max", torch.max), ("min", torch.min)):
        w.case(name, "bool", lambda x, f=fn: f(x, 0), [torch.tensor([[True, False], [False, False]])],
               [("int", 0), ("bool", False)])
        w.case(name, "infinities", fn, [torch.tensor([INF, -INF])], none, gradcheck="no")
        w.case(name, "first_of_equals", lambda x, f=fn: f(x, 0), [torch.tensor([1.0, 3.0, 3.0, 1.0])],
               [("int", 0), ("bool", False)], gradcheck="no")
    w.case("median", "whole_empty", torch.median, [torch.zeros(0)], none, grad=False, gradcheck="no")

    at = lambda d, k: [("int", d), ("bool", k)]
    w.case("mode", "ties", lambda x: torch.mode(x, 1), [torch.tensor([[2, 3, 2, 3, 1], [4, 4, 4, 0, 0]])], at(1, False))
    w.case("mode", "first_keepdim", lambda x: torch.mode(x, 0, True), [torch.tensor([[1.0, 2.0], [1.0, 3.0], [0.0, 3.0]])],
           at(0, True), gradcheck="no")
    w.case("mode", "distinct", torch.mode, [p(2, 4)], at(-1, False))
    w.case("mode", "zero_dim", torch.mode, [torch.tensor(2.5)], at(-1, False))
    w.case("mode", "bool", torch.mode, [torch.tensor([True, False, True])], at(-1, False))

    modes = ["linear", "lower", "higher", "midpoint", "nearest"]
    for name, fn in (("quantile", torch.quantile), ("nanquantile", torch.nanquantile)):
        def case(label, x, q, dim=None, keep=False, mode=0, name=name, fn=fn, **o):
            w.case(name, label, lambda t, u: fn(t, u, dim, keep, interpolation=modes[mode]), [x, q],
                   [("none", None) if dim is None else ("int", dim), ("bool", keep), ("int", mode)], constant="1", **o)
        q1, q2 = torch.tensor(0.35), torch.tensor([0.0, 0.3, 0.55, 1.0])
        case("whole", p(3, 4), q1, tol="4e-6")
        case("whole_several", p(7), q2, tol="4e-6")
        case("last", p(3, 5), q2, -1, tol="4e-6")
        case("first_keepdim", p(4, 3), q2, 0, True, tol="4e-6")
        case("middle", p(2, 5, 3), q2, 1, tol="4e-6")
        case("middle_one", p(2, 5, 3), q1, 1, tol="4e-6")
        case("middle_one_keepdim", p(2, 5, 3), q1, 1, True, tol="4e-6")
        case("whole_keepdim", p(2, 3), q1, None, True, tol="4e-6")
        case("float64", p(2, 5, dtype=F64), torch.tensor([0.2, 0.9], dtype=F64), 1)
        case("zero_dim", torch.tensor(2.5), q1)
        case("nan", torch.tensor([[1.0, NAN, 3.0], [1.0, 5.0, 2.0]]), q2, 1, grad=False, gradcheck="no", tol="4e-6")
        for m in range(1, 5):
            case(modes[m], p(6), torch.tensor([0.0, 0.1, 0.3, 0.5, 0.7, 0.9]), 0, mode=m, tol="4e-6")
            case(modes[m] + "_matrix", p(3, 4), q2, 0, mode=m, tol="4e-6")

    def unique(label, x, inverse, counts, dim=None):
        w.case("unique", label, lambda t: torch.unique(t, True, inverse, counts, dim), [x],
               [("bool", True), ("bool", inverse), ("bool", counts), ("none", None) if dim is None else ("int", dim)],
               grad=False)

    def consecutive(label, x, inverse, counts, dim=None):
        w.case("unique_consecutive", label, lambda t: torch.unique_consecutive(
            t, return_inverse=inverse, return_counts=counts, dim=dim), [x],
               [("bool", inverse), ("bool", counts), ("none", None) if dim is None else ("int", dim)], grad=False)
    numbers = torch.tensor([[3, 1, 3, 3], [1, 1, 2, 3]])
    rows = torch.tensor([[1, 2], [0, 5], [1, 2], [0, 5], [0, 4]])
    for f in (unique, consecutive):
        f("values", numbers, False, False)
        f("inverse", numbers, True, False)
        f("counts", numbers, False, True)
        f("all", numbers, True, True)
        f("float", torch.tensor([0.5, 0.5, -1.0, INF, INF]), True, True)
        f("bool", torch.tensor([True, True, False]), True, True)
        f("rows", rows, True, True, 0)
        f("columns", rows[:, [0, 0, 1, 0]], True, True, 1)
        f("zero_dim", torch.tensor(7), True, True)
        f("empty", torch.zeros(0, dtype=torch.int64), True, True)
        f("vector_dim", torch.tensor([2, 2, 1, 2]), True, True, 0)
    unique("nan", torch.tensor([NAN, 1.0, NAN]), False, False)

    def search(label, s, v, right=False, sorter=None):
        w.case("searchsorted", label, lambda a, b, c: torch.searchsorted(a, b, right=right, sorter=c), [s, v, sorter],
               [("bool", right)], grad=False)
    line = torch.tensor([1.0, 3.0, 3.0, 5.0])
    grid = torch.tensor([[0.0, 3.0, 4.0], [5.0, INF, NAN]])
    search("before", line, grid)
    search("after", line, grid, True)
    search("lines", torch.tensor([[1, 3, 5], [2, 4, 6]]), torch.tensor([[3, 0], [6, 7]]))
    search("sorter", torch.tensor([5.0, 1.0, 3.0]), torch.tensor([3.0, 4.0]), False, torch.tensor([1, 2, 0]))
    search("zero_dim", line, torch.tensor(3.0), True)
    search("empty_sequence", torch.zeros(0), torch.tensor([1.0]))
    search("no_values", line, torch.zeros(0))
    for right in (False, True):
        w.case("bucketize", f"right_{right}", lambda x, b, r=right: torch.bucketize(x, b, right=r), [grid, line],
               [("bool", right)], grad=False)
    w.case("bucketize", "int", torch.bucketize, [torch.tensor([[3, 4], [9, 0]]), torch.tensor([1, 3, 5])],
           [("bool", False)])
