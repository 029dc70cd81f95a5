# SPDX-License-Identifier: Apache-2.0
import math

import torch
import torch.nn.functional as F

from make_reference import Number

F64 = torch.float64
INF = math.inf
NAN = math.nan


def binary(w):
    nonzero = lambda *s, **k: torch.sign(w.randn(*s, **k)) * w.rand(*s, low=0.5, high=2.0, **k)
    for name, fn, second in [
        ("add", torch.add, w.randn),
        ("sub", torch.sub, w.randn),
        ("mul", torch.mul, w.randn),
        ("div", torch.div, nonzero),
    ]:
        w.case(name, "same_shape", fn, [w.randn(3, 4), second(3, 4)])
        w.case(name, "broadcast_row", fn, [w.randn(3, 4), second(4)])
        w.case(name, "broadcast_both", fn, [w.randn(3, 1, 2), second(4, 1)])
        w.case(name, "scalar_tensor", fn, [w.randn(2, 3), second(1).reshape(())])
        w.case(name, "zero_dim", fn, [w.randn(1).reshape(()), second(1).reshape(())])
        w.case(name, "empty", fn, [w.randn(0, 3), second(3)])
        w.case(name, "float64", fn, [w.randn(5, dtype=F64), second(5, dtype=F64)])
        w.case(name, "float32_float64", fn, [w.randn(4), second(4, dtype=F64)])
        w.case(name, "float32_with_zero_dim_float64", fn, [w.randn(4), second(1, dtype=F64).reshape(())])
        w.case(name, "int_int", fn, [w.randint(-9, 9, (2, 3)), w.randint(1, 9, (2, 3))])
        w.case(name, "int_float", fn, [w.randint(-9, 9, (2, 3)), second(3)])
        if name != "sub":  # PyTorch refuses bool there; ours refuses bool - bool only
            w.case(name, "bool_float", fn, [w.randint(0, 2, (4,), torch.bool), second(4)])
            w.case(name, "int_bool", fn, [w.randint(-9, 9, (4,)), torch.ones(4, dtype=torch.bool)])
        w.case(name, "float_number", fn, [w.randn(3), Number(2.5)])
        w.case(name, "float64_number", fn, [w.randn(3, dtype=F64), Number(0.1)])
        w.case(name, "int_number", fn, [w.randint(-9, 9, (3,)), Number(3)])
        w.case(name, "int_float_number", fn, [w.randint(-9, 9, (3,)), Number(2.5)])
        w.case(name, "long_rows", fn, [w.randn(2, 37), second(2, 37)])
        w.case(name, "specials", fn, [torch.tensor([INF, -INF, NAN, 0.0, 1.0]), torch.tensor([INF, INF, 1.0, 0.0, NAN])],
               gradcheck="no")
    w.case("add", "bool_bool", torch.add, [torch.tensor([True, False, True]), torch.tensor([True, False, False])])
    w.case("mul", "bool_bool", torch.mul, [torch.tensor([True, False, True]), torch.tensor([True, False, False])])
    w.case("add", "int_wraps", torch.add, [torch.tensor([2**63 - 1, -(2**63)]), torch.tensor([1, -1])])
    w.case("div", "int_by_zero", torch.div, [torch.tensor([1, 0, -1]), torch.tensor([0, 0, 0])])

    positive = w.rand(3, 4, low=0.3, high=2.0)
    w.case("pow", "tensor_exponent", torch.pow, [positive, w.randn(3, 4)])
    w.case("pow", "broadcast", torch.pow, [positive, w.randn(3, 1)])
    for e in (2.0, 3.0, 1.0, 0.5, -0.5, -1.0, -2.0, 0.0, 1.7):
        w.case("pow", f"number_{e}".replace("-", "minus").replace(".", "_"), torch.pow, [positive, Number(e)])
    w.case("pow", "negative_base", torch.pow, [torch.tensor([-2.0, -1.5, -3.0]), Number(3.0)])
    w.case("pow", "base_number", lambda b, e: torch.pow(b, e), [Number(2.0), w.randn(4)])
    w.case("pow", "zero_base", torch.pow, [torch.tensor([0.0, 0.0, 0.0, 0.0]), torch.tensor([2.0, 1.0, 0.0, 3.5])],
           gradcheck="no")
    w.case("pow", "zero_exponent", torch.pow, [torch.tensor([0.0, -1.0, 2.0]), torch.tensor([0.0, 0.0, 0.0])],
           gradcheck="no")
    w.case("pow", "fraction_of_negative", torch.pow, [torch.tensor([-2.0, -1.0]), torch.tensor([0.5, 1.5])],
           gradcheck="no")
    w.case("pow", "int_int", torch.pow, [torch.tensor([2, -3, 0, 7]), torch.tensor([10, 3, 0, 1])])
    w.case("pow", "int_negative_exponents", torch.pow, [torch.tensor([1, -1, -1, 5]), torch.tensor([-3, -3, -2, -1])])
    w.case("pow", "int_number", torch.pow, [torch.tensor([2, -3, 0]), Number(2)])
    w.case("pow", "int_float_number", torch.pow, [torch.tensor([2, 3, 4]), Number(0.5)])
    w.case("pow", "empty", torch.pow, [w.randn(0), w.randn(0)])

    for name, fn in [("maximum", torch.maximum), ("minimum", torch.minimum)]:
        w.case(name, "same_shape", fn, [w.randn(3, 4), w.randn(3, 4)])
        w.case(name, "broadcast", fn, [w.randn(3, 1), w.randn(4)])
        w.case(name, "ties_share", fn, [torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, 3.0, 2.0])], gradcheck="no")
        w.case(name, "nan_wins", fn, [torch.tensor([NAN, 1.0, NAN, INF]), torch.tensor([1.0, NAN, NAN, -INF])],
               gradcheck="no")
        w.case(name, "nan_wins_in_long_rows", fn,
               [torch.tensor([NAN, 1.0, 2.0] * 11), torch.tensor([1.0, NAN, 1.0] * 11)], gradcheck="no")
        w.case(name, "int_int", fn, [w.randint(-9, 9, (5,)), w.randint(-9, 9, (5,))])
        w.case(name, "bool_bool", fn, [torch.tensor([True, False, False]), torch.tensor([True, True, False])])
        w.case(name, "int_float", fn, [w.randint(-9, 9, (4,)), w.randn(4)])
        w.case(name, "empty", fn, [w.randn(0, 2), w.randn(2)])

    w.case("lerp", "tensor_weight", torch.lerp, [w.randn(3, 4), w.randn(3, 4), w.rand(3, 4)])
    w.case("lerp", "broadcast", torch.lerp, [w.randn(3, 1), w.randn(4), w.rand(1).reshape(())])
    w.case("lerp", "ends_exact", torch.lerp,
           [torch.tensor([0.1, 0.1, 0.1]), torch.tensor([0.7, 0.7, 0.7]), torch.tensor([0.0, 1.0, 0.5])], gradcheck="no")
    w.case("lerp", "float64", torch.lerp, [w.randn(4, dtype=F64), w.randn(4, dtype=F64), w.rand(4, dtype=F64)])


