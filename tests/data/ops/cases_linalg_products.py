# SPDX-License-Identifier: Apache-2.0
import math

import torch

F64 = torch.float64


def floats(**numbers):
    return [("float", float(v)) for v in numbers.values()]


def cases(w):
    r = w.randn
    ints = lambda *s: w.randint(-9, 9, s)
    tol = {"tol": "1e-5"}
    w.case("mv", "plain", torch.mv, [r(3, 4), r(4)], **tol)
    w.case("mv", "float64", torch.mv, [r(3, 4, dtype=F64), r(4, dtype=F64)])
    w.case("mv", "inner_zero", torch.mv, [r(3, 0), r(0)])
    w.case("mv", "int", torch.mv, [ints(3, 4), ints(4)])
    for name in ("dot", "vdot"):
        fn = getattr(torch, name)
        w.case(name, "plain", fn, [r(5), r(5)], **tol)
        w.case(name, "long", fn, [r(67), r(67)], gradcheck="no", tol="2e-5")
        w.case(name, "float64", fn, [r(5, dtype=F64), r(5, dtype=F64)])
        w.case(name, "empty", fn, [r(0), r(0)])
        w.case(name, "int", fn, [ints(4), ints(4)])
    w.case("outer", "plain", torch.outer, [r(3), r(4)])
    w.case("outer", "promoted", torch.outer, [r(3, dtype=F64), r(2)])
    w.case("outer", "empty", torch.outer, [r(0), r(4)])
    w.case("outer", "int_bool", torch.outer, [ints(3), torch.tensor([True, False])])
    w.case("outer", "bool", torch.outer, [torch.tensor([True, False]), torch.tensor([True, True, False])])
    w.case("outer", "specials", torch.outer, [torch.tensor([math.inf, 0.0]), torch.tensor([0.0, -1.0])], gradcheck="no")
    shapes = {"addmm": ((3, 4), (4, 2), (3, 2)), "addmv": ((3, 4), (4,), (3,)), "addr": ((3,), (4,), (3, 4)),
              "addbmm": ((2, 3, 4), (2, 4, 2), (3, 2)), "baddbmm": ((2, 3, 4), (2, 4, 2), (2, 3, 2))}
    for name, (a, b, c) in shapes.items():
        fn = getattr(torch, name)
        scaled = lambda beta, alpha: (lambda x, y, z, f=fn: f(x, y, z, beta=beta, alpha=alpha))
        one = floats(beta=1, alpha=1)
        w.case(name, "plain", fn, [r(*c), r(*a), r(*b)], one, **tol)
        w.case(name, "scaled", scaled(0.5, -2.0), [r(*c), r(*a), r(*b)], floats(beta=0.5, alpha=-2), **tol)
        w.case(name, "float64", scaled(2.0, 1.0), [r(*s, dtype=F64) for s in (c, a, b)], floats(beta=2, alpha=1))
        w.case(name, "broadcast", fn, [r(1), r(*a), r(*b)], one, **tol)
        w.case(name, "zero_dim", fn, [r(), r(*a), r(*b)], one, **tol)
        # The input is not read: NaN does not come through.
        w.case(name, "beta_zero", scaled(0.0, 1.0), [torch.full(c, math.nan), r(*a), r(*b)], floats(beta=0, alpha=1),
               gradcheck="no", constant="0", **tol)
        w.case(name, "int", lambda x, y, z, f=fn: f(x, y, z, beta=2, alpha=-3), [ints(*c), ints(*a), ints(*b)],
               floats(beta=2, alpha=-3))
    w.case("addmm", "inner_zero", torch.addmm, [r(3, 2), r(3, 0), r(0, 2)], floats(beta=1, alpha=1), gradcheck="no")
    w.case("baddbmm", "empty", torch.baddbmm, [r(0, 3, 2), r(0, 3, 4), r(0, 4, 2)], floats(beta=1, alpha=1))
    w.case("addmm", "larger", torch.addmm, [r(23), r(19, 37), r(37, 23)], floats(beta=1, alpha=1), gradcheck="no", tol="3e-5")
    for p in (2.0, 1.0, 3.0, 0.5, math.inf, 0.0):
        fn = lambda x, y, p=p: torch.cdist(x, y, p=p, compute_mode="donot_use_mm_for_euclid_dist")
        label = str(p).replace(".", "_")
        w.case("cdist", "p" + label, fn, [r(3, 4), r(2, 4)], floats(p=p), tol="1e-5",
               **({"second": "no", "gradcheck": "no"} if p in (0.0,) else {}))
        w.case("cdist", "batches_p" + label, fn, [r(2, 3, 2, dtype=F64), r(1, 2, 2, dtype=F64)], floats(p=p), tol="1e-9",
               **({"gradcheck": "no"} if p in (0.0,) else {}))
    euclid = lambda x, y: torch.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist")
    same = r(2, 3)
    w.case("cdist", "equal_rows", euclid, [same, same.clone()], floats(p=2), gradcheck="no", tol="1e-5")
    w.case("cdist", "no_columns", euclid, [r(2, 0), r(3, 0)], floats(p=2), gradcheck="no")
    w.case("cdist", "empty", euclid, [r(0, 3), r(2, 3)], floats(p=2))
