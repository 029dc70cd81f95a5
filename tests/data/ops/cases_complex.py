# SPDX-License-Identifier: Apache-2.0
"""Operators on complex64. Values stay away from 0, where magnitudes and angles have no gradient."""
import torch

from make_reference import Number


def cases(w):
    c = w.crandn
    r = w.randn
    dims = lambda *v: ("dims", list(v))
    ints = lambda *v: [("int", i) for i in v]
    c64 = ("dtype", torch.complex64)

    def away(*sizes):
        """Magnitudes from 0.5 to 2."""
        return torch.polar(w.rand(sizes, low=0.5, high=2.0), w.rand(sizes, low=-3.0, high=3.0))

    special = torch.tensor([0j, complex(0, -1), complex(-2, 0), complex(3, 4), complex(float("inf"), 1), complex(1, float("nan"))])

    w.case("complex", "plain", torch.complex, [r(2, 3), r(2, 3)])
    w.case("complex", "broadcast", torch.complex, [r(2, 1), r(3)])
    w.case("complex", "scalar", torch.complex, [r(), r()])
    w.case("complex", "empty", torch.complex, [r(0, 2), r(0, 2)])
    w.case("polar", "plain", torch.polar, [w.rand((2, 3), low=0.5, high=2.0), r(2, 3)])
    w.case("polar", "broadcast", torch.polar, [w.rand((2, 1), low=0.5, high=2.0), r(3)])
    w.case("real", "plain", torch.real, [c(2, 3)])
    w.case("real", "scalar", torch.real, [c()])
    w.case("real", "of_real", torch.real, [r(2, 3)])
    w.case("imag", "plain", torch.imag, [c(2, 3)])
    w.case("imag", "refused", None, [r(2, 3)], refused="yes")
    w.case("view_as_real", "plain", torch.view_as_real, [c(2, 3)])
    w.case("view_as_real", "scalar", torch.view_as_real, [c()])
    w.case("view_as_real", "empty", torch.view_as_real, [c(0, 3)])
    w.case("view_as_real", "refused", None, [r(2)], refused="yes")
    w.case("view_as_complex", "plain", torch.view_as_complex, [r(2, 3, 2)], layouts="contiguous")
    w.case("view_as_complex", "one", torch.view_as_complex, [r(2)], layouts="contiguous")
    w.case("view_as_complex", "empty", torch.view_as_complex, [r(0, 3, 2)], layouts="contiguous")
    w.case("conj", "plain", lambda x: torch.conj(x).resolve_conj(), [c(2, 3)])
    w.case("conj", "of_real", lambda x: torch.conj(x) + 0, [r(2, 3)])
    w.case("angle", "plain", torch.angle, [away(2, 3)])
    w.case("angle", "axes", torch.angle, [torch.tensor([0j, 1, -1, 1j, -1j])], gradcheck="no")
    w.case("angle", "of_real", torch.angle, [torch.tensor([-2.0, 0.0, 3.0, float("nan")])], gradcheck="no")
    w.case("angle", "of_int", torch.angle, [torch.tensor([-2, 0, 3])])
    w.case("abs", "complex", torch.abs, [away(2, 3)])
    w.case("abs", "complex_special", torch.abs, [special], gradcheck="no", grad=False)
    w.case("abs", "complex_zero", torch.abs, [torch.tensor([0j, 3 + 4j])], gradcheck="no")
    w.case("sgn", "complex", torch.sgn, [away(2, 3)])
    w.case("sgn", "complex_zero", torch.sgn, [torch.tensor([0j, 3 + 4j])], gradcheck="no")
    w.case("sign", "complex", None, [c(2)], refused="yes")
    w.case("exp", "complex", torch.exp, [c(2, 3)], tol=1e-5)
    w.case("neg", "complex", torch.neg, [c(2, 3)])

    for name, fn in (("add", torch.add), ("sub", torch.sub), ("mul", torch.mul), ("div", torch.div)):
        w.case(name, "complex", fn, [away(2, 3), away(2, 3)], tol=1e-5)
        w.case(name, "complex_broadcast", fn, [away(2, 1), away(3)], tol=1e-5)
        w.case(name, "complex_and_real", fn, [away(2, 3), w.rand((3,), low=0.5, high=2.0)], tol=1e-5)
        w.case(name, "real_and_complex", fn, [r(2, 3), away(2, 3)], tol=1e-5)
        w.case(name, "complex_and_int", fn, [away(2, 3), torch.tensor([1, 2, 3])], tol=1e-5)
        w.case(name + "_", "complex", getattr(torch.Tensor, name + "_"), [away(2, 3), away(3)], tol=1e-5)
        w.case(name + "_", "complex_and_real", getattr(torch.Tensor, name + "_"), [away(2, 3), w.rand((3,), low=0.5, high=2.0)],
               tol=1e-5)
        w.case(name + "_", "complex_into_real", None, [r(2, 3), away(2, 3)], refused="yes")
        w.case(name, "complex_and_number", fn, [away(2, 3), Number(1.5)], tol=1e-5)
        w.case(name, "complex_and_double", None, [away(2, 3), r(3, dtype=torch.float64)], refused="yes")
    w.case("div", "complex_by_zero", torch.div, [torch.tensor([1 + 2j, -1j, 0j]), torch.tensor([0j, 0j, 0j])], gradcheck="no",
           grad=False)
    w.case("div", "complex_large", torch.div, [torch.tensor([1e30 + 1e30j, 1e-30j]), torch.tensor([1e30 - 1e30j, 1e-30 + 1e-30j])],
           gradcheck="no", grad=False)
    w.case("pow", "complex", None, [c(2), c(2)], refused="yes")

    w.case("eq", "complex", torch.eq, [torch.tensor([1 + 2j, 1 + 2j, 3j]), torch.tensor([1 + 2j, 1 - 2j, 3j])])
    w.case("ne", "complex", torch.ne, [torch.tensor([1 + 2j, 1 + 2j, 3j]), torch.tensor([1 + 2j, 1 - 2j, 3j])])
    w.case("eq", "complex_and_real", torch.eq, [torch.tensor([1 + 2j, 1, 3]), torch.tensor([1.0, 1.0, 2.0])])
    w.case("lt", "complex", None, [c(2), c(2)], refused="yes")
    w.case("isnan", "complex", torch.isnan, [special])
    w.case("isinf", "complex", torch.isinf, [special])
    w.case("logical_not", "complex", torch.logical_not, [special])

    keep = lambda *d, k=False: [dims(*d), ("bool", k)]
    w.case("sum", "complex_all", torch.sum, [c(2, 3, 4)], keep(), tol=1e-5)
    w.case("sum", "complex_rows", lambda x: x.sum(1), [c(2, 3, 4)], keep(1), tol=1e-5)
    w.case("sum", "complex_keepdim", lambda x: x.sum((0, 2), keepdim=True), [c(2, 3, 4)], keep(0, 2, k=True), tol=1e-5)
    w.case("sum", "complex_scalar", torch.sum, [c()], keep())
    w.case("sum", "complex_empty", lambda x: x.sum(0), [c(0, 3)], keep(0))
    w.case("mean", "complex_all", torch.mean, [c(2, 3)], keep(), tol=1e-5)
    w.case("mean", "complex_columns", lambda x: x.mean(0), [c(4, 3)], keep(0), tol=1e-5)
    w.case("mean", "complex_empty", lambda x: x.mean(0), [c(0, 3)], keep(0))
    w.case("var", "complex", None, [c(3)], [dims(), ("int", 1), ("bool", False)], refused="yes")

    w.case("to", "real_to_complex", lambda x: x.to(torch.complex64), [r(2, 3)], [c64])
    w.case("to", "int_to_complex", lambda x: x.to(torch.complex64), [w.randint(-9, 9, (2, 3))], [c64])
    w.case("to", "half_to_complex", lambda x: x.to(torch.complex64), [r(3, dtype=torch.float16)], [c64], gradcheck="no")
    w.case("to", "complex_to_real", lambda x: x.to(torch.float32), [c(2, 3)], [("dtype", torch.float32)])
    w.case("to", "complex_to_double", lambda x: x.to(torch.float64), [c(2, 3)], [("dtype", torch.float64)])
    w.case("to", "complex_to_int", lambda x: x.to(torch.int64), [c(2, 3) * 5], [("dtype", torch.int64)])
    w.case("to", "complex_to_bool", lambda x: x.to(torch.bool), [torch.tensor([0j, 1j, 1, 0])], [("dtype", torch.bool)])
    w.case("copy_", "complex", lambda x, y: x.copy_(y), [c(2, 3), c(3)])
    w.case("copy_", "real_into_complex", lambda x, y: x.copy_(y), [c(2, 3), r(2, 3)])
    w.case("copy_", "complex_into_real", lambda x, y: x.copy_(y), [r(2, 3), c(2, 3)])
    w.case("fill_", "complex", lambda x: x.fill_(1.5), [c(2, 3)], [("float", 1.5)])
    w.case("zero_", "complex", lambda x: x.zero_(), [c(2, 3)])
    w.case("exp_", "complex", lambda x: x.exp_(), [c(2, 3)], tol=1e-5)
    w.case("neg_", "complex", lambda x: x.neg_(), [c(2, 3)])
    w.case("abs_", "complex", None, [c(2, 3)], refused="yes")
    w.case("clone", "complex", torch.clone, [c(2, 3)])
    w.case("contiguous", "complex", lambda x: x.contiguous(), [c(2, 3)])
    w.case("where", "complex", torch.where, [torch.tensor([True, False, True]), c(2, 3), c(2, 3)])
    w.case("where", "complex_and_real", torch.where, [torch.tensor([True, False, True]), c(2, 3), r(3)], grad=False)
    w.case("masked_fill", "complex", lambda x, m: x.masked_fill(m, 2.0), [c(2, 3), torch.tensor([True, False, True])], [("float", 2.0)])

    size = [dims(2, 3), c64]
    w.case("zeros", "complex", lambda: torch.zeros(2, 3, dtype=torch.complex64), [], size)
    w.case("ones", "complex", lambda: torch.ones(2, 3, dtype=torch.complex64), [], size)
    w.case("full", "complex", lambda: torch.full((2, 3), 1.5, dtype=torch.complex64), [], [("float", 1.5)] + size)
    w.case("eye", "complex", lambda: torch.eye(2, 3, dtype=torch.complex64), [], [("int", 2), c64, ("int", 3)])
    w.case("zeros_like", "complex", torch.zeros_like, [c(2, 3)])
    w.case("ones_like", "complex", torch.ones_like, [c(2, 3)])
    w.case("full_like", "complex", lambda x: torch.full_like(x, 1.5), [c(2, 3)], [("float", 1.5)])
    w.case("rand", "complex", None, [], size, refused="yes")

    w.case("cat", "complex", lambda *t: torch.cat(t, 1), [c(2, 3), c(2, 1)], ints(1))
    w.case("cat", "complex_and_real", lambda *t: torch.cat(t, 0), [c(2, 3), r(1, 3)], ints(0))
    w.case("stack", "complex", lambda *t: torch.stack(t, -1), [c(2, 3), c(2, 3)], ints(-1))
    w.case("flip", "complex", lambda x: x.flip(1), [c(2, 3)], [dims(1)])
    w.case("pad", "complex", lambda x: torch.nn.functional.pad(x, (1, 2, 0, 1), value=1.5), [c(2, 3)], [dims(1, 2, 0, 1), ("float", 1.5)])
    w.case("roll", "complex", lambda x: x.roll((1, 2), (0, 1)), [c(2, 3)], [dims(1, 2), dims(0, 1)])
    w.case("view", "complex", lambda x: x.view(3, 2), [c(2, 3)], [dims(3, 2)], layouts="contiguous")
    w.case("permute", "complex", lambda x: x.permute(2, 0, 1), [c(2, 3, 4)], [dims(2, 0, 1)])
    w.case("transpose", "complex", lambda x: x.transpose(0, 1), [c(2, 3)], ints(0, 1))
    w.case("expand", "complex", lambda x: x.expand(2, 3), [c(3)], [dims(2, 3)])
    w.case("narrow", "complex", lambda x: x.narrow(1, 1, 2), [c(2, 4)], ints(1, 1, 2))
    w.case("slice", "complex", lambda x: x[:, 1:7:2], [c(2, 7)], ints(1, 1, 7, 2))
    w.case("select", "complex", lambda x: x.select(1, -2), [c(2, 3, 2)], ints(1, -2))
    index = torch.tensor([2, 0, 2])
    w.case("index_select", "complex", lambda x, i: x.index_select(1, i), [c(2, 3), index], ints(1))
    w.case("index_add", "complex", lambda x, i, s: x.index_add(1, i, s), [c(2, 4), index, c(2, 3)], ints(1), tol=1e-5)
    w.case("gather", "complex", lambda x, i: x.gather(1, i), [c(2, 3), torch.tensor([[2, 0], [1, 1]])], ints(1))
    w.case("scatter_add", "complex", lambda x, i, s: x.scatter_add(1, i, s), [c(2, 3), torch.tensor([[2, 0], [1, 1]]), c(2, 2)],
           ints(1), tol=1e-5)
    w.case("sin", "complex", None, [c(2)], refused="yes")
    w.case("matmul", "complex", None, [c(2, 2), c(2, 2)], refused="yes")