def unary(w):
    away = lambda *s, **k: torch.sign(w.randn(*s, **k)) * w.rand(*s, low=0.2, high=2.5, **k)
    positive = lambda *s, **k: w.rand(*s, low=0.2, high=3.0, **k)
    specials = torch.tensor([0.0, -0.0, INF, -INF, NAN, 1e-40, 3e38])
    table = [
        ("neg", torch.neg, w.randn, {}), ("abs", torch.abs, away, {}), ("sign", torch.sign, away, {}),
        ("exp", torch.exp, w.randn, {}), ("log", torch.log, positive, {}), ("sqrt", torch.sqrt, positive, {}),
        ("rsqrt", torch.rsqrt, positive, {}), ("square", torch.square, w.randn, {}),
        ("reciprocal", torch.reciprocal, away, {}), ("sin", torch.sin, w.randn, {}), ("cos", torch.cos, w.randn, {}),
        ("tanh", torch.tanh, w.randn, {}), ("sigmoid", torch.sigmoid, w.randn, {}),
        ("floor", torch.floor, lambda *s, **k: w.randint(-5, 5, s).to(k.get("dtype", torch.float32)) + 0.5, {}),
    ]
    integers = {"neg", "abs", "sign", "square", "floor", "exp", "log", "sqrt", "rsqrt", "reciprocal", "sin", "cos",
                "tanh", "sigmoid"}
    for name, fn, sample, _ in table:
        w.case(name, "matrix", fn, [sample(3, 5)])
        w.case(name, "zero_dim", fn, [sample(1).reshape(())])
        w.case(name, "empty", fn, [sample(0, 3)])
        w.case(name, "float64", fn, [sample(2, 3, dtype=F64)])
        w.case(name, "long", fn, [sample(67)])
        w.case(name, "specials", fn, [specials], gradcheck="no")
        w.case(name, "specials_float64", fn, [torch.tensor([0.0, INF, -INF, NAN], dtype=F64)], gradcheck="no")
        if name in integers:
            w.case(name, "int", fn, [torch.tensor([3, -1, 0, 7]) if name not in ("log", "sqrt", "rsqrt") else
                                     torch.tensor([3, 1, 0, 7])])
    for name, fn in [("abs", torch.abs), ("sign", torch.sign)]:
        w.case(name, "at_zero", fn, [torch.tensor([0.0, -0.0, 1.0])], gradcheck="no")
    w.case("sign", "bool", torch.sign, [torch.tensor([True, False])])
    w.case("exp", "range", torch.exp, [torch.tensor([-103.9, -100.0, -88.0, -87.4, -1e-8, 1e-8, 88.0, 88.7, 89.0, 104.0])],
           gradcheck="no")
    w.case("exp", "bool", torch.exp, [torch.tensor([True, False])])
    w.case("tanh", "range", torch.tanh, [torch.tensor([-20.0, -9.0, -0.63, -0.62, -1e-4, 1e-20, 0.6249, 0.6251, 5.0, 30.0])],
           gradcheck="no")
    w.case("sigmoid", "range", torch.sigmoid, [torch.tensor([-100.0, -88.0, -20.0, 20.0, 88.0, 100.0])], gradcheck="no")
    w.case("log", "range", torch.log, [torch.tensor([1e-45, 1e-38, 0.70710677, 0.7071069, 1.0, 1.0000001, 1.4142135, 3e38])],
           gradcheck="no")

    g, y = w.randn(3, 4), torch.tanh(w.randn(3, 4))
    w.case("tanh_backward", "matrix", torch.ops.aten.tanh_backward, [g, y])
    w.case("sigmoid_backward", "matrix", torch.ops.aten.sigmoid_backward, [g, torch.sigmoid(w.randn(3, 4))])


