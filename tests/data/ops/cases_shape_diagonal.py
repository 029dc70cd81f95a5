# SPDX-License-Identifier: Apache-2.0
import torch

F64 = torch.float64


def cases(w):
    r = w.randn
    ints = lambda *v: [("int", i) for i in v]
    for offset in (0, 1, -1, 2, 5, -9):
        w.case("diagonal", f"offset_{offset}", lambda x, o=offset: torch.diagonal(x, o), [r(3, 4)], ints(offset, 0, 1),
               gradcheck="no" if abs(offset) > 3 else "yes")
        w.case("tril", f"offset_{offset}", lambda x, o=offset: torch.tril(x, o), [r(3, 4)], ints(offset))
        w.case("triu", f"offset_{offset}", lambda x, o=offset: torch.triu(x, o), [r(3, 4)], ints(offset))
    w.case("diagonal", "dims", lambda x: torch.diagonal(x, 1, -1, 0), [r(3, 2, 4)], ints(1, -1, 0))
    w.case("diagonal", "int", torch.diagonal, [w.randint(-9, 9, (2, 3))], ints(0, 0, 1))
    for name, fn in (("tril", torch.tril), ("triu", torch.triu)):
        w.case(name, "batch", lambda x, f=fn: f(x), [r(2, 3, 2)], ints(0))
        w.case(name, "bool", lambda x, f=fn: f(x), [torch.ones(3, 3, dtype=torch.bool)], ints(0))
        w.case(name, "int", lambda x, f=fn: f(x, 1), [w.randint(1, 9, (3, 2))], ints(1))
        w.case(name, "empty", lambda x, f=fn: f(x), [torch.zeros(0, 3)], ints(0))
        w.case(name, "float64", lambda x, f=fn: f(x), [r(2, 2, dtype=F64)], ints(0))
    for offset in (0, 1, -2):
        w.case("diag", f"vector_{offset}", lambda x, o=offset: torch.diag(x, o), [r(3)], ints(offset))
        w.case("diag", f"matrix_{offset}", lambda x, o=offset: torch.diag(x, o), [r(3, 4)], ints(offset))
        w.case("diagflat", f"offset_{offset}", lambda x, o=offset: torch.diagflat(x, o), [r(2, 2)], ints(offset))
        w.case("diag_embed", f"offset_{offset}", lambda x, o=offset: torch.diag_embed(x, o), [r(2, 3)], ints(offset, -2, -1))
    w.case("diag_embed", "dims", lambda x: torch.diag_embed(x, 1, 0, 2), [r(2, 3)], ints(1, 0, 2))
    w.case("diag_embed", "swapped", lambda x: torch.diag_embed(x, 1, 2, 0), [r(2, 3)], ints(1, 2, 0))
    w.case("diag_embed", "int", torch.diag_embed, [torch.tensor([1, 2])], ints(0, -2, -1))
    w.case("diagflat", "zero_dim", torch.diagflat, [torch.tensor(2.5)], ints(0))
    w.case("diag", "empty", torch.diag, [torch.zeros(0)], ints(0))
    w.case("trace", "wide", torch.trace, [r(3, 4)])
    w.case("trace", "float64", torch.trace, [r(3, 3, dtype=F64)])
    w.case("trace", "int", torch.trace, [w.randint(-9, 9, (3, 3))])
    w.case("diagonal_scatter", "offset", lambda x, s: torch.diagonal_scatter(x, s, 1), [r(3, 4), r(3)], ints(1, 0, 1))
    w.case("diagonal_scatter", "batch", lambda x, s: torch.diagonal_scatter(x, s, 0, 1, 2), [r(2, 3, 3), r(2, 3)],
           ints(0, 1, 2))
    w.case("select_scatter", "row", lambda x, s: torch.select_scatter(x, s, 0, 1), [r(3, 2), r(2)], ints(0, 1))
    w.case("select_scatter", "negative", lambda x, s: torch.select_scatter(x, s, -1, -2), [r(2, 3), r(2)], ints(-1, -2))
    w.case("select_scatter", "int", lambda x, s: torch.select_scatter(x, s, 0, 0), [torch.tensor([1, 2]), torch.tensor(7)],
           ints(0, 0))
    w.case("slice_scatter", "step", lambda x, s: torch.slice_scatter(x, s, 1, 1, 7, 2), [r(2, 7), r(2, 3)], ints(1, 1, 7, 2))
    w.case("slice_scatter", "clamped", lambda x, s: torch.slice_scatter(x, s, 0, -2, 100, 1), [r(5, 2), r(2, 2)],
           ints(0, -2, 100, 1))
    w.case("slice_scatter", "empty", lambda x, s: torch.slice_scatter(x, s, 0, 3, 3, 1), [r(5, 2), r(0, 2)],
           ints(0, 3, 3, 1))
