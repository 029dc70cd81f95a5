# SPDX-License-Identifier: Apache-2.0
"""A small case an operator and dtype for the types that the families' own cases leave out. Where PyTorch refuses integers for a
reason (not: "not implemented for 'Half'"), the case says refused=yes and the operator must throw DTypeError."""
import torch
import torch.nn.functional as F

from make_reference import Number, tensor_text

HALVES = [torch.float16, torch.bfloat16]
SMALL = [torch.int32, torch.int16, torch.int8, torch.uint8]
SHORT = {torch.float16: "f16", torch.bfloat16: "bf16", torch.int32: "i32", torch.int16: "i16", torch.int8: "i8",
         torch.uint8: "u8", torch.float32: "f32"}


class Sweep:
    def __init__(self, w):
        self.w = w

    def values(self, sizes, dtype, low=-2.0, high=2.0):
        """Floats between low and high; integers around zero, unsigned ones above it."""
        if dtype.is_floating_point:
            return self.w.rand(*sizes, low=low, high=high, dtype=dtype)
        return self.w.randint(0 if dtype == torch.uint8 or low >= 0 else -7, 8, sizes, dtype)

    def run(self, op, fn, make, attrs=(), dtypes=HALVES + SMALL, label="", grad=True):
        for dtype in dtypes:
            inputs = make(dtype)
            name = SHORT[dtype] + label
            try:
                arguments = [x.value if isinstance(x, Number) else None if x is None else x.clone() for x in inputs]
                fn(*arguments)
            except RuntimeError as error:
                if dtype.is_floating_point:
                    continue  # PyTorch has no kernel; nothing to compare with
                self.refused(op, name, inputs, attrs, str(error))
                continue
            self.w.case(op, name, fn, inputs, attrs, grad=grad, gradcheck="no", second="no")

    def refused(self, op, label, inputs, attrs, error):
        lines = [f"# {error.splitlines()[0][:100]}", f"case {op} {label} refused=yes"]
        for x in inputs:
            lines.append("in none" if x is None else "in " + tensor_text(x))
        for kind, value in attrs:
            lines.append(" ".join(["attr", kind] + ([str(v) for v in value] if kind == "dims" else [str(value)])))
        self.w.lines += lines + [""]


def pointwise(s):
    two = lambda low=-2.0: lambda t: [s.values((2, 3), t, low), s.values((3,), t, low)]
    for name in ("add", "sub", "mul", "maximum", "minimum", "eq", "ne", "lt", "le", "gt", "ge"):
        s.run(name, getattr(torch, name), two())
    s.run("div", torch.div, lambda t: [s.values((2, 3), t), s.values((2, 3), t, 0.5) + (0 if t.is_floating_point else 1)])
    s.run("pow", torch.pow, lambda t: [s.values((2, 3), t, 0.25), s.values((3,), t, 0.0).clamp(0, 3)])
    for name in ("logical_and", "logical_or"):
        s.run(name, getattr(torch, name), lambda t: [s.values((4,), t).floor(), s.values((4,), t).floor()])
    for name, number in (("add", 2.625), ("mul", 0.1), ("div", 0.3), ("sub", 1), ("mul", 3)):
        s.run(name, getattr(torch, name), lambda t: [s.values((5,), t), Number(number)], label=f"_number_{type(number).__name__}")
    for name in ("add", "mul"):
        s.run(name, getattr(torch, name), lambda t: [s.values((3,), t), torch.tensor(0.3)], label="_zero_dim_f32")
    one = lambda low=-2.0: lambda t: [s.values((2, 3), t, low)]
    for name in ("neg", "abs", "sign", "square", "floor", "exp", "sin", "cos", "tanh", "sigmoid", "relu", "logical_not", "isnan",
                 "isinf"):
        s.run(name, getattr(torch, name), one())
    for name in ("log", "sqrt", "rsqrt", "reciprocal"):
        s.run(name, getattr(torch, name), one(0.5))
    for name, fn in (("gelu", F.gelu), ("silu", F.silu), ("softplus", F.softplus)):
        s.run(name, fn, one())
    s.run("leaky_relu", lambda x: F.leaky_relu(x, 0.1), one(), [("float", 0.1)])
    s.run("elu", lambda x: F.elu(x, 1.5), one(), [("float", 1.5)])
    s.run("clamp", lambda x: torch.clamp(x, -1, 3), one(), [("float", -1.0), ("float", 3.0)])
    mask = torch.tensor([True, False, True])
    s.run("where", torch.where, lambda t: [mask, s.values((2, 3), t), s.values((3,), t)])
    s.run("masked_fill", lambda x, m: x.masked_fill(m, 5), lambda t: [s.values((2, 3), t), mask], [("float", 5.0)])
    s.run("lerp", torch.lerp, lambda t: [s.values((3,), t), s.values((3,), t), s.values((3,), t, 0.0, 1.0)])
    for name in ("add_", "sub_", "mul_"):
        s.run(name, lambda a, b: getattr(a, name)(b), two())
    s.run("div_", lambda a, b: a.div_(b), lambda t: [s.values((3,), t), s.values((3,), t, 0.5)], dtypes=HALVES)
    s.run("relu_", torch.relu_, one())
    s.run("fill_", lambda x: x.fill_(3), one(), [("float", 3.0)])
    s.run("zero_", lambda x: x.zero_(), one())
    s.run("copy_", lambda x, y: x.copy_(y), lambda t: [s.values((2, 3), t), s.values((3,), torch.float32)])
    s.run("to", lambda x: x.to(torch.float32), one(), [("dtype", torch.float32)])
    s.run("amp_check_and_unscale_", unscaled, lambda t: [s.values((4,), t), torch.zeros(())], [("float", 0.25)],
          dtypes=[torch.bfloat16], grad=False)


