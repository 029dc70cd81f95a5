# SPDX-License-Identifier: Apache-2.0
"""Functions of two and three operands, whole numbers and comparisons."""
import math

import torch

from make_reference import Number

F64 = torch.float64
I64 = torch.int64
INF = math.inf
NAN = math.nan


def exact(fn):
    def run(a, b):
        singles = all(not torch.is_tensor(x) or x.dtype == torch.float32 for x in (a, b))
        if not singles:
            return fn(a, b)
        return fn(*(x.double() if torch.is_tensor(x) else torch.tensor(x, dtype=F64) for x in (a, b))).to(torch.float32)
    return run


def division(w):
    nonzero = lambda *s, **k: torch.sign(w.randn(*s, **k)) * w.rand(*s, low=0.6, high=1.7, **k)
    floor = lambda a, b: torch.div(a, b, rounding_mode="floor")
    trunc = lambda a, b: torch.div(a, b, rounding_mode="trunc")
    for name, fn in [("remainder", torch.remainder), ("fmod", torch.fmod), ("floor_divide", floor), ("div_trunc", trunc)]:
        w.case(name, "same_shape", fn, [w.randn(3, 4) * 5, nonzero(3, 4)])
        w.case(name, "broadcast", fn, [w.randn(3, 1) * 5, nonzero(4)])
        w.case(name, "zero_dim", fn, [w.randn(1).reshape(()) * 5, nonzero(1).reshape(())])
        w.case(name, "empty", fn, [w.randn(0, 3), nonzero(3)])
        w.case(name, "float64", fn, [w.randn(5, dtype=F64) * 5, nonzero(5, dtype=F64)])
        w.case(name, "long", fn, [w.randn(2, 19) * 5, nonzero(2, 19)], gradcheck="no")
        w.case(name, "float_number", fn, [w.randn(4) * 5, Number(-1.5)])
        w.case(name, "int_int", fn, [torch.tensor([7, -7, 7, -7, 6, -6]), torch.tensor([3, 3, -3, -3, 3, -3])])
        w.case(name, "int_number", fn, [torch.tensor([7, -7, 0]), Number(4)])
        w.case(name, "int_float_number", fn, [torch.tensor([7, -7, 0]), Number(2.5)])
        w.case(name, "int_float", fn, [torch.tensor([7, -7, 5]), nonzero(3)])
        w.case(name, "specials", fn, [torch.tensor([5.0, -5.0, INF, -INF, NAN, 0.0, 3.0, -3.0, 0.0]),
                                      torch.tensor([INF, INF, 2.0, 2.0, 2.0, 2.0, NAN, 0.0, 0.0])], grad=False, gradcheck="no")
    w.case("floor_divide", "rounds_down_across_representation", floor, [torch.tensor([1.0, 0.3, -0.3]), torch.tensor([0.1, 0.1, 0.1])],
           gradcheck="no")


def real(w):
    away = lambda *s, **k: torch.sign(w.randn(*s, **k)) * w.rand(*s, low=0.3, high=2.0, **k)
    positive = lambda *s, **k: w.rand(*s, low=0.3, high=2.0, **k)
    special = torch.tensor([0.0, -0.0, 1.0, -1.0, INF, -INF, NAN])
    for name, second, integers in [("atan2", away, True), ("hypot", away, False), ("copysign", away, True),
                                   ("logaddexp", away, False), ("logaddexp2", away, False), ("xlogy", positive, True)]:
        fn = getattr(torch, name)
        value = exact(fn)
        w.case(name, "same_shape", value, [away(3, 4), second(3, 4)])
        w.case(name, "broadcast", value, [away(3, 1), second(4)])
        w.case(name, "zero_dim", value, [away(1).reshape(()), second(1).reshape(())])
        w.case(name, "empty", value, [away(0, 3), second(3)])
        w.case(name, "float64", fn, [away(5, dtype=F64), second(5, dtype=F64)])
        w.case(name, "float32_float64", fn, [away(4), second(4, dtype=F64)])
        w.case(name, "long", value, [away(2, 19), second(2, 19)], gradcheck="no")
        w.case(name, "specials", value, [special.repeat(7), special.repeat_interleave(7)], grad=False, gradcheck="no")
        w.case(name, "specials_float64", fn, [special.repeat(7).double(), special.repeat_interleave(7).double()], grad=False,
               gradcheck="no")
        if integers:
            w.case(name, "int_int", fn, [torch.tensor([3, -2, 0]), torch.tensor([2, 5, 7])])
            w.case(name, "number", value, [away(4), Number(1.5)])
    w.case("xlogy", "zero_times_log_of_zero", torch.xlogy, [torch.tensor([0.0, 0.0, 2.0]), torch.tensor([0.0, 3.0, 4.0])],
           gradcheck="no")
    w.case("hypot", "no_overflow", torch.hypot, [torch.tensor([3e30, 3e-30, 0.0]), torch.tensor([4e30, 4e-30, 0.0])],
           grad=False, gradcheck="no")
    w.case("logaddexp", "far_apart", torch.logaddexp, [torch.tensor([1000.0, -1000.0, 0.0]), torch.tensor([0.0, -1001.0, 0.0])],
           gradcheck="no")
    w.case("nextafter", "values", torch.nextafter,
           [torch.tensor([1.0, 1.0, 0.0, -0.0, INF, NAN, 2.0]), torch.tensor([2.0, 0.0, 1.0, -1.0, 0.0, 1.0, 2.0])], gradcheck="no")
    w.case("nextafter", "apart", torch.nextafter, [torch.tensor([[0.3, -1.2, 2.5]]), torch.tensor([[1.0], [-4.0]])])
    w.case("nextafter", "float64", torch.nextafter, [torch.tensor([1.0, 0.0], dtype=F64), torch.tensor([2.0], dtype=F64)])
    w.case("nextafter", "empty", torch.nextafter, [torch.zeros(0), torch.zeros(1)])