def activations(w):
    away = lambda *s, **k: torch.sign(w.randn(*s, **k)) * w.rand(*s, low=0.2, high=2.5, **k)
    slope = [("float", 0.01)]
    table = [
        ("relu", F.relu, []), ("leaky_relu", F.leaky_relu, slope), ("elu", F.elu, [("float", 1.0)]),
        ("gelu", F.gelu, []), ("silu", F.silu, []), ("softplus", F.softplus, []),
        ("clamp", lambda x: torch.clamp(x, -1.0, 1.5), [("float", -1.0), ("float", 1.5)]),
    ]
    for name, fn, attrs in table:
        w.case(name, "matrix", fn, [away(3, 5)], attrs)
        w.case(name, "zero_dim", fn, [away(1).reshape(())], attrs)
        w.case(name, "empty", fn, [away(0)], attrs)
        w.case(name, "float64", fn, [away(7, dtype=F64)], attrs)
        w.case(name, "long", fn, [away(71)], attrs)
        w.case(name, "specials", fn, [torch.tensor([0.0, INF, NAN, -30.0, 30.0, 19.9, 20.1])], attrs, gradcheck="no")
    w.case("leaky_relu", "steep", lambda x: F.leaky_relu(x, 0.3), [away(5)], [("float", 0.3)])
    w.case("elu", "alpha", lambda x: F.elu(x, 0.7), [away(5)], [("float", 0.7)])
    w.case("elu", "negative_infinity", F.elu, [torch.tensor([-INF, -60.0, -1e-6])], [("float", 1.0)], gradcheck="no")
    w.case("relu", "int", F.relu, [torch.tensor([-3, 0, 4])])
    w.case("clamp", "int", lambda x: torch.clamp(x, -1, 3), [torch.tensor([-3, 0, 4])], [("float", -1.0), ("float", 3.0)])
    w.case("clamp", "one_sided", lambda x: torch.clamp(x, min=0.0), [away(5)], [("float", 0.0), ("float", INF)])
    w.case("clamp", "int_one_sided", lambda x: torch.clamp(x, max=2), [torch.tensor([-3, 0, 4])],
           [("float", -INF), ("float", 2.0)])
    w.case("clamp", "on_the_bounds", lambda x: torch.clamp(x, -1.0, 1.0), [torch.tensor([-1.0, 1.0, 0.0, NAN])],
           [("float", -1.0), ("float", 1.0)], gradcheck="no")
    w.case("clamp", "crossed_bounds", lambda x: torch.clamp(x, 1.0, -1.0), [torch.tensor([-2.0, 0.0, 2.0])],
           [("float", 1.0), ("float", -1.0)], grad=False, gradcheck="no")
    w.case("gelu", "tail", F.gelu, [torch.tensor([-6.0, -4.0, -2.5, 2.5, 4.0, 6.0])], tol=1e-6)
    aten = torch.ops.aten
    w.case("relu_backward", "matrix", lambda g, y: aten.threshold_backward(g, y, 0.0), [w.randn(3, 4), away(3, 4)])
    w.case("leaky_relu_backward", "matrix", lambda g, x: aten.leaky_relu_backward(g, x, 0.01, False),
           [w.randn(3, 4), away(3, 4)], slope)
    w.case("gelu_backward", "matrix", lambda g, x: aten.gelu_backward(g, x), [w.randn(3, 4), w.randn(3, 4)])


