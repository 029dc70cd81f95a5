# SPDX-License-Identifier: Apache-2.0
"""In-place forms made from out-of-place rows (engine/ops/pointwise_inplace_forms.cpp)."""
import torch
import torch.nn.functional as F

from make_reference import Number

F64 = torch.float64


def write(fn):
    """A function of PyTorch as an in-place one: what it gives goes into its first argument."""
    return lambda x, *rest: x.copy_(fn(x.clone(), *rest))


def unary(w):
    away = lambda *s, **k: torch.sign(w.randn(*s, **k)) * w.rand(*s, low=0.2, high=2.4, **k)
    positive = lambda *s, **k: w.rand(*s, low=0.2, high=3.0, **k)
    floats = lambda *v: [("float", float(x)) for x in v]
    table = [(name, getattr(torch, name), away, []) for name in (
        "neg", "abs", "sign", "exp", "exp2", "expm1", "square", "reciprocal", "sin", "cos", "tan", "sinh", "cosh",
        "tanh", "erf", "erfc", "sigmoid", "floor", "ceil", "trunc", "frac", "round", "nan_to_num")]
    table += [(name, getattr(torch, name), positive, []) for name in ("log", "log2", "log10", "log1p", "sqrt", "rsqrt")]
    table += [
        ("clamp", lambda x: torch.clamp(x, -0.9, 1.1), away, floats(-0.9, 1.1)),
        ("leaky_relu", lambda x: F.leaky_relu(x, 0.3), away, floats(0.3)),
        ("elu", lambda x: F.elu(x, 0.7), away, floats(0.7)), ("selu", F.selu, away, []),
        ("celu", lambda x: F.celu(x, 0.5), away, floats(0.5)), ("silu", F.silu, away, []), ("mish", F.mish, away, []),
        ("hardtanh", lambda x: F.hardtanh(x, -1.5, 0.7), away, floats(-1.5, 0.7)), ("relu6", F.relu6, away, []),
        ("hardswish", F.hardswish, away, []), ("hardsigmoid", lambda x: F.relu6(x + 3) / 6, away, []),
        ("threshold", lambda x: F.threshold(x, 0.6, -7.5), away, floats(0.6, -7.5)),
    ]
    integers = {"neg", "abs", "sign", "square", "floor", "ceil", "trunc", "round", "relu6", "nan_to_num"}
    for name, fn, sample, attrs in table:
        exact = lambda x, f=fn: f(x.double()).to(x.dtype)
        w.case(name + "_", "matrix", write(exact), [sample(2, 3)], attrs)
        w.case(name + "_", "float64", write(fn), [sample(3, dtype=F64)], attrs)
        w.case(name + "_", "empty", write(fn), [sample(0)], attrs)
        if name in integers:
            w.case(name + "_", "int", write(fn), [torch.tensor([3, -2, 0, 7])], attrs)


def binary(w):
    away = lambda *s, **k: torch.sign(w.randn(*s, **k)) * w.rand(*s, low=0.6, high=1.7, **k)
    positive = lambda *s, **k: w.rand(*s, low=0.3, high=2.0, **k)
    floor = lambda a, b: torch.div(a, b, rounding_mode="floor")
    for name, fn, first in [("pow", torch.pow, positive), ("remainder", torch.remainder, away), ("fmod", torch.fmod, away),
                            ("floor_divide", floor, away), ("atan2", torch.atan2, away),
                            ("clamp_min", torch.clamp_min, away), ("clamp_max", torch.clamp_max, away)]:
        w.case(name + "_", "same_shape", write(fn), [first(2, 3), away(2, 3)])
        w.case(name + "_", "broadcast", write(fn), [first(2, 3), away(3)])
        w.case(name + "_", "number", write(lambda x, v, f=fn: f(x, torch.tensor(v, dtype=x.dtype))), [first(4), Number(1.5)])
        w.case(name + "_", "float64", write(fn), [first(3, dtype=F64), away(3, dtype=F64)])
        if name != "atan2":
            w.case(name + "_", "int_number", write(fn), [torch.tensor([7, -7, 3]), Number(2)])
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        fn = write(getattr(torch, name))
        w.case(name + "_", "int", fn, [w.randint(-99, 99, (2, 3)), w.randint(-99, 99, (3,))])
        w.case(name + "_", "bool", fn, [torch.tensor([True, True, False]), torch.tensor([True, False, False])])


def others(w):
    away = lambda *s, **k: torch.sign(w.randn(*s, **k)) * w.rand(*s, low=0.5, high=2.0, **k)
    mask = w.randint(0, 2, (2, 3), torch.bool)
    fill = lambda x, m: x.masked_fill_(m, -1.5)
    w.case("masked_fill_", "same_shape", fill, [w.randn(2, 3), mask], [("float", -1.5)])
    w.case("masked_fill_", "broadcast", fill, [w.randn(2, 3), mask[0]], [("float", -1.5)])
    w.case("masked_fill_", "int", lambda x, m: x.masked_fill_(m, 7), [w.randint(0, 9, (2, 3)), mask], [("float", 7.0)])
    lerp = lambda x, e, t: x.lerp_(e, t)
    w.case("lerp_", "same_shape", lerp, [w.randn(2, 3), w.randn(2, 3), w.rand(2, 3)])
    w.case("lerp_", "broadcast", lerp, [w.randn(2, 3), w.randn(3), w.rand(1).reshape(())])
    w.case("lerp_", "float64", lerp, [w.randn(3, dtype=F64), w.randn(3, dtype=F64), w.rand(3, dtype=F64)])
    for name in ("addcmul_", "addcdiv_"):
        fn = lambda x, a, b, n=name: getattr(x, n)(a, b, value=-1.5)
        w.case(name, "same_shape", fn, [w.randn(2, 3), w.randn(2, 3), away(2, 3)], [("float", -1.5)])
        w.case(name, "broadcast", fn, [w.randn(2, 3), w.randn(3), away(2, 1)], [("float", -1.5)])
        w.case(name, "float64", fn, [w.randn(3, dtype=F64), w.randn(3, dtype=F64), away(3, dtype=F64)], [("float", -1.5)])
        w.case(name, "empty", fn, [w.randn(0), w.randn(0), away(0)], [("float", -1.5)])


def cases(w):
    unary(w)
    binary(w)
    others(w)