def extremes(w):
    for name in ("fmax", "fmin"):
        fn = getattr(torch, name)
        w.case(name, "same_shape", fn, [w.randn(3, 4), w.randn(3, 4)])
        w.case(name, "broadcast", fn, [w.randn(3, 1), w.randn(4)])
        w.case(name, "numbers_win", fn, [torch.tensor([NAN, 1.0, NAN, INF, 2.0]), torch.tensor([1.0, NAN, NAN, -INF, 2.0])],
               gradcheck="no")
        w.case(name, "float64", fn, [w.randn(3, dtype=F64), w.randn(3, dtype=F64)])
        w.case(name, "int_int", fn, [torch.tensor([1, -2]), torch.tensor([0, 5])])
        w.case(name, "bool_bool", fn, [torch.tensor([True, False]), torch.tensor([False, False])])
        w.case(name, "empty", fn, [w.randn(0), w.randn(1)])
    for name in ("clamp_min", "clamp_max"):
        fn = getattr(torch, name)
        w.case(name, "tensor", fn, [w.randn(3, 4), w.randn(3, 4)])
        w.case(name, "broadcast", fn, [w.randn(3, 4), w.randn(4)])
        w.case(name, "number", fn, [w.randn(5), Number(0.2)])
        w.case(name, "int_number", fn, [torch.tensor([-3, 0, 4]), Number(1)])
        w.case(name, "int_float_number", fn, [torch.tensor([-3, 0, 4]), Number(0.5)])
        w.case(name, "float64", fn, [w.randn(4, dtype=F64), w.randn(4, dtype=F64)])
        w.case(name, "nan", fn, [torch.tensor([NAN, 1.0, 2.0]), torch.tensor([1.0, NAN, 2.0])], grad=False, gradcheck="no")
        w.case(name, "empty", fn, [w.randn(0, 2), w.randn(2)])
    w.case("heaviside", "float", torch.heaviside, [torch.tensor([-1.5, 0.0, -0.0, 2.0, NAN, INF]), torch.tensor([0.5])], grad=False)
    w.case("heaviside", "float64", torch.heaviside, [torch.tensor([-1.5, 0.0], dtype=F64), torch.tensor([[7.0], [8.0]], dtype=F64)],
           grad=False)
    w.case("heaviside", "int", torch.heaviside, [torch.tensor([-1, 0, 3]), torch.tensor(9)])
    w.case("heaviside", "empty", torch.heaviside, [torch.zeros(0), torch.zeros(1)], grad=False)


