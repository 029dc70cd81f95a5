# SPDX-License-Identifier: Apache-2.0
import torch

F64 = torch.float64


def cases(w):
    r = w.randn
    I = lambda v: torch.tensor(v, dtype=torch.int64)
    B = lambda v: torch.tensor(v, dtype=torch.bool)

    def where(indices):
        return tuple(slice(None) if i is None else i for i in indices)

    def both(label, x, indices, values=None, **o):
        w.case("index", label, lambda a, *i: a[where(i)], [x] + indices, **o)
        part = x[where(indices)]
        given = r(*part.shape).to(x.dtype) if x.is_floating_point() else w.randint(-9, 9, tuple(part.shape))
        for name in ("index_put", "index_put_"):
            for accumulate in (False, True):
                def put(a, v, *i, accumulate=accumulate):
                    b = a.clone()
                    if accumulate:
                        return torch.ops.aten.index_put(b, [None if j is None else j for j in i], v, True)
                    b[where(i)] = v
                    return b
                w.case(name, f"{label}_{accumulate}", put, [x, given] + indices, [("bool", accumulate)])
    both("vector", r(5), [I([3, 0, -1])])
    both("rows", r(4, 2), [I([3, 0])])
    both("columns", r(2, 4), [None, I([3, 1])])
    both("pairs", r(3, 4), [I([0, 2, 1]), I([3, -4, 0])])
    both("grid", r(3, 4), [I([[0], [2]]), I([[3, 0]])])
    both("first_and_last", r(2, 3, 4), [I([1, 0]), None, I([3, 2])])
    both("neighbours", r(2, 3, 4), [None, I([1, 0]), I([3, 2])])
    both("matrix", r(4, 2), [I([[0, 1], [3, 2]])])
    both("scalar_index", r(3, 2), [I(1)])
    both("mask", r(2, 3), [B([[True, False, True], [False, False, True]])])
    both("mask_rows", r(3, 2), [B([True, False, True])])
    both("mask_columns", r(2, 3), [None, B([True, False, True])])
    both("mask_and_index", r(3, 4), [B([True, False, True]), I([1, 3])])
    both("no_mask", r(3, 2), [B([False, False, False])])
    both("int", w.randint(-9, 9, (4, 2)), [I([3, 1])])
    both("float64", r(4, dtype=F64), [I([3, 1])])
    both("empty", r(4, 2), [I([])])
    w.case("index", "repeats", lambda x, i: x[i], [r(3, 2), I([1, 1, 0, 1])])
    w.case("index", "repeated_pairs", lambda x, i, j: x[i, j], [r(3, 2), I([1, 1, 0]), I([0, 0, 1])])
    for name in ("index_put", "index_put_"):
        acc = [("bool", True)]
        w.case(name, "repeats", lambda x, v, i: x.index_put((i,), v, True), [r(3), r(4), I([1, 1, 0, 1])], acc)
        w.case(name, "one_value", lambda x, v, i: x.index_put((i,), v), [r(3, 2), torch.tensor(2.5), I([2, 0])], [("bool", False)])
        w.case(name, "row_value", lambda x, v, i: x.index_put((i,), v, True), [r(3, 2), r(2), I([2, 0, 2])], acc)

    w.case("nonzero", "matrix", torch.nonzero, [I([[0, 3, 0], [1, 0, 2]])])
    w.case("nonzero", "float", torch.nonzero, [torch.tensor([0.0, -0.0, 1.5, float("nan")])], grad=False)
    w.case("nonzero", "bool", torch.nonzero, [B([[[True], [False]], [[True], [True]]])])
    w.case("nonzero", "none", torch.nonzero, [torch.zeros(3, 2)], grad=False)
    w.case("nonzero", "zero_dim", torch.nonzero, [I(3)])
    w.case("nonzero", "empty", torch.nonzero, [torch.zeros(0, 2)], grad=False)
    w.case("argwhere", "matrix", torch.argwhere, [I([[0, 3, 0], [1, 0, 2]])])
    w.case("argwhere", "zero_dim", torch.argwhere, [I(3)])
    mask = B([[True, False, True], [False, True, True]])
    w.case("masked_select", "matrix", torch.masked_select, [r(2, 3), mask])
    w.case("masked_select", "broadcast_mask", torch.masked_select, [r(2, 3), B([True, False, True])])
    w.case("masked_select", "broadcast_input", torch.masked_select, [r(3), mask])
    w.case("masked_select", "none", torch.masked_select, [r(2), B([False, False])], gradcheck="no")
    w.case("masked_select", "int", torch.masked_select, [w.randint(-9, 9, (2, 3)), mask])
    w.case("masked_select", "zero_dim", torch.masked_select, [torch.tensor(1.5), B(True)])
    for name in ("masked_scatter", "masked_scatter_"):
        w.case(name, "matrix", lambda x, m, s: x.masked_scatter(m, s), [r(2, 3), mask, r(4)])
        w.case(name, "longer_source", lambda x, m, s: x.masked_scatter(m, s), [r(2, 3), mask, r(2, 3)])
        w.case(name, "broadcast_mask", lambda x, m, s: x.masked_scatter(m, s), [r(2, 3), B([True, False, True]), r(4)])
        w.case(name, "int", lambda x, m, s: x.masked_scatter(m, s), [w.randint(-9, 9, (2, 3)), mask, I([1, 2, 3, 4])])
    w.case("take", "matrix", torch.take, [r(2, 3), I([[0, 5], [-1, 2]])])
    w.case("take", "repeats", torch.take, [r(4), I([1, 1, 3])])
    w.case("take", "int", torch.take, [w.randint(-9, 9, (2, 3)), I([4])])
    w.case("take", "zero_dim", torch.take, [torch.tensor(1.5), I([0, 0])])
    for name in ("put", "put_"):
        for accumulate in (False, True):
            w.case(name, f"matrix_{accumulate}", lambda x, i, s, a=accumulate: x.put(i, s, a), [r(2, 3), I([[0, -1], [2, 3]]), r(4)],
                   [("bool", accumulate)])
        w.case(name, "repeats", lambda x, i, s: x.put(i, s, True), [r(4), I([1, 1, 3]), r(3)], [("bool", True)])
        w.case(name, "int", lambda x, i, s: x.put(i, s), [w.randint(-9, 9, (2, 2)), I([3]), I([7])], [("bool", False)])
    d = lambda v: [("none", None) if v is None else ("int", v)]
    w.case("take_along_dim", "rows", lambda x, i: torch.take_along_dim(x, i, 0), [r(3, 2), I([[2, 0], [1, 1]])], d(0))
    w.case("take_along_dim", "broadcast", lambda x, i: torch.take_along_dim(x, i, 1), [r(2, 3), I([[2, 0]])], d(1))
    w.case("take_along_dim", "broadcast_input", lambda x, i: torch.take_along_dim(x, i, -1), [r(1, 3), I([[2], [0]])], d(-1))
    w.case("take_along_dim", "flat", lambda x, i: torch.take_along_dim(x, i), [r(2, 3), I([5, 0, 1])], d(None))
