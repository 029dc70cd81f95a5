# SPDX-License-Identifier: Apache-2.0
import math

import torch

F64 = torch.float64
NAN = math.nan


def over(fn):
    """fn(x, dim, keepdim) with dim possibly empty."""
    return lambda dims, keep: lambda x: fn(x, tuple(dims) if dims else tuple(range(x.dim())), keep)


def dims_cases(w, name, fn, sample, attrs=lambda d, k: [("dims", d), ("bool", k)], **options):
    call = over(fn)
    for label, dims, keep in [("all", [], False), ("all_keepdim", [], True), ("first", [0], False),
                              ("last_keepdim", [-1], True), ("outer_and_inner", [0, 2], False),
                              ("middle", [1], True), ("negative", [-2, -1], False)]:
        w.case(name, label, call(dims, keep), [sample(3, 4, 5)], attrs(dims, keep), **options)
    w.case(name, "channels", call([0, 2, 3], False), [sample(2, 3, 4, 5)], attrs([0, 2, 3], False), **options)
    w.case(name, "long_row", call([], False), [sample(700)], attrs([], False), gradcheck="no", **options)
    w.case(name, "wide_columns", call([0], False), [sample(40, 33)], attrs([0], False), gradcheck="no", **options)
    w.case(name, "float64", call([1], False), [sample(3, 4, dtype=F64)], attrs([1], False), **options)