def select(w):
    mask = w.randint(0, 2, (3, 4), torch.bool)
    w.case("where", "same_shape", torch.where, [mask, w.randn(3, 4), w.randn(3, 4)])
    w.case("where", "broadcast", torch.where, [mask, w.randn(4), w.randn(3, 1)])
    w.case("where", "broadcast_condition", torch.where, [mask[:, :1], w.randn(3, 4), w.randn(4)])
    w.case("where", "nan_not_chosen", torch.where,
           [torch.tensor([True, False]), torch.tensor([1.0, NAN]), torch.tensor([NAN, 2.0])], gradcheck="no")
    w.case("where", "int", torch.where, [mask, w.randint(0, 9, (3, 4)), w.randint(0, 9, (3, 4))])
    w.case("where", "bool", torch.where, [mask, w.randint(0, 2, (3, 4), torch.bool), w.randint(0, 2, (3, 4), torch.bool)])
    w.case("where", "empty", torch.where, [mask[:0], w.randn(0, 4), w.randn(4)])
    fill = lambda v: (lambda x, m: x.masked_fill(m, v))
    w.case("masked_fill", "same_shape", fill(-1.5), [w.randn(3, 4), mask], [("float", -1.5)])
    w.case("masked_fill", "broadcast_mask", fill(0.0), [w.randn(3, 4), mask[0]], [("float", 0.0)])
    w.case("masked_fill", "infinity", fill(-INF), [w.randn(3, 4), mask], [("float", -INF)], gradcheck="no")
    w.case("masked_fill", "int", fill(7), [w.randint(0, 5, (3, 4)), mask], [("float", 7.0)])
    w.case("masked_fill", "float64", fill(0.1), [w.randn(4, dtype=F64), mask[1]], [("float", 0.1)])

    values = {
        torch.bool: torch.tensor([[True, False], [False, True]]),
        torch.int64: torch.tensor([[3, 0], [-7, 2**40]]),
        torch.float32: torch.tensor([[1.7, -1.7], [0.0, -0.5]]),
        torch.float64: torch.tensor([[1e300, -2.9], [0.1, 0.0]], dtype=F64),
    }
    for source, x in values.items():
        for target in values:
            label = f"{source}_to_{target}".replace("torch.", "")
            if source == F64 and target == torch.int64:
                x = torch.tensor([[1e18, -2.9], [0.1, 0.0]], dtype=F64)
            w.case("to", label, lambda t, d=target: t.to(d), [x], [("dtype", target)],
                   gradcheck="yes" if target == F64 else "no")
    w.case("to", "int64_out_of_range", lambda t: t.to(torch.int64),
           [torch.tensor([NAN, INF, -INF, 1e20], dtype=F64)], [("dtype", torch.int64)])
    w.case("to", "bool_of_nan", lambda t: t.to(torch.bool), [torch.tensor([NAN, 0.0, -0.0, 1e-30])],
           [("dtype", torch.bool)])
    w.case("to", "empty", lambda t: t.to(F64), [w.randn(0, 2)], [("dtype", F64)])


