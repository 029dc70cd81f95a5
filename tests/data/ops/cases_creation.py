# SPDX-License-Identifier: Apache-2.0
import torch

F64 = torch.float64


def cases(w):
    def linspace(label, a, b, n, dtype=torch.float32):
        w.case("linspace", label, lambda: torch.linspace(a, b, n, dtype=dtype), [],
               [("float", float(a)), ("float", float(b)), ("int", n), ("dtype", dtype)])

    linspace("upwards", 3, 10, 5)
    linspace("downwards", 1, -1, 8)
    linspace("one", 2.5, 9, 1)
    linspace("none", 0, 1, 0)
    linspace("float64", -0.1, 0.3, 7, F64)
    linspace("int", 0, 10, 4, torch.int64)
    linspace("int_downwards", 7, -7, 5, torch.int64)

    def logspace(label, a, b, n, base=10.0, dtype=torch.float32):
        w.case("logspace", label, lambda: torch.logspace(a, b, n, base=base, dtype=dtype), [],
               [("float", float(a)), ("float", float(b)), ("int", n), ("float", float(base)), ("dtype", dtype)])

    logspace("decades", -2, 2, 5)
    logspace("octaves", 0, 8, 9, 2.0)
    logspace("one", 0.5, 9, 1)
    logspace("none", 0, 1, 0)
    logspace("float64", 0.1, 1.0, 4, 10.0, F64)

    for name, fn in (("tril_indices", torch.tril_indices), ("triu_indices", torch.triu_indices)):
        for rows, columns, offset in [(3, 3, 0), (4, 3, 1), (3, 4, -1), (3, 4, 2), (2, 5, -3), (2, 3, 9), (2, 3, -9), (0, 3, 0),
                                      (3, 0, 0), (1, 1, 0), (5, 2, -2), (5, 2, -4)]:
            label = f"{rows}x{columns}_{offset}".replace("-", "minus")
            w.case(name, label, lambda f=fn, r=rows, c=columns, o=offset: f(r, c, o), [],
                   [("int", rows), ("int", columns), ("int", offset)])

    full = lambda x: torch.full_like(x, -2.0)
    w.case("full_like", "float", full, [w.randn(2, 3)], [("float", -2.0)], grad=False)
    w.case("full_like", "int", full, [w.randint(0, 5, (4,))], [("float", -2.0)])
    w.case("full_like", "float64", full, [w.randn(1, dtype=F64).reshape(())], [("float", -2.0)], grad=False)
    w.case("full_like", "empty", full, [w.randn(0, 2)], [("float", -2.0)], grad=False)

    for n, m in [(2, 4), (4, 2), (0, 3), (3, 0)]:
        w.case("eye", f"{n}x{m}", lambda n=n, m=m: torch.eye(n, m), [], [("int", n), ("dtype", torch.float32), ("int", m)])