def cases(w):
    options = {"tol": "4e-6"}
    dims_cases(w, "sum", lambda x, d, k: torch.sum(x, d, k), w.randn, **options)
    dims_cases(w, "mean", lambda x, d, k: torch.mean(x, d, k), w.randn, **options)
    dims_cases(w, "amax", lambda x, d, k: torch.amax(x, d, k), w.permutation)
    dims_cases(w, "amin", lambda x, d, k: torch.amin(x, d, k), w.permutation)
    dims_cases(w, "logsumexp", lambda x, d, k: torch.logsumexp(x, d, k), w.randn, **options)
    for c in (1, 0, 2):
        attrs = lambda d, k, c=c: [("dims", d), ("int", c), ("bool", k)]
        if c == 1:
            dims_cases(w, "var", lambda x, d, k: torch.var(x, d, correction=1, keepdim=k), w.randn, attrs, **options)
            dims_cases(w, "std", lambda x, d, k: torch.std(x, d, correction=1, keepdim=k), w.randn, attrs, **options)
        else:
            for name, fn in (("var", torch.var), ("std", torch.std)):
                w.case(name, f"correction_{c}", lambda x, f=fn, c=c: f(x, (0,), correction=c, keepdim=False),
                       [w.randn(5, 3)], attrs([0], False), **options)

    none = [("dims", []), ("bool", False)]
    w.case("sum", "zero_dim", torch.sum, [torch.tensor(2.5)], none)
    w.case("sum", "zero_dim_dim", lambda x: torch.sum(x, -1), [torch.tensor(2.5)], [("dims", [-1]), ("bool", False)])
    w.case("sum", "empty", torch.sum, [torch.zeros(0, 3)], none)
    w.case("sum", "empty_dim", lambda x: torch.sum(x, 0), [torch.zeros(0, 3)], [("dims", [0]), ("bool", False)])
    w.case("sum", "int", torch.sum, [w.randint(-9, 9, (3, 4))], none)
    w.case("sum", "int_dim", lambda x: torch.sum(x, 1), [w.randint(-9, 9, (3, 40))], [("dims", [1]), ("bool", False)])
    w.case("sum", "bool", torch.sum, [w.randint(0, 2, (30,), torch.bool)], none)
    w.case("sum", "bool_dim", lambda x: torch.sum(x, 0), [w.randint(0, 2, (30, 5), torch.bool)],
           [("dims", [0]), ("bool", False)])
    w.case("sum", "infinities", torch.sum, [torch.tensor([math.inf, -math.inf])], none, gradcheck="no")
    w.case("mean", "zero_dim", torch.mean, [torch.tensor(2.5)], none)
    w.case("mean", "empty", torch.mean, [torch.zeros(0)], none, gradcheck="no")
    # Refused, so that what the function gives is not read.
    w.case("mean", "int", lambda x: x, [w.randint(-9, 9, (3, 4))], none, refused="yes")
    w.case("mean", "bool", lambda x: x, [w.randint(0, 2, (5,), torch.bool)], none, refused="yes")

    w.case("prod", "vector", torch.prod, [w.randn(5)], none)
    w.case("prod", "matrix", torch.prod, [w.randn(2, 3)], none)
    w.case("prod", "one_zero", torch.prod, [torch.tensor([2.0, 0.0, 3.0, -1.5])], none, gradcheck="no")
    w.case("prod", "one_zero_checked", torch.prod, [torch.tensor([[2.0, 0.0], [3.0, -1.5]], dtype=F64)], none)
    w.case("prod", "two_zeros", torch.prod, [torch.tensor([2.0, 0.0, 3.0, 0.0])], none)
    w.case("prod", "zero_dim", torch.prod, [torch.tensor(2.5)], none)
    w.case("prod", "empty", torch.prod, [torch.zeros(0)], none)
    w.case("prod", "int", torch.prod, [torch.tensor([2, -3, 4])], none)
    w.case("prod", "dim", lambda x: torch.prod(x, 1), [w.randn(3, 4)], [("dims", [1]), ("bool", False)])
    w.case("prod", "dim_with_zero", lambda x: torch.prod(x, 0, keepdim=True),
           [torch.tensor([[1.5, 0.0, 2.0], [0.5, 3.0, -1.0]])], [("dims", [0]), ("bool", True)])

    w.case("amax", "ties_share", lambda x: torch.amax(x, ()), [torch.tensor([1.0, 3.0, 3.0, 2.0])], none, gradcheck="no")
    w.case("amax", "nan", lambda x: torch.amax(x, (1,)), [torch.tensor([[1.0, NAN, 2.0], [1.0, 5.0, 2.0]])],
           [("dims", [1]), ("bool", False)], grad=False, gradcheck="no")
    w.case("amin", "nan_in_long_row", lambda x: torch.amin(x, ()), [torch.tensor([1.0, 2.0, NAN] + [3.0] * 100)], none,
           grad=False, gradcheck="no")
    w.case("amax", "nan_in_long_row", lambda x: torch.amax(x, ()), [torch.tensor([1.0, 2.0, NAN] + [3.0] * 100)], none,
           grad=False, gradcheck="no")
    w.case("amax", "nan_in_columns", lambda x: torch.amax(x, (0,)), [torch.tensor([[1.0, NAN, 2.0, 0.0, 4.0]] * 2)],
           [("dims", [0]), ("bool", False)], grad=False, gradcheck="no")
    w.case("amax", "int", lambda x: torch.amax(x, ()), [w.randint(-99, 99, (5, 40))], none)
    w.case("amin", "int", lambda x: torch.amin(x, (0,)), [w.randint(-99, 99, (5, 40))], [("dims", [0]), ("bool", False)])
    w.case("amax", "bool", lambda x: torch.amax(x, (0,)), [w.randint(0, 2, (2, 5), torch.bool)],
           [("dims", [0]), ("bool", False)])
    w.case("amax", "negative_infinity", lambda x: torch.amax(x, ()), [torch.tensor([-math.inf, -math.inf])], none,
           grad=False, gradcheck="no")
    w.case("amax", "zero_dim", lambda x: torch.amax(x, ()), [torch.tensor(-2.5)], none)

    for name, fn in (("argmax", torch.argmax), ("argmin", torch.argmin)):
        attrs = lambda d, k: [("int", d), ("bool", k)]
        w.case(name, "last", lambda x, f=fn: f(x, -1), [w.permutation(4, 5)], attrs(-1, False))
        w.case(name, "first_keepdim", lambda x, f=fn: f(x, 0, True), [w.permutation(4, 5, 2)], attrs(0, True))
        w.case(name, "middle", lambda x, f=fn: f(x, 1), [w.permutation(2, 30, 3)], attrs(1, False))
        w.case(name, "first_of_equals", lambda x, f=fn: f(x, 0), [torch.tensor([1.0, 3.0, 3.0, 0.0, 0.0])], attrs(0, False))
        w.case(name, "nan", lambda x, f=fn: f(x, 0), [torch.tensor([1.0, NAN, 5.0, NAN])], attrs(0, False))
        w.case(name, "int", lambda x, f=fn: f(x, 0), [w.randint(-50, 50, (7, 3))], attrs(0, False))
        w.case(name, "zero_dim", lambda x, f=fn: f(x, 0), [torch.tensor(3.0)], attrs(0, False))
        w.case(name, "no_rows", lambda x, f=fn: f(x, 1), [torch.zeros(0, 3)], attrs(1, False))
        flat = [("none", None), ("bool", False)]
        grid = torch.tensor([[3.0, -1.0, 5.0], [2.0, 5.0, -1.0]])
        w.case(name, "whole", lambda x, f=fn: f(x), [grid], flat)
        w.case(name, "whole_keepdim", lambda x, f=fn: f(x, keepdim=True), [grid.long()], [flat[0], ("bool", True)])
        w.case(name, "whole_nan", lambda x, f=fn: f(x), [torch.tensor([[0.0, 1.0], [NAN, NAN]])], flat)
        w.case(name, "whole_zero_dim", lambda x, f=fn: f(x), [torch.tensor(3.0)], flat)

    for name, fn in (("any", torch.any), ("all", torch.all)):
        w.case(name, "bool", fn, [torch.tensor([[True, False], [False, False]])])
        w.case(name, "all_true", fn, [torch.ones(70, dtype=torch.bool)])
        w.case(name, "all_false", fn, [torch.zeros(70, dtype=torch.bool)])
        w.case(name, "float", fn, [torch.tensor([0.0, NAN, 0.0])], grad=False)
        w.case(name, "int", fn, [torch.tensor([0, 0, 3])])
        w.case(name, "empty", fn, [torch.zeros(0, dtype=torch.bool)])
        w.case(name, "zero_dim", fn, [torch.tensor(True)])

    var_attrs = [("dims", []), ("int", 1), ("bool", False)]
    for name, fn in (("var", torch.var), ("std", torch.std)):
        w.case(name, "constant", fn, [torch.full((4,), 1.5)], var_attrs, gradcheck="no")
        w.case(name, "one_element", fn, [torch.tensor([2.0])], var_attrs, gradcheck="no", grad=False)
        w.case(name, "offset", fn, [w.randn(50) + 1000.0], var_attrs, gradcheck="no", grad=False, tol="1e-4")

    w.case("logsumexp", "large", lambda x: torch.logsumexp(x, (0,)), [torch.tensor([1000.0, 1000.0, -1000.0])],
           [("dims", [0]), ("bool", False)], gradcheck="no")
    w.case("logsumexp", "infinities", lambda x: torch.logsumexp(x, (1,)),
           [torch.tensor([[-math.inf, -math.inf], [math.inf, 1.0], [NAN, 0.0]])], [("dims", [1]), ("bool", False)],
           gradcheck="no", grad=False)
    w.case("logsumexp", "zero_dim", lambda x: torch.logsumexp(x, (0,)), [torch.tensor(1.5)], [("dims", [0]), ("bool", False)])

    w.case("norm", "matrix", torch.norm, [w.randn(3, 4)], tol="2e-6")
    w.case("norm", "long", torch.norm, [w.randn(300)], tol="2e-6", gradcheck="no")
    w.case("norm", "float64", torch.norm, [w.randn(5, dtype=F64)])
    w.case("norm", "zero_vector", torch.norm, [torch.zeros(3)], gradcheck="no")
    w.case("norm", "zero_dim", torch.norm, [torch.tensor(-2.0)])
    w.case("norm", "empty", torch.norm, [torch.zeros(0)], gradcheck="no")

    for label, dim in (("first", 0), ("last", -1), ("middle", 1)):
        w.case("cumsum", label, lambda x, d=dim: torch.cumsum(x, d), [w.randn(3, 4, 2)], [("int", dim)], tol="2e-6")
    w.case("cumsum", "int", lambda x: torch.cumsum(x, 0), [w.randint(-9, 9, (6,))], [("int", 0)])
    w.case("cumsum", "bool", lambda x: torch.cumsum(x, 0), [w.randint(0, 2, (6,), torch.bool)], [("int", 0)])
    w.case("cumsum", "zero_dim", lambda x: torch.cumsum(x, 0), [torch.tensor(1.5)], [("int", 0)])
    w.case("cumsum", "empty", lambda x: torch.cumsum(x, 0), [torch.zeros(0, 2)], [("int", 0)])
