# SPDX-License-Identifier: Apache-2.0
import math

import torch

F64 = torch.float64
REDUCE = ["sum", "prod", "mean", "amax", "amin"]


def cases(w):
    r = w.randn
    I = lambda v: torch.tensor(v, dtype=torch.int64)
    dim = lambda d: [("int", d)]
    rows, columns = I([[0, 2], [2, 0], [1, 1]]), I([[0, 3, 1], [1, 0, 2]])

    def both(name, label, fn, inputs, attrs, **o):
        """The operator and its in-place form; fn(x, ...) is out of place."""
        w.case(name, label, fn, inputs, attrs, **o)
        w.case(name + "_", label, fn, inputs, attrs, **o)

    def scatter(label, x, d, i, s, **o):
        both("scatter", label, lambda a, j, b: a.scatter(d, j, b), [x, i, s], dim(d) + [("float", 0.0)], **o)
    scatter("rows", r(3, 2), 0, I([[0, 2], [2, 1], [1, 0]]), r(3, 2))
    scatter("columns", r(2, 4), 1, columns, r(2, 3))
    scatter("negative", r(2, 4), -1, columns, r(2, 3))
    scatter("larger_source", r(2, 4), 1, I([[3, 0]]), r(2, 3), grad=False)
    scatter("int", w.randint(-9, 9, (4,)), 0, I([2, 0]), w.randint(-9, 9, (2,)))
    scatter("zero_dim", torch.tensor(1.0), 0, I(0), torch.tensor(3.0))
    scatter("empty_index", r(2, 3), 0, torch.zeros(0, 3, dtype=torch.int64), r(0, 3))
    scatter("float64", r(3, dtype=F64), 0, I([1]), r(1, dtype=F64))
    for name in ("scatter", "scatter_"):
        w.case(name, "value", lambda x, i, s: x.scatter(1, i, 2.5), [r(2, 4), columns, None], dim(1) + [("float", 2.5)])
        w.case(name, "value_bool", lambda x, i, s: x.scatter(0, i, True),
               [torch.zeros(4, dtype=torch.bool), I([1, 3]), None], dim(0) + [("float", 1.0)])
    w.case("scatter_add_", "rows", lambda x, i, s: x.scatter_add(0, i, s), [r(3, 2), rows, r(3, 2)], dim(0))
    w.case("scatter_add_", "columns", lambda x, i, s: x.scatter_add(1, i, s), [r(2, 4), columns, r(2, 3)], dim(1))
    w.case("scatter_add_", "int", lambda x, i, s: x.scatter_add(0, i, s),
           [w.randint(-9, 9, (3,)), I([2, 2, 0]), w.randint(-9, 9, (3,))], dim(0))

    for code, reduce in enumerate(REDUCE):
        for self_in in (True, False):
            attrs = lambda d, c=code, s=self_in: [("int", d), ("int", c), ("bool", s)]
            fn = lambda d, n=reduce, s=self_in: lambda x, i, v: x.scatter_reduce(d, i, v, n, include_self=s)
            label = f"{reduce}_{'self' if self_in else 'only'}"
            o = {"tol": "4e-6"}
            both("scatter_reduce", label + "_rows", fn(0), [w.permutation(4, 2), rows, w.permutation(3, 2) + 0.013], attrs(0), **o)
            w.case("scatter_reduce", label + "_columns", fn(1), [w.permutation(2, 5), columns, w.permutation(2, 3) + 0.013],
                   attrs(1), **o)
            w.case("scatter_reduce", label + "_int", fn(0), [w.randint(-9, 9, (4,)), I([2, 2, 0, 2]), w.randint(-9, 9, (4,))],
                   attrs(0))
            if reduce != "sum":
                index = lambda d, n=reduce, s=self_in: lambda x, i, v: x.index_reduce(d, i, v, n, include_self=s)
                w.case("index_reduce", label + "_rows", index(0), [w.permutation(4, 2), I([2, 0, 2]), w.permutation(3, 2) + 0.013],
                       attrs(0), **o)
                w.case("index_reduce", label + "_columns", index(1),
                       [w.permutation(2, 4), I([3, 1, 3]), w.permutation(2, 3) + 0.013], attrs(1), **o)
    nan = torch.tensor([1.0, math.nan, 2.0])
    for code, reduce in ((3, "amax"), (4, "amin")):
        w.case("scatter_reduce", reduce + "_nan", lambda x, i, v, n=reduce: x.scatter_reduce(0, i, v, n),
               [torch.zeros(3), I([0, 1, 2]), nan], [("int", 0), ("int", code), ("bool", True)], grad=False, gradcheck="no")
        w.case("scatter_reduce", reduce + "_ties", lambda x, i, v, n=reduce: x.scatter_reduce(0, i, v, n),
               [torch.tensor([1.0, 0.0]), I([0, 0, 1]), torch.tensor([1.0, 1.0, 0.0])],
               [("int", 0), ("int", code), ("bool", True)], gradcheck="no")
    w.case("scatter_reduce", "prod_zeros", lambda x, i, v: x.scatter_reduce(0, i, v, "prod"),
           [torch.tensor([2.0, 3.0, 1.5]), I([0, 0, 1, 2]), torch.tensor([0.0, 4.0, 0.0, 2.0])],
           [("int", 0), ("int", 1), ("bool", True)], second="no")
    w.case("index_reduce", "zero_dim", lambda x, i, v: x.index_reduce(0, i, v, "amax"), [torch.tensor(1.0), I([0]), torch.tensor(3.0)],
           [("int", 0), ("int", 3), ("bool", True)], grad=False)

    w.case("index_add_", "rows", lambda x, i, s: x.index_add(0, i, s), [r(4, 2), I([2, 2, 0]), r(3, 2)], dim(0))
    w.case("index_add_", "columns", lambda x, i, s: x.index_add(1, i, s), [r(2, 4), I([3, 1, 3]), r(2, 3)], dim(1))
    w.case("index_add_", "int", lambda x, i, s: x.index_add(0, i, s), [w.randint(-9, 9, (3,)), I([1, 1]), I([4, 5])], dim(0))

    def copy(label, x, d, i, s, **o):
        both("index_copy", label, lambda a, j, b: a.index_copy(d, j, b), [x, i, s], dim(d), **o)
    copy("rows", r(4, 2), 0, I([3, 0]), r(2, 2))
    copy("columns", r(2, 4), -1, I([3, 1, 0]), r(2, 3))
    copy("middle", r(2, 3, 2), 1, I([2]), r(2, 1, 2))
    copy("int", w.randint(-9, 9, (3,)), 0, I([1]), I([7]))
    copy("empty", r(3), 0, I([]), r(0))

    def fill(label, x, d, i, v, **o):
        both("index_fill", label, lambda a, j: a.index_fill(d, j, v), [x, i], dim(d) + [("float", float(v))], **o)
    fill("rows", r(4, 2), 0, I([3, 0, 3]), 2.5)
    fill("columns", r(2, 4), -1, I([1]), -1.0)
    fill("int", w.randint(-9, 9, (2, 3)), 1, I([2, 0]), 7)
    fill("zero_dim", torch.tensor(1.0), 0, I([0]), 3.0)
    fill("empty", r(3), 0, I([]), 1.0)
