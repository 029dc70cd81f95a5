# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn.functional as F

F64 = torch.float64
CONV = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSE = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}


def dims(*values):
    return [("dims", list(v)) for v in values]


def convolution(w, label, rank, xs, ws, stride, padding, dilation, groups, bias=True, dtype=torch.float32, **options):
    r = w.randn
    name = f"conv{rank}d"
    conv = lambda x, v, b: CONV[rank](x, v, b, stride, padding, dilation, groups)
    params = dims(stride, padding, dilation) + [("int", groups)]
    options.setdefault("tol", "2e-5" if dtype == torch.float32 else "1e-12")
    x, v = r(*xs, dtype=dtype), r(*ws, dtype=dtype)
    b = r(ws[0], dtype=dtype) if bias else None
    w.case(name, label, conv, [x, v, b], params, **options)
    g = r(*conv(x, v, b).shape, dtype=dtype)
    batched = len(xs) == rank + 2
    add = (lambda t: t) if batched else (lambda t: t.unsqueeze(0))
    drop = (lambda t: t) if batched else (lambda t: t.squeeze(0))

    def back(g, x, v, which):
        mask = [which == i for i in range(3)]
        return torch.ops.aten.convolution_backward(add(g), add(x), v, [0], list(stride), list(padding), list(dilation), False,
                                                   [0] * rank, groups, mask)[which]
    w.case(name + "_input_grad", label, lambda g, v: drop(back(g, x, v, 0)), [g, v], dims(xs) + params, **options)
    w.case(name + "_weight_grad", label, lambda g, x: back(g, x, v, 1), [g, x], dims(ws) + params, **options)


def transposed(w, label, rank, xs, ws, stride, padding, extra, groups, dilation, bias=True, dtype=torch.float32, **options):
    r = w.randn
    fn = lambda x, v, b: TRANSPOSE[rank](x, v, b, stride, padding, extra, groups, dilation)
    options.setdefault("tol", "2e-5" if dtype == torch.float32 else "1e-12")
    b = r(ws[1] * groups, dtype=dtype) if bias else None
    w.case(f"conv_transpose{rank}d", label, fn, [r(*xs, dtype=dtype), r(*ws, dtype=dtype), b],
           dims(stride, padding, extra) + [("int", groups)] + dims(dilation), **options)


def cases(w):
    c = lambda *a, **k: convolution(w, *a, **k)
    c("pad", 1, (2, 2, 5), (3, 2, 3), (1,), (1,), (1,), 1)
    c("stride_dilated", 1, (1, 2, 9), (2, 2, 2), (2,), (1,), (3,), 1, bias=False)
    c("groups", 1, (2, 4, 4), (4, 2, 3), (1,), (0,), (1,), 2)
    c("unbatched", 1, (2, 6), (3, 2, 3), (1,), (1,), (1,), 1)
    c("float64", 1, (1, 2, 5), (2, 2, 3), (1,), (1,), (1,), 1, dtype=F64, gradcheck="no")
    c("many_channels", 1, (1, 16, 4), (16, 16, 1), (1,), (0,), (1,), 1, gradcheck="no")
    c("unbatched", 2, (2, 4, 3), (3, 2, 3, 2), (1, 1), (1, 0), (1, 1), 1)
    c("pad", 3, (1, 2, 3, 3, 2), (2, 2, 2, 3, 2), (1, 1, 1), (0, 1, 1), (1, 1, 1), 1)
    c("stride_dilated", 3, (2, 1, 4, 5, 3), (2, 1, 2, 2, 2), (2, 1, 2), (1, 0, 1), (1, 2, 1), 1, bias=False)
    c("groups", 3, (1, 2, 2, 2, 2), (4, 1, 2, 1, 2), (1, 1, 1), (0, 0, 1), (1, 1, 1), 2)
    c("unbatched", 3, (1, 2, 3, 2), (2, 1, 2, 2, 1), (1, 1, 1), (0, 0, 0), (1, 1, 1), 1)
    c("float64", 3, (1, 2, 2, 3, 2), (2, 2, 2, 2, 1), (1, 1, 1), (1, 0, 0), (1, 1, 1), 1, dtype=F64, gradcheck="no")
    plain = lambda n: dims([1] * n, [0] * n, [1] * n) + [("int", 1)]
    w.case("conv1d", "empty_batch", F.conv1d, [w.randn(0, 2, 4), w.randn(3, 2, 3), w.randn(3)], plain(1))
    w.case("conv3d", "empty_batch", F.conv3d, [w.randn(0, 1, 2, 2, 2), w.randn(1, 1, 2, 2, 2), None], plain(3))
    t = lambda *a, **k: transposed(w, *a, **k)
    t("plain", 1, (2, 2, 4), (2, 3, 3), (1,), (0,), (0,), 1, (1,))
    t("stride", 1, (1, 2, 4), (2, 2, 3), (2,), (1,), (1,), 1, (1,))
    t("dilated", 1, (1, 2, 3), (2, 1, 3), (1,), (1,), (1,), 1, (2,), bias=False)
    t("groups", 1, (2, 4, 3), (4, 2, 2), (2,), (0,), (0,), 2, (1,))
    t("unbatched", 1, (2, 4), (2, 2, 3), (2,), (1,), (0,), 1, (1,))
    t("float64", 1, (1, 2, 3), (2, 2, 3), (2,), (1,), (1,), 1, (1,), dtype=F64, gradcheck="no")
    t("stride", 2, (1, 2, 3, 3), (2, 2, 3, 2), (2, 1), (1, 0), (1, 0), 1, (1, 1))
    t("wide_extra", 2, (1, 1, 2, 2), (1, 1, 2, 2), (1, 1), (0, 1), (1, 2), 1, (2, 3), bias=False)
    t("groups", 2, (2, 4, 2, 2), (4, 1, 2, 2), (2, 2), (0, 0), (0, 0), 4, (1, 1))
    t("unbatched", 2, (2, 2, 3), (2, 1, 2, 2), (2, 2), (0, 0), (1, 1), 1, (1, 1))
    t("many_channels", 2, (1, 16, 2, 2), (16, 16, 1, 1), (2, 2), (0, 0), (0, 0), 1, (1, 1), gradcheck="no")
    t("stride", 3, (1, 2, 2, 2, 2), (2, 1, 2, 2, 2), (2, 2, 1), (0, 1, 0), (1, 0, 0), 1, (1, 1, 1))
    t("groups", 3, (1, 2, 2, 1, 2), (2, 1, 1, 2, 2), (1, 1, 2), (0, 0, 0), (0, 0, 1), 2, (1, 1, 1), bias=False)
    w.case("conv_transpose2d", "empty_batch", F.conv_transpose2d, [w.randn(0, 2, 2, 2), w.randn(2, 1, 2, 2), None],
           dims((1, 1), (0, 0), (0, 0)) + [("int", 1)] + dims((1, 1)))