def unscaled(grad, found):
    torch._amp_foreach_non_finite_check_and_unscale_([grad], found, torch.tensor(0.25))
    return grad


def reductions(s):
    x = lambda t: [s.values((3, 4), t, 0.25)]
    dims = [("dims", [1]), ("bool", False)]
    for name in ("sum", "prod", "amax", "amin"):
        s.run(name, lambda v, n=name: getattr(torch, n)(v, 1), x, dims)
    for name in ("mean", "logsumexp"):
        s.run(name, lambda v, n=name: getattr(torch, n)(v, 1), x, dims, dtypes=HALVES)
    for name in ("argmax", "argmin"):
        s.run(name, lambda v, n=name: getattr(torch, n)(v, 1), lambda t: [s.w.permutation(2, 5).to(t)],
              [("int", 1), ("bool", False)], dtypes=HALVES + SMALL[:1])
    for name in ("any", "all"):
        s.run(name, getattr(torch, name), x)
    for name in ("var", "std"):
        s.run(name, lambda v, n=name: getattr(torch, n)(v, 1), x, [("dims", [1]), ("int", 1), ("bool", False)])
    s.run("norm", torch.linalg.vector_norm, x, dtypes=HALVES)
    s.run("cumsum", lambda v: torch.cumsum(v, 1), x, [("int", 1)])


def creation(s):
    for dtype, name in list(SHORT.items())[:6]:
        s.w.case("zeros", name, lambda: torch.zeros(2, dtype=dtype), [], [("dims", [2]), ("dtype", dtype)])
        s.w.case("ones", name, lambda: torch.ones(2, dtype=dtype), [], [("dims", [2]), ("dtype", dtype)])
        s.w.case("full", name, lambda: torch.full((2,), 7, dtype=dtype), [],
                 [("float", 7.0), ("dims", [2]), ("dtype", dtype)])
        s.w.case("arange", name, lambda: torch.arange(1, 6, 2, dtype=dtype), [],
                 [("float", 1.0), ("float", 6.0), ("float", 2.0), ("dtype", dtype)])
        s.w.case("eye", name, lambda: torch.eye(2, dtype=dtype), [], [("int", 2), ("dtype", dtype)])
    s.run("zeros_like", torch.zeros_like, lambda t: [s.values((2,), t)])
    s.run("ones_like", torch.ones_like, lambda t: [s.values((2,), t)])


def shapes(s):
    x = lambda t: [s.values((2, 3), t)]
    s.run("clone", torch.clone, x)
    s.run("contiguous", lambda v: v.contiguous(), x)
    s.run("flip", lambda v: v.flip(0, 1), x, [("dims", [0, 1])])
    s.run("pad", lambda v: F.pad(v, (1, 2), value=3), x, [("dims", [1, 2]), ("float", 3.0)])
    s.run("transpose", lambda v: v.transpose(0, 1), x, [("int", 0), ("int", 1)])
    s.run("expand", lambda v: v.expand(2, 2, 3), x, [("dims", [2, 2, 3])])
    s.run("slice", lambda v: v[:, 0:3:2], x, [("int", 1), ("int", 0), ("int", 3), ("int", 2)])
    s.run("unsqueeze", lambda v: v.unsqueeze(1), x, [("int", 1)])
    two = lambda t: [s.values((2, 2), t), s.values((1, 2), t)]
    s.run("cat", lambda a, b: torch.cat([a, b]), two, [("int", 0)])
    s.run("stack", lambda a, b: torch.stack([a, b], 1), lambda t: [s.values((3,), t), s.values((3,), t)], [("int", 1)])
    mixed = [torch.tensor([1.5], dtype=torch.float16), torch.tensor([2.5], dtype=torch.bfloat16)]
    s.w.case("cat", "f16_bf16", lambda a, b: torch.cat([a, b]), mixed, [("int", 0)], gradcheck="no", second="no")


