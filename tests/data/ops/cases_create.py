# SPDX-License-Identifier: Apache-2.0
import torch

F64 = torch.float64


def cases(w):
    for name, fn in (("zeros", torch.zeros), ("ones", torch.ones)):
        for dtype in (torch.float32, F64, torch.int64, torch.bool):
            label = str(dtype).replace("torch.", "")
            w.case(name, label, lambda f=fn, d=dtype: f(2, 3, dtype=d), [], [("dims", [2, 3]), ("dtype", dtype)])
        w.case(name, "zero_dim", lambda f=fn: f(()), [], [("dims", []), ("dtype", torch.float32)])
        w.case(name, "empty", lambda f=fn: f(0, 2), [], [("dims", [0, 2]), ("dtype", torch.float32)])
    full = lambda size, value, dtype: w.case(
        "full", f"{dtype}".replace("torch.", ""), lambda: torch.full(size, value, dtype=dtype), [],
        [("float", float(value)), ("dims", list(size)), ("dtype", dtype)])
    full((2, 2), -1.25, torch.float32)
    full((3,), 0.1, F64)
    full((), 7, torch.int64)
    full((2,), 1, torch.bool)
    arange = lambda label, a, b, s, dtype: w.case(
        "arange", label, lambda: torch.arange(a, b, s, dtype=dtype), [],
        [("float", float(a)), ("float", float(b)), ("float", float(s)), ("dtype", dtype)])
    arange("counting", 0, 5, 1, torch.int64)
    arange("backwards", 5, -3, -2, torch.int64)
    arange("nothing", 3, 3, 1, torch.int64)
    arange("float32", 0, 1, 0.1, torch.float32)
    arange("float64", -1, 1, 0.25, F64)
    w.case("eye", "three", lambda: torch.eye(3), [], [("int", 3), ("dtype", torch.float32)])
    w.case("eye", "none", lambda: torch.eye(0), [], [("int", 0), ("dtype", torch.float32)])
    w.case("eye", "int", lambda: torch.eye(2, dtype=torch.int64), [], [("int", 2), ("dtype", torch.int64)])
    for name, fn in (("zeros_like", torch.zeros_like), ("ones_like", torch.ones_like)):
        w.case(name, "float", fn, [w.randn(2, 3)])
        w.case(name, "int", fn, [w.randint(0, 5, (4,))])
        w.case(name, "zero_dim", fn, [torch.tensor(2.0, dtype=F64)])
