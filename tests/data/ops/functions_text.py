# SPDX-License-Identifier: Apache-2.0
"""Arguments that are words: the public functions take text or an enumeration where the operators' rows take numbers."""
import torch
import torch.nn.functional as F

F64 = torch.float64


def cases(w):
    d = lambda *s: w.randn(*s, dtype=F64)
    I = lambda v: torch.tensor(v, dtype=torch.int64)
    dims = lambda *v: ("dims", list(v))

    for mode, padding in (("constant", (1, 2)), ("reflect", (1, 2)), ("replicate", (2, 0)), ("circular", (1, 1))):
        w.case("pad", mode, lambda x, m=mode, p=padding: F.pad(x, p, m), [d(1, 2, 4)], [dims(*padding)], text=mode)
    for mode in ("reflect", "replicate", "circular"):
        w.case("pad", mode + "_2d", lambda x, m=mode: F.pad(x, (1, 0, 0, 2), m), [d(1, 1, 3, 3)], [dims(1, 0, 0, 2)], text=mode)
    for padding in ("same", "valid"):
        for label, sizes, kernel, dilation in (("1d", (1, 2, 6), (2, 2, 3), 1), ("1d_even", (1, 1, 5), (2, 1, 4), 1),
                                               ("1d_dilated", (2, 7), (1, 2, 2), 3)):
            w.case("conv1d", f"{padding}_{label}", lambda x, v, b, p=padding, n=dilation: F.conv1d(x, v, b, 1, p, n),
                   [d(*sizes), d(*kernel), d(kernel[0])], [dims(dilation)], text=padding)
        w.case("conv2d", padding, lambda x, v, b, p=padding: F.conv2d(x, v, b, 1, p, (1, 2)),
               [d(1, 2, 4, 5), d(2, 2, 2, 3), d(2)], [dims(1, 2)], text=padding)
        w.case("conv3d", padding, lambda x, v, b, p=padding: F.conv3d(x, v, b, 1, p),
               [d(1, 1, 2, 3, 3), d(1, 1, 2, 1, 3), d(1)], [dims(1)], text=padding)
    for mode in ("floor", "trunc"):
        w.case("div", mode, lambda a, b, m=mode: torch.div(a, b, rounding_mode=m), [d(2, 3) * 4, d(3)], text=mode, gradcheck="no")
        w.case("div", mode + "_int", lambda a, b, m=mode: torch.div(a, b, rounding_mode=m), [I([7, -7, 8]), I([2, 2, -3])], text=mode)
    for form in ("none", "tanh"):
        w.case("gelu", form, lambda x, f=form: F.gelu(x, approximate=f), [d(2, 3)], text=form)
    x, at, values = d(3, 2), I([[0, 2], [2, 1], [0, 0]]), d(3, 2)
    for reduce in ("sum", "prod", "mean", "amax", "amin"):
        for own in (True, False):
            w.case("scatter_reduce", f"{reduce}_{own}", lambda a, i, b, r=reduce, o=own: a.scatter_reduce(0, i, b, r, include_self=o),
                   [x, at, values], [("bool", own)], text=reduce)
    for reduce in ("prod", "mean", "amax", "amin"):
        w.case("index_reduce", reduce, lambda a, i, b, r=reduce: a.index_reduce(0, i, b, r), [d(3, 2), I([2, 0, 2]), d(3, 2)], text=reduce)
    for how in ("linear", "lower", "higher", "midpoint", "nearest"):
        for name, fn in (("quantile", torch.quantile), ("nanquantile", torch.nanquantile)):
            w.case(name, how, lambda a, f=fn, h=how: f(a, 0.35, dim=1, interpolation=h), [w.permutation(2, 6, dtype=F64)], text=how)
    for indexing in ("ij", "xy"):
        w.case("meshgrid", indexing, lambda a, b, i=indexing: torch.meshgrid(a, b, indexing=i), [d(2), d(3)], text=indexing)
    for order in ("fro", "nuc"):
        w.case("linalg_matrix_norm", order, lambda a, o=order: torch.linalg.matrix_norm(a, o), [d(2, 3, 2)], text=order, tol="1e-8")
        w.case("linalg_cond", order,
               lambda a, o=order: torch.linalg.matrix_norm(a, o) * torch.linalg.matrix_norm(torch.linalg.inv(a), o),
               [torch.tensor([[2.0, 0.5], [0.3, 1.0]], dtype=F64)], text=order, tol="1e-8", second="no")
    for code, reduction in enumerate(("none", "mean", "sum")):
        for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"):
            p = w.permutation(2, 2, 3, dtype=F64)
            w.case(name, reduction, lambda a, b, n=name, r=reduction: getattr(F, n)(a, b, reduction=r), [p[0], p[1]], text=reduction)
        w.case("cross_entropy", reduction, lambda a, t, r=reduction: F.cross_entropy(a, t, reduction=r), [d(3, 4), I([2, 0, 3])],
               text=reduction)
    w.case("kl_div", "batchmean", lambda a, b: F.kl_div(a, b, reduction="batchmean"), [d(2, 3).log_softmax(1), d(2, 3).softmax(1)],
           text="batchmean")
    for mode in ("sum", "mean", "max"):
        w.case("embedding_bag", mode, lambda v, i, m=mode: F.embedding_bag(i, v, mode=m), [w.permutation(4, 2, dtype=F64), I([[0, 3], [2, 2]])],
               text=mode)
    for mode in ("nearest", "nearest-exact", "bilinear", "bicubic", "area"):
        w.case("interpolate", mode, lambda x, m=mode: F.interpolate(x, (3, 5), mode=m), [d(1, 1, 2, 3)], [dims(3, 5)], text=mode,
               **({"second": "no"}))
    for mode in ("bilinear", "nearest", "bicubic"):
        for padding in ("zeros", "border", "reflection"):
            w.case("grid_sample", f"{mode}_{padding}", lambda x, g, m=mode, p=padding: F.grid_sample(x, g, m, p, False),
                   [d(1, 1, 3, 3), w.rand(1, 2, 2, 2, low=-1.3, high=1.3, dtype=F64)], text=f"{mode}_{padding}", gradcheck="no")
