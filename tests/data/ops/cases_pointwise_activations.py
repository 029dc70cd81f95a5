# SPDX-License-Identifier: Apache-2.0
import math

import torch
import torch.nn.functional as F

F64 = torch.float64
INF = math.inf
NAN = math.nan
aten = torch.ops.aten


def exact(fn):
    def run(x):
        return fn(x) if x.dtype == F64 else fn(x.double()).to(torch.float32)
    return run


def plain(w):
    away = lambda *s, **k: torch.sign(w.randn(*s, **k)) * w.rand(*s, low=0.1, high=2.4, **k)
    # PyTorch's own hardsigmoid and celu use float32 constants in float64, unless alpha is a power of 2.
    table = [
        ("hardtanh", lambda x: F.hardtanh(x, -1.5, 0.7), [("float", -1.5), ("float", 0.7)]),
        ("relu6", F.relu6, []), ("hardswish", F.hardswish, []), ("hardsigmoid", lambda x: F.relu6(x + 3) / 6, []),
        ("mish", F.mish, []), ("selu", F.selu, []), ("celu", lambda x: F.celu(x, 2.0), [("float", 2.0)]),
        ("logsigmoid", F.logsigmoid, []), ("softsign", F.softsign, []), ("tanhshrink", F.tanhshrink, []),
        ("hardshrink", lambda x: F.hardshrink(x, 0.8), [("float", 0.8)]),
        ("softshrink", lambda x: F.softshrink(x, 0.8), [("float", 0.8)]),
        ("threshold", lambda x: F.threshold(x, 0.6, -7.5), [("float", 0.6), ("float", -7.5)]),
        ("gelu_tanh", lambda x: F.gelu(x, approximate="tanh"), []),
    ]
    for name, fn, attrs in table:
        value = exact(fn)
        w.case(name, "matrix", value, [away(3, 5)], attrs)
        w.case(name, "zero_dim", value, [away(1).reshape(())], attrs)
        w.case(name, "empty", value, [away(0, 2)], attrs)
        w.case(name, "float64", fn, [away(7, dtype=F64)], attrs)
        w.case(name, "long", value, [away(2, 19)], attrs, gradcheck="no")
        w.case(name, "specials", value, [torch.tensor([0.0, -0.0, INF, NAN, -30.0, 30.0, -3.5, 3.5, 6.5, 90.0])], attrs,
               grad=False, gradcheck="no")
    for name, fn, attrs in [("hardtanh", F.hardtanh, [("float", -1.0), ("float", 1.0)]), ("relu6", F.relu6, []),
                            ("threshold", lambda x: F.threshold(x, 1, 20), [("float", 1.0), ("float", 20.0)])]:
        w.case(name, "int", fn, [torch.tensor([-3, 0, 1, 4, 9])], attrs)
    w.case("celu", "negative_alpha", lambda x: F.celu(x, -0.5), [away(4)], [("float", -0.5)])
    w.case("hardtanh", "on_the_bounds", F.hardtanh, [torch.tensor([-1.0, 1.0, 0.0])], gradcheck="no")
    w.case("hardsigmoid", "values", F.hardsigmoid, [away(5)])
    w.case("hardswish", "on_the_bounds", F.hardswish, [torch.tensor([-3.0, 3.0, 0.0])], gradcheck="no")
    w.case("hardshrink", "on_the_bounds", F.hardshrink, [torch.tensor([-0.5, 0.5, 0.0])], gradcheck="no")
    w.case("threshold", "on_the_bound", lambda x: F.threshold(x, 1.0, 5.0), [torch.tensor([1.0, 1.5])],
           [("float", 1.0), ("float", 5.0)], gradcheck="no")

    g, x = w.randn(3, 4), away(3, 4)

    def hardswish_backward(a, b):
        return a * torch.where(b < -3, torch.zeros_like(b), torch.where(b > 3, torch.ones_like(b), b / 3 + 0.5))

    def mish_backward(a, b):  # PyTorch's own has no derivative
        t = torch.tanh(F.softplus(b.double()))
        return (a.double() * (t + b.double() * torch.sigmoid(b.double()) * (1 - t * t))).to(b.dtype)

    w.case("hardswish_backward", "matrix", hardswish_backward, [g, x])
    w.case("hardswish_backward", "tails", hardswish_backward, [w.randn(4), torch.tensor([-4.0, 4.0, -2.9, 2.9])])
    w.case("hardswish_backward", "values", aten.hardswish_backward, [w.randn(4), x[0]], grad=False)
    w.case("mish_backward", "matrix", mish_backward, [g, x])
    w.case("mish_backward", "values", aten.mish_backward, [w.randn(4), x[0]], grad=False)
    w.case("gelu_tanh_backward", "matrix", lambda a, b: aten.gelu_backward(a, b, approximate="tanh"), [g, x])


def parametric(w):
    away = lambda *s, **k: torch.sign(w.randn(*s, **k)) * w.rand(*s, low=0.1, high=2.4, **k)
    w.case("prelu", "one_slope", F.prelu, [away(3, 4), w.rand(1)])
    w.case("prelu", "channels", F.prelu, [away(2, 3, 4), w.rand(3)])
    w.case("prelu", "images", F.prelu, [away(1, 2, 2, 2), w.rand(2)])
    w.case("prelu", "rows", F.prelu, [away(2, 3), w.rand(3)])
    w.case("prelu", "vector", F.prelu, [away(4), w.rand(1)])
    w.case("prelu", "zero_dim", F.prelu, [away(1).reshape(()), w.rand(1)])
    w.case("prelu", "float64", F.prelu, [away(2, 3, dtype=F64), w.rand(3, dtype=F64)])
    w.case("prelu", "empty", F.prelu, [away(0, 3), w.rand(3)])
    w.case("prelu", "specials", F.prelu, [torch.tensor([0.0, INF, -INF, NAN]), torch.tensor([0.25])], gradcheck="no")
    glu = lambda d: (lambda x: F.glu(x, d))
    w.case("glu", "last", glu(-1), [w.randn(3, 4)], [("int", -1)])
    w.case("glu", "first", glu(0), [w.randn(4, 3)], [("int", 0)])
    w.case("glu", "middle", glu(1), [w.randn(2, 6, 2)], [("int", 1)])
    w.case("glu", "vector", glu(0), [w.randn(6)], [("int", 0)])
    w.case("glu", "float64", glu(1), [w.randn(2, 4, dtype=F64)], [("int", 1)])
    w.case("glu", "empty", glu(1), [w.randn(0, 4)], [("int", 1)])


def cases(w):
    plain(w)
    parametric(w)