def whole(w):
    bits = lambda *s: w.randint(-1000, 1000, s)
    flags = lambda *s: w.randint(0, 2, s, torch.bool)
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        fn = getattr(torch, name)
        w.case(name, "int", fn, [bits(3, 4), bits(3, 4)])
        w.case(name, "broadcast", fn, [bits(3, 1), bits(4)])
        w.case(name, "bool", fn, [flags(2, 4), flags(4)])
        w.case(name, "int_bool", fn, [bits(4), flags(4)])
        w.case(name, "number", fn, [bits(4), Number(12)])
        w.case(name, "zero_dim", fn, [torch.tensor(12), torch.tensor(10)])
        w.case(name, "empty", fn, [bits(0, 2), bits(2)])
    w.case("bitwise_not", "int", torch.bitwise_not, [torch.tensor([[0, -1, 5], [2**62, -(2**63), 1]])])
    w.case("bitwise_not", "bool", torch.bitwise_not, [torch.tensor([True, False])])
    w.case("bitwise_not", "empty", torch.bitwise_not, [bits(0)])
    for name in ("bitwise_left_shift", "bitwise_right_shift"):
        fn = getattr(torch, name)
        w.case(name, "int", fn, [bits(2, 3), w.randint(0, 9, (2, 3))])
        w.case(name, "number", fn, [bits(4), Number(3)])
        w.case(name, "far", fn, [torch.tensor([1, -1, 5, -5, 1]), torch.tensor([63, 64, -1, -1, 62])])
        w.case(name, "empty", fn, [bits(0), bits(1)])
    for name in ("gcd", "lcm"):
        fn = getattr(torch, name)
        w.case(name, "int", fn, [torch.tensor([12, -18, 0, 7, 0, 2**40]), torch.tensor([18, 12, 5, 13, 0, 2**20])])
        w.case(name, "broadcast", fn, [w.randint(1, 50, (3, 1)), w.randint(1, 50, (4,))])
        w.case(name, "empty", fn, [bits(0), bits(1)])


def comparisons(w):
    xor = torch.logical_xor
    w.case("logical_xor", "bool", xor, [torch.tensor([True, True, False, False]), torch.tensor([True, False, True, False])])
    w.case("logical_xor", "float", xor, [torch.tensor([0.0, 1.5, NAN, -0.0]), torch.tensor([1.0, 0.0, 2.0, 0.0])])
    w.case("logical_xor", "int_bool", xor, [w.randint(0, 2, (4, 1)), torch.tensor([True, False])])
    w.case("logical_xor", "empty", xor, [torch.zeros(0, 2), torch.zeros(2)])
    attrs = lambda r, a, e: [("float", r), ("float", a), ("bool", e)]
    a = torch.tensor([1.0, 1.0, 1.0, INF, INF, -INF, NAN, 0.0, 0.0, 1.0])
    b = torch.tensor([1.0, 1.00001, 1.001, INF, -INF, 1.0, NAN, 1e-9, 1e-7, INF])
    w.case("isclose", "defaults", torch.isclose, [a, b])
    w.case("isclose", "equal_nan", lambda x, y: torch.isclose(x, y, equal_nan=True), [a, b], attrs(1e-5, 1e-8, True))
    w.case("isclose", "loose", lambda x, y: torch.isclose(x, y, rtol=0.1, atol=0.5), [a, b], attrs(0.1, 0.5, False))
    w.case("isclose", "float64", torch.isclose, [a.double(), b.double()])
    w.case("isclose", "int", lambda x, y: torch.isclose(x, y, atol=1.0), [torch.tensor([1, 5]), torch.tensor([2, 9])],
           attrs(1e-5, 1.0, False))
    w.case("isclose", "bool", torch.isclose, [torch.tensor([True, False]), torch.tensor([True, True])])
    w.case("isclose", "broadcast", torch.isclose, [torch.ones(2, 1), torch.tensor([1.0, 2.0])])
    w.case("isclose", "empty", torch.isclose, [torch.zeros(0), torch.zeros(1)])


def ternary(w):
    away = lambda *s, **k: torch.sign(w.randn(*s, **k)) * w.rand(*s, low=0.5, high=2.0, **k)
    for name in ("addcmul", "addcdiv"):
        fn = getattr(torch, name)
        scaled = lambda x, a, b, f=fn: f(x, a, b, value=-1.5)
        w.case(name, "same_shape", fn, [w.randn(3, 4), w.randn(3, 4), away(3, 4)], [("float", 1.0)])
        w.case(name, "value", scaled, [w.randn(3, 4), w.randn(3, 4), away(3, 4)], [("float", -1.5)])
        w.case(name, "broadcast", scaled, [w.randn(4), w.randn(3, 1), away(1)], [("float", -1.5)])
        w.case(name, "zero_dim", scaled, [w.randn(1).reshape(()), w.randn(1).reshape(()), away(1).reshape(())], [("float", -1.5)])
        w.case(name, "float64", scaled, [w.randn(4, dtype=F64), w.randn(4, dtype=F64), away(4, dtype=F64)], [("float", -1.5)])
        w.case(name, "empty", fn, [w.randn(0, 2), w.randn(2), away(1)])
    w.case("addcmul", "int", lambda x, a, b: torch.addcmul(x, a, b, value=3), [torch.tensor([1, 2]), torch.tensor([3, 4]), torch.tensor([5, -6])],
           [("float", 3.0)])


def cases(w):
    division(w)
    real(w)
    extremes(w)
    whole(w)
    comparisons(w)
    ternary(w)