def in_place(w):
    nonzero = lambda *s, **k: torch.sign(w.randn(*s, **k)) * w.rand(*s, low=0.5, high=2.0, **k)
    for name in ("add_", "sub_", "mul_", "div_"):
        fn = lambda x, o, n=name: getattr(x, n)(o)
        w.case(name, "same_shape", fn, [w.randn(3, 4), nonzero(3, 4)])
        w.case(name, "broadcast", fn, [w.randn(3, 4), nonzero(4)])
        w.case(name, "number", fn, [w.randn(3, 4), Number(1.5)])
        w.case(name, "float64", fn, [w.randn(4, dtype=F64), nonzero(4, dtype=F64)])
        w.case(name, "float_int", fn, [w.randn(4), w.randint(1, 5, (4,))])
        w.case(name, "empty", fn, [w.randn(0, 4), nonzero(4)])
        if name != "div_":
            w.case(name, "int_number", fn, [w.randint(-5, 5, (2, 3)), Number(3)])
    w.case("relu_", "matrix", torch.relu_, [nonzero(3, 4)])
    w.case("relu_", "int", torch.relu_, [torch.tensor([-3, 0, 4])])
    w.case("fill_", "matrix", lambda x: x.fill_(2.5), [w.randn(3, 4)], [("float", 2.5)])
    w.case("fill_", "int", lambda x: x.fill_(2), [torch.tensor([[1, 2], [3, 4]])], [("float", 2.0)])
    w.case("fill_", "bool", lambda x: x.fill_(True), [torch.tensor([False, True])], [("float", 1.0)])
    w.case("zero_", "matrix", lambda x: x.zero_(), [w.randn(3, 4)])
    w.case("zero_", "empty", lambda x: x.zero_(), [w.randn(0)])
    copy = lambda x, s: x.copy_(s)
    w.case("copy_", "same_shape", copy, [w.randn(3, 4), w.randn(3, 4)])
    w.case("copy_", "broadcast", copy, [w.randn(3, 4), w.randn(4)])
    w.case("copy_", "from_int", copy, [w.randn(3, 4), w.randint(0, 9, (3, 1))])
    w.case("copy_", "into_int", copy, [torch.tensor([1, 2, 3]), torch.tensor([1.9, -1.9, 0.0])])
    w.case("copy_", "zero_dim", copy, [w.randn(1).reshape(()), w.randn(1).reshape(())])
    w.case("copy_", "large_matrix", copy, [w.randn(33, 40), w.randn(33, 40)], gradcheck="no")


def cases(w):
    binary(w)
    unary(w)
    activations(w)
    select(w)
    in_place(w)
