# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn.functional as F

F64 = torch.float64


def cases(w):
    r = w.randn
    dims = lambda *v: ("dims", list(v))
    ints = lambda *v: [("int", i) for i in v]

    for label, sizes, d, size, step in (("overlap", (2, 6), 1, 3, 1), ("apart", (7, 2), 0, 2, 3), ("last", (2, 3, 5), -1, 2, 2),
                                        ("whole", (3,), 0, 3, 1), ("long_step", (3,), 0, 2, 100), ("none", (3,), 0, 0, 1)):
        w.case("unfold", label, lambda x, a=d, b=size, c=step: x.unfold(a, b, c), [r(*sizes)], ints(d, size, step),
               **({"gradcheck": "no"} if size == 0 else {}))
        g = r(*torch.zeros(*sizes).unfold(d, size, step).shape)
        w.case("unfold_backward", label,
               lambda x, s=sizes, a=d, b=size, c=step: torch.ops.aten.unfold_backward(x, list(s), a % len(s), b, c), [g],
               [dims(*sizes)] + ints(d, size, step), grad=False, **({"gradcheck": "no"} if size == 0 else {}))
    w.case("unfold_backward", "gradient", _unfold_backward, [r(2, 3, 2)],
           [dims(2, 4)] + ints(1, 2, 1))
    w.case("unfold", "zero_dim", lambda x: x.unfold(0, 1, 1), [torch.tensor(1.5)], ints(0, 1, 1))
    w.case("unfold", "int", lambda x: x.unfold(0, 2, 1), [torch.arange(4)], ints(0, 2, 1))

    def strided(label, x, size, stride, offset=None, **o):
        w.case("as_strided", label, lambda t: torch.as_strided(t.contiguous(), size, stride, offset), [x],
               [dims(*size), dims(*stride), ("none", None) if offset is None else ("int", offset)], layouts="contiguous", **o)
    strided("overlapping", r(3, 3), (2, 4), (2, 1))
    strided("offset", r(8), (2, 2), (3, 1), 1)
    strided("repeated", r(4), (2, 3), (0, 1))
    strided("scalar", r(4), (), (), 2)
    strided("int", torch.arange(6), (2, 2), (3, 2))
    w.case("as_strided_backward", "overlapping", _strided_backward, [r(2, 4)],
           [dims(3, 3), dims(3, 1), ("int", 0), dims(2, 1), ("int", 0)])

    def images(label, sizes, kernel, dilation=(1, 1), padding=(0, 0), stride=(1, 1), **o):
        attrs = [dims(*kernel), dims(*dilation), dims(*padding), dims(*stride)]
        w.case("im2col", label, lambda x: F.unfold(x, kernel, dilation, padding, stride), [r(*sizes)], attrs, **o)
        columns = F.unfold(torch.zeros(*sizes), kernel, dilation, padding, stride)
        w.case("col2im", label, lambda x: F.fold(x, sizes[-2:], kernel, dilation, padding, stride), [r(*columns.shape)],
               [dims(*sizes[-2:])] + attrs, **o)
    images("plain", (2, 2, 3, 4), (2, 2))
    images("padded", (1, 2, 3, 3), (2, 3), (1, 1), (1, 1), (2, 1))
    images("dilated", (1, 1, 5, 4), (2, 2), (2, 1), (0, 1), (1, 2))
    images("one_image", (2, 3, 3), (2, 2))
    w.case("im2col", "float64", lambda x: F.unfold(x, 2), [r(1, 1, 3, 3, dtype=F64)], [dims(2), dims(1), dims(0), dims(1)])

    modes = {"reflect": "reflection_pad", "replicate": "replication_pad", "circular": "circular_pad"}
    for code, (mode, name) in enumerate(modes.items()):
        def pad(label, n, sizes, padding, **o):
            w.case(f"{name}{n}d", label, lambda x: F.pad(x, padding, mode=mode), [r(*sizes)], [dims(*padding)], **o)
        pad("batch", 1, (2, 2, 4), (1, 3))
        pad("one", 1, (2, 4), (2, 0))
        pad("crops", 1, (1, 2, 5), (-1, 2))
        pad("batch", 2, (1, 2, 3, 3), (1, 2, 2, 0))
        pad("one", 2, (2, 3, 2), (1, 0, 0, 2))
        pad("batch", 3, (1, 1, 2, 3, 2), (1, 0, 2, 1, 1, 1))
        pad("one", 3, (1, 2, 2, 3), (0, 1, 1, 1, 1, 0))
        w.case(f"{name}1d", "float64", lambda x, m=mode: F.pad(x, (1, 1), mode=m), [r(1, 2, 3, dtype=F64)], [dims(1, 1)])

        def back(g, m=mode):
            x = torch.zeros(1, 2, 3, dtype=g.dtype, requires_grad=True)
            return torch.autograd.grad(F.pad(x, (2, 1), mode=m), x, g, create_graph=True)[0]
        w.case("pad_mode_backward", mode, back, [r(1, 2, 6)], [dims(1, 2, 3), dims(2, 1), ("int", code)])


def _unfold_backward(g):
    x = torch.zeros(2, 4, dtype=g.dtype, requires_grad=True)
    return torch.autograd.grad(x.unfold(1, 2, 1), x, g, create_graph=True)[0]


def _strided_backward(g):
    x = torch.zeros(3, 3, dtype=g.dtype, requires_grad=True)
    return torch.autograd.grad(x.as_strided((2, 4), (2, 1)), x, g, create_graph=True)[0]