def indexing(s):
    at = torch.tensor([2, 0])
    x = lambda t: [s.values((3, 2), t), at]
    s.run("index_select", lambda v, i: v.index_select(0, i), x, [("int", 0)])
    s.run("gather", lambda v, i: v.gather(0, i), lambda t: [s.values((3, 2), t), torch.tensor([[0, 2], [1, 1]])], [("int", 0)])
    s.run("scatter_add", lambda v, i, u: v.scatter_add(0, i, u),
          lambda t: [s.values((3, 2), t), torch.tensor([[0, 2], [1, 2]]), s.values((2, 2), t)], [("int", 0)])
    s.run("index_add", lambda v, i, u: v.index_add(0, i, u), lambda t: [s.values((3, 2), t), at, s.values((2, 2), t)],
          [("int", 0)])
    narrow = torch.tensor([2, 0], dtype=torch.int32)
    some = [torch.float32, torch.bfloat16, torch.int32]
    s.run("index_select", lambda v, i: v.index_select(0, i), lambda t: [s.values((3, 2), t), narrow], [("int", 0)], some, "_at_i32")
    s.run("index_add", lambda v, i, u: v.index_add(0, i, u), lambda t: [s.values((3, 2), t), narrow, s.values((2, 2), t)],
          [("int", 0)], some, "_at_i32")
    s.run("embedding", lambda v, i: F.embedding(i, v), lambda t: [s.values((3, 2), t), narrow], (), some[:2], "_at_i32")
    s.run("embedding", lambda v, i: F.embedding(i, v), x, dtypes=HALVES)


def products(s):
    s.run("matmul", torch.matmul, lambda t: [s.values((2, 3), t), s.values((3, 4), t)])
    s.run("mm", torch.mm, lambda t: [s.values((9, 17), t), s.values((17, 5), t)])
    s.run("bmm", torch.bmm, lambda t: [s.values((2, 2, 3), t), s.values((2, 3, 2), t)])
    s.run("linear", F.linear, lambda t: [s.values((4, 3), t), s.values((2, 3), t), s.values((2,), t)], dtypes=HALVES)
    plain = [("dims", [1, 1]), ("dims", [1, 1]), ("dims", [1, 1]), ("int", 1)]
    s.run("conv2d", lambda x, v, b: F.conv2d(x, v, b, padding=1),
          lambda t: [s.values((1, 2, 4, 4), t), s.values((3, 2, 3, 3), t), s.values((3,), t)], plain, dtypes=HALVES)


def networks(s):
    image = lambda t: [s.w.permutation(1, 2, 4, 4).mul(0.25).to(t)]
    window = [("dims", [2, 2]), ("dims", [2, 2]), ("dims", [0, 0])]
    s.run("max_pool2d", lambda x: F.max_pool2d(x, 2, return_indices=True), image, window, dtypes=HALVES)
    s.run("avg_pool2d", lambda x: F.avg_pool2d(x, 2), image, window, dtypes=HALVES)
    s.run("adaptive_avg_pool2d", lambda x: F.adaptive_avg_pool2d(x, (1, 2)), image, [("int", 1), ("int", 2)], dtypes=HALVES)
    rows = lambda t: [s.values((2, 5), t)]
    s.run("softmax", lambda x: torch.softmax(x, 1), rows, [("int", 1)])
    s.run("log_softmax", lambda x: torch.log_softmax(x, 1), rows, [("int", 1)])
    target = torch.tensor([3, 0])
    s.run("nll_loss", lambda x, y: F.nll_loss(x, y), lambda t: rows(t) + [target], [("int", 1)], dtypes=HALVES)
    s.run("nll_loss", lambda x, y: F.nll_loss(x, y), lambda t: rows(t) + [target.to(torch.uint8)], [("int", 1)],
          [torch.bfloat16], "_target_u8")
    pair = lambda t: [s.values((2, 5), t), s.values((2, 5), t, 0.0, 1.0)]
    s.run("mse_loss", F.mse_loss, pair, [("int", 1)], dtypes=HALVES)
    s.run("l1_loss", F.l1_loss, pair, [("int", 1)], dtypes=HALVES)
    s.run("binary_cross_entropy_with_logits", F.binary_cross_entropy_with_logits, pair, [("int", 1)], dtypes=HALVES)


def cases(w):
    sweep = Sweep(w)
    for part in (pointwise, reductions, creation, shapes, indexing, products, networks):
        part(sweep)
