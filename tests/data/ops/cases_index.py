# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn.functional as F


def cases(w):
    dim = lambda d: [("int", d)]
    I = lambda values: torch.tensor(values, dtype=torch.int64)
    r = w.randn

    w.case("index_select", "middle", lambda x, i: x.index_select(1, i), [r(2, 4, 2), I([3, 0, 3])], dim(1))
    w.case("index_select", "rows", lambda x, i: x.index_select(0, i), [r(4, 3), I([2, 2, 1])], dim(0))
    w.case("index_select", "nothing", lambda x, i: x.index_select(0, i), [r(4, 3), I([])], dim(0))
    w.case("index_select", "bool", lambda x, i: x.index_select(-1, i), [w.randint(0, 2, (2, 4), torch.bool), I([3, 0])],
           dim(-1))
    w.case("index_select", "scalar_index", lambda x, i: x.index_select(0, i), [r(4, 3), I(2)], dim(0))
    w.case("gather", "columns", lambda x, i: x.gather(1, i), [r(3, 4), I([[0, 3], [1, 1], [2, 0]])], dim(1))
    w.case("gather", "rows", lambda x, i: x.gather(-2, i), [r(3, 4), I([[0, 2, 1]])], dim(-2))
    w.case("gather", "int", lambda x, i: x.gather(0, i), [w.randint(-9, 9, (4,)), I([3, 3, 0])], dim(0))
    w.case("gather", "scalar", lambda x, i: x.gather(0, i), [torch.tensor(1.5), I(0)], dim(0))
    w.case("scatter_add", "columns", lambda x, i, s: x.scatter_add(1, i, s),
           [r(2, 4), I([[0, 3, 0], [1, 1, 2]]), r(2, 3)], dim(1))
    w.case("scatter_add", "rows", lambda x, i, s: x.scatter_add(0, i, s),
           [r(3, 2), I([[0, 2], [2, 2], [0, 1]]), r(3, 2)], dim(0))
    w.case("scatter_add", "int", lambda x, i, s: x.scatter_add(0, i, s),
           [w.randint(-9, 9, (3,)), I([2, 2, 0]), w.randint(-9, 9, (3,))], dim(0))
    w.case("index_add", "columns", lambda x, i, s: x.index_add(1, i, s), [r(2, 4), I([3, 1, 3]), r(2, 3)], dim(1))
    w.case("index_add", "rows", lambda x, i, s: x.index_add(0, i, s), [r(4, 2), I([2, 2, 0]), r(3, 2)], dim(0))
    w.case("one_hot", "matrix", lambda i: F.one_hot(i, 4), [I([[0, 3], [2, 1]])], [("int", 4)])
    w.case("one_hot", "scalar", lambda i: F.one_hot(i, 3), [I(1)], [("int", 3)])
    w.case("one_hot", "empty", lambda i: F.one_hot(i, 3), [I([])], [("int", 3)])
