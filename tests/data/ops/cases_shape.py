# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn.functional as F


def cases(w):
    dims = lambda *v: ("dims", list(v))
    ints = lambda *v: [("int", i) for i in v]
    r = w.randn

    w.case("view", "plain", lambda x: x.view(3, 4), [r(2, 6)], [dims(3, 4)], layouts="contiguous")
    w.case("view", "inferred", lambda x: x.view(2, -1, 3), [r(2, 6)], [dims(2, -1, 3)], layouts="contiguous")
    w.case("reshape", "inferred", lambda x: x.reshape(4, -1), [r(2, 6)], [dims(4, -1)], layouts="contiguous")
    w.case("reshape", "from_scalar", lambda x: x.reshape(1, 1), [torch.tensor(0.5)], [dims(1, 1)])
    w.case("reshape", "to_scalar", lambda x: x.reshape(()), [r(1, 1)], [dims()])
    w.case("reshape", "empty", lambda x: x.reshape(3, 0), [r(0, 2)], [dims(3, 0)])
    w.case("reshape", "int", lambda x: x.reshape(6), [w.randint(-9, 9, (2, 3))], [dims(6)], layouts="contiguous")
    w.case("flatten", "rows", lambda x: x.flatten(1), [r(2, 3, 2)], ints(1, -1), layouts="contiguous")
    w.case("flatten", "middle", lambda x: x.flatten(1, 2), [r(2, 3, 2, 2)], ints(1, 2), layouts="contiguous")
    w.case("flatten", "scalar", lambda x: x.flatten(), [torch.tensor(0.5)], ints(0, -1))
    w.case("permute", "all", lambda x: x.permute(2, 0, 1), [r(2, 3, 4)], [dims(2, 0, 1)])
    w.case("permute", "negative", lambda x: x.permute(-1, 0, -2), [r(2, 3, 4)], [dims(-1, 0, -2)])
    w.case("transpose", "outer", lambda x: x.transpose(0, -1), [r(2, 3, 4)], ints(0, -1))
    w.case("transpose", "scalar", lambda x: x.transpose(0, -1), [torch.tensor(0.5)], ints(0, -1))
    w.case("expand", "grow", lambda x: x.expand(2, 3, 4), [r(3, 1)], [dims(2, 3, 4)])
    w.case("expand", "keep", lambda x: x.expand(2, -1, 4), [r(3, 1)], [dims(2, -1, 4)])
    w.case("expand", "scalar", lambda x: x.expand(2, 2), [torch.tensor(0.5)], [dims(2, 2)])
    w.case("squeeze", "one", lambda x: x.squeeze(1), [r(2, 1, 3)], ints(1))
    w.case("squeeze", "not_one", lambda x: x.squeeze(0), [r(2, 1, 3)], ints(0))
    w.case("unsqueeze", "middle", lambda x: x.unsqueeze(1), [r(2, 3)], ints(1))
    w.case("unsqueeze", "last", lambda x: x.unsqueeze(-1), [r(2, 3)], ints(-1))

    w.case("narrow", "middle", lambda x: x.narrow(1, 1, 2), [r(2, 4)], ints(1, 1, 2))
    w.case("narrow", "negative", lambda x: x.narrow(-1, -3, 2), [r(2, 4)], ints(-1, -3, 2))
    w.case("slice", "step", lambda x: x[:, 1:7:2], [r(2, 7)], ints(1, 1, 7, 2))
    w.case("slice", "clamped", lambda x: x[-3:100], [r(5, 2)], ints(0, -3, 100, 1))
    w.case("slice", "empty", lambda x: x[3:1], [r(5, 2)], ints(0, 3, 1, 1))
    w.case("select", "negative", lambda x: x.select(1, -2), [r(2, 3, 2)], ints(1, -2))
    w.case("slice_backward", "step", lambda g: torch.ops.aten.slice_backward(g, [2, 7], 1, 1, 7, 2), [r(2, 3)],
           [dims(2, 7)] + ints(1, 1, 7, 2))

    w.case("contiguous", "plain", lambda x: x.contiguous(), [r(2, 3)])
    w.case("clone", "plain", lambda x: x.clone(), [r(2, 3)])
    w.case("clone", "bool", lambda x: x.clone(), [w.randint(0, 2, (3, 2), torch.bool)])
    w.case("clone", "larger", lambda x: x.clone(), [r(37, 19)], gradcheck="no")
    w.case("cat", "columns", lambda *x: torch.cat(x, 1), [r(2, 1), r(2, 3), r(2, 2)], ints(1))
    w.case("cat", "negative", lambda *x: torch.cat(x, -2), [r(1, 2), r(3, 2)], ints(-2))
    w.case("cat", "skips_empty", lambda *x: torch.cat(x, 1), [r(0), r(2, 1), r(2, 2)], ints(1))
    w.case("cat", "promotes", lambda *x: torch.cat(x, 0), [w.randint(-9, 9, (2,)), r(3)], ints(0))
    w.case("stack", "middle", lambda *x: torch.stack(x, 1), [r(2, 3), r(2, 3)], ints(1))
    w.case("stack", "last", lambda *x: torch.stack(x, -1), [r(2), r(2), r(2)], ints(-1))
    w.case("flip", "two", lambda x: x.flip(0, -1), [r(2, 3, 2)], [dims(0, -1)])
    w.case("pad", "value", lambda x: F.pad(x, (1, 2, 0, 1), value=0.5), [r(2, 3)], [dims(1, 2, 0, 1), ("float", 0.5)])
    w.case("pad", "crops", lambda x: F.pad(x, (-1, 1)), [r(2, 3)], [dims(-1, 1), ("float", 0.0)])
    w.case("pad", "crops_all", lambda x: F.pad(x, (-2, -1)), [r(2, 3)], [dims(-2, -1), ("float", 0.0)])
    w.case("pad", "int", lambda x: F.pad(x, (1, 1), value=7), [w.randint(-9, 9, (2, 2))], [dims(1, 1), ("float", 7.0)])
