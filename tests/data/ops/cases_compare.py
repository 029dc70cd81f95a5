# SPDX-License-Identifier: Apache-2.0
import math

import torch

from make_reference import Number

SPECIALS = torch.tensor([math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0])


def cases(w):
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        fn = getattr(torch, name)
        close = lambda *s: w.randint(0, 3, s).to(torch.float32)
        w.case(name, "float", fn, [close(3, 5), close(3, 5)])
        w.case(name, "broadcast", fn, [close(3, 1), close(4)])
        w.case(name, "long", fn, [close(69), close(69)])
        w.case(name, "specials", fn, [SPECIALS.repeat(6), SPECIALS.repeat_interleave(6)])
        w.case(name, "int_float", fn, [w.randint(0, 3, (5,)), close(5)])
        w.case(name, "int_int", fn, [torch.tensor([2**53, 2**53 + 1]), torch.tensor([2**53 + 1, 2**53 + 1])])
        w.case(name, "bool_bool", fn, [torch.tensor([True, False, True]), torch.tensor([True, True, False])])
        w.case(name, "number", fn, [close(5), Number(1.0)])
        w.case(name, "float_with_number", fn, [torch.tensor([0.1, 0.2]), Number(0.1)])
        w.case(name, "float64", fn, [close(5).double(), close(5)])
        w.case(name, "zero_dim", fn, [close(1).reshape(()), close(1).reshape(())])
        w.case(name, "empty", fn, [close(0, 2), close(2)])
    for name in ("logical_and", "logical_or"):
        fn = getattr(torch, name)
        w.case(name, "bool", fn, [torch.tensor([True, True, False, False]), torch.tensor([True, False, True, False])])
        w.case(name, "float", fn, [torch.tensor([0.0, 1.5, math.nan, -0.0]), torch.tensor([1.0, 0.0, 2.0, 0.0])])
        w.case(name, "int_bool", fn, [w.randint(0, 2, (4, 1)), torch.tensor([True, False])])
    w.case("logical_not", "bool", torch.logical_not, [torch.tensor([[True, False]])])
    w.case("logical_not", "float", torch.logical_not, [SPECIALS])
    w.case("logical_not", "int", torch.logical_not, [torch.tensor([0, 3, -1])])
    for name in ("isnan", "isinf"):
        fn = getattr(torch, name)
        w.case(name, "float", fn, [SPECIALS.reshape(2, 3)])
        w.case(name, "float64", fn, [SPECIALS.double()])
        w.case(name, "long", fn, [SPECIALS.repeat(11)])
        w.case(name, "int", fn, [torch.tensor([1, 0])])
        w.case(name, "bool", fn, [torch.tensor([True, False])])
        w.case(name, "empty", fn, [torch.zeros(0)])
