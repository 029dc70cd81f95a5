# SPDX-License-Identifier: Apache-2.0
"""The detection operators need torchvision; where it cannot be imported their records are kept as they are in the file."""
import torch
import torch.nn.functional as F

aten = torch.ops.aten
F64 = torch.float64
MODES = ["bilinear", "nearest", "bicubic"]
PADDINGS = ["zeros", "border", "reflection"]


def dims(*values):
    return [("dims", list(v)) for v in values]


def ints(values):
    return torch.tensor(values, dtype=torch.int64)


def backward_of(fn, x):
    def run(g):
        leaf = x.to(g.dtype).requires_grad_(True)
        return torch.autograd.grad(fn(leaf), leaf, g, create_graph=True)[0]
    return run


def upsample(w, name, label, mode, xs, size=None, scale=None, **options):
    """scale: given as scale_factor, one a dimension."""
    extra = dict(options)
    align = extra.get("align_corners", False)
    x = w.randn(*xs)
    fn = lambda x: F.interpolate(x, size, scale, mode, **extra)
    y = fn(x)
    scales = [0.0] * (3 - len(xs[2:])) + [float(s) for s in scale] if scale else [0.0] * 3
    attrs = dims(y.shape[2:]) + [("bool", align or False), ("bool", extra.get("antialias", False))] + [("float", s) for s in scales]
    w.case(name, label, fn, [x], attrs, tol="1e-5")
    w.case(name + "_backward", label, backward_of(fn, x), [w.randn(*y.shape)], dims(xs) + attrs, tol="1e-5")


def upsamples(w):
    sizes = {1: (1, 2, 5), 2: (1, 2, 3, 4), 3: (1, 1, 2, 3, 2)}
    larger = {1: (8,), 2: (5, 7), 3: (3, 4, 3)}
    smaller = {1: (3,), 2: (2, 3), 3: (1, 2, 2)}
    scales = {1: (1.7,), 2: (1.6, 0.7), 3: (1.5, 1.4, 2.0)}
    for rank in (1, 2, 3):
        for name, mode in [(f"upsample_nearest{rank}d", "nearest"), (f"_upsample_nearest_exact{rank}d", "nearest-exact")]:
            upsample(w, name, "larger", mode, sizes[rank], larger[rank])
            upsample(w, name, "smaller", mode, sizes[rank], smaller[rank])
            upsample(w, name, "scale", mode, sizes[rank], scale=scales[rank])
        name, mode = [("upsample_linear1d", "linear"), ("upsample_bilinear2d", "bilinear"),
                      ("upsample_trilinear3d", "trilinear")][rank - 1]
        for align in (False, True):
            for label, size, scale in [("larger", larger[rank], None), ("smaller", smaller[rank], None), ("scale", None, scales[rank])]:
                upsample(w, name, f"{label}_{'corners' if align else 'centers'}", mode, sizes[rank], size, scale,
                         align_corners=align)
    for align in (False, True):
        for label, size, scale in [("larger", (5, 7), None), ("smaller", (2, 3), None), ("scale", None, (1.6, 0.7))]:
            upsample(w, "upsample_bicubic2d", f"{label}_{'corners' if align else 'centers'}", "bicubic", (1, 2, 3, 4), size, scale,
                     align_corners=align)
    for name, mode in [("upsample_bilinear2d", "bilinear"), ("upsample_bicubic2d", "bicubic")]:
        upsample(w, name, "antialias_smaller", mode, (1, 1, 6, 5), (3, 2), antialias=True, align_corners=False)
        upsample(w, name, "antialias_larger", mode, (1, 1, 3, 3), (5, 4), antialias=True, align_corners=False)


def grids(w):
    # Away from the kinks between elements.
    def grid(*sizes):
        return w.rand(*sizes, low=-1.3, high=1.3)
    for m, mode in enumerate(MODES):
        for p, padding in enumerate(PADDINGS):
            for align in (False, True):
                label = f"{mode}_{padding}_{'corners' if align else 'centers'}"
                attrs = [("int", m), ("int", p), ("bool", align)]
                options = {"tol": "2e-5"}
                if mode == "bicubic" and (align or padding == "border"):
                    options["gradcheck"] = "no"  # sixteen taps: slow
                w.case("grid_sample", label, lambda x, g: F.grid_sample(x, g, mode, padding, align),
                       [w.randn(1, 2, 3, 4), grid(1, 2, 3, 2)], attrs, **options)
    for m, mode in enumerate(MODES[:2]):
        w.case("grid_sample", f"3d_{mode}", lambda x, g: F.grid_sample(x, g, mode, "border", False),
               [w.randn(1, 1, 2, 3, 2), grid(1, 1, 2, 2, 3)], [("int", m), ("int", 1), ("bool", False)], tol="2e-5")
    w.case("grid_sample", "batch_float64", lambda x, g: F.grid_sample(x, g, "bilinear", "zeros", False),
           [w.randn(2, 1, 3, 2, dtype=F64), w.rand(2, 2, 1, 2, low=-1.2, high=1.2, dtype=F64)],
           [("int", 0), ("int", 0), ("bool", False)])
    for align in (False, True):
        w.case("affine_grid", f"2d_{align}", lambda t: F.affine_grid(t, [2, 1, 2, 3], align), [w.randn(2, 2, 3)],
               dims((2, 1, 2, 3)) + [("bool", align)], tol="1e-5")
        w.case("affine_grid", f"3d_{align}", lambda t: F.affine_grid(t, [1, 1, 2, 1, 3], align), [w.randn(1, 3, 4)],
               dims((1, 1, 2, 1, 3)) + [("bool", align)], tol="1e-5")


def embeddings(w):
    attrs = lambda padding, freq: [("int", padding), ("bool", freq)]
    index = ints([[4, 0, 2], [4, 2, 4]])
    for label, padding, freq in [("padding", 2, False), ("frequency", -1, True), ("both", 4, True)]:
        w.case("embedding", label, lambda v, i: F.embedding(i, v, None if padding < 0 else padding, scale_grad_by_freq=freq),
               [w.randn(5, 3), index], attrs(padding, freq), second="no" if freq else "yes",
               **({"gradcheck": "no"}))
    for label, p in [("l2", 2.0), ("l1", 1.0)]:
        w.case("embedding_renorm_", label, lambda v, i: torch.embedding_renorm_(v, i, 1.0, p), [w.randn(5, 3), ints([4, 0, 4, 1])],
               [("float", 1.0), ("float", p)], grad=False)
    bag = lambda mode, freq=False, last=False, padding=-1: [("int", mode), ("bool", freq), ("bool", last), ("int", padding)]
    flat, offsets = ints([1, 2, 4, 5, 4, 3, 2, 4]), ints([0, 3, 3, 6])
    for m, mode in enumerate(("sum", "mean", "max")):
        w.case("embedding_bag", f"matrix_{mode}", lambda v, i, o, s: F.embedding_bag(i, v, mode=mode),
               [w.permutation(5, 3), ints([[4, 0], [4, 2], [1, 1]]), None, None], bag(m), tol="2e-6")
        w.case("embedding_bag", f"offsets_{mode}", lambda v, i, o, s: F.embedding_bag(i, v, o, mode=mode),
               [w.permutation(6, 2), flat, offsets, None], bag(m), tol="2e-6")
        w.case("embedding_bag", f"padding_{mode}", lambda v, i, o, s: F.embedding_bag(i, v, o, mode=mode, padding_idx=4),
               [w.permutation(6, 2), flat, offsets, None], bag(m, padding=4), gradcheck="no", tol="2e-6")
    w.case("embedding_bag", "last_offset",
           lambda v, i, o, s: F.embedding_bag(i, v, o, mode="sum", include_last_offset=True),
           [w.randn(6, 2), flat, ints([0, 3, 3, 8]), None], bag(0, last=True), tol="2e-6")
    w.case("embedding_bag", "weighted", lambda v, i, o, s: F.embedding_bag(i, v, o, mode="sum", per_sample_weights=s),
           [w.randn(6, 2), flat, offsets, w.randn(8)], bag(0), tol="2e-6")
    for label, xs, d in [("rows", (3, 4), 1), ("first", (2, 3), 0)]:
        w.case("softmin", label, lambda x: F.softmin(x, d), [w.randn(*xs)], [("int", d)], tol="1e-5")


def detection(w):
    try:
        from torchvision import ops
    except ImportError:
        kept = w.path.read_text().split("\n\n") if w.path.exists() else []
        names = ("case roi_align", "case box_", "case nms")
        w.lines += "\n\n".join(c for c in kept if c.startswith(names)).split("\n") + [""]
        return

    def boxes(n, size=6.0):
        corner = w.rand(n, 2, high=size * 0.6)
        return torch.cat([corner, corner + w.rand(n, 2, low=0.4, high=size * 0.5)], 1)
    w.case("box_area", "few", ops.box_area, [boxes(4)], tol="2e-6")
    w.case("box_iou", "few", ops.box_iou, [boxes(3), boxes(4)], tol="4e-6")
    w.case("box_iou", "apart", ops.box_iou, [torch.tensor([[0.0, 0.0, 1.0, 1.0]]), torch.tensor([[2.0, 2.0, 3.0, 3.0]])],
           gradcheck="no")
    for label, n, threshold in [("some", 12, 0.3), ("most", 12, 0.7), ("none", 0, 0.5)]:
        w.case("nms", label, lambda b, s: ops.nms(b, s, threshold), [boxes(n), w.permutation(n)], [("float", threshold)],
               gradcheck="no")
    w.case("nms", "equal_scores", lambda b, s: ops.nms(b, s, 0.5), [boxes(5), torch.tensor([0.5, 0.9, 0.5, 0.9, 0.1])],
           [("float", 0.5)], gradcheck="no")
    for label, size, scale, ratio, aligned in [("aligned", (2, 2), 1.0, 2, True), ("plain", (2, 3), 0.5, -1, False),
                                               ("adaptive", (2, 2), 0.8, -1, True), ("one", (1, 1), 1.0, 1, False)]:
        rois = torch.cat([ints([0, 1, 1]).float()[:, None], boxes(3)], 1)
        params = dims(size) + [("float", scale), ("int", ratio), ("bool", aligned)]
        fn = lambda x, b: ops.roi_align(x, b, size, scale, ratio, aligned)
        x = w.randn(2, 2, 5, 4)
        w.case("roi_align", label, fn, [x, rois], params, constant="1", tol="1e-5")

        # Linear in x: its matrix, row by row, so that PyTorch can differentiate the adjoint too.
        units = torch.eye(x.numel()).reshape(x.numel(), *x.shape)
        matrix = torch.stack([fn(unit, rois).flatten() for unit in units])
        w.case("roi_align_backward", label, lambda g, b: (matrix @ g.flatten()).reshape(x.shape), [w.randn(3, 2, *size), rois],
               dims((2, 2, 5, 4)) + params, constant="1", tol="1e-5")


def cases(w):
    upsamples(w)
    grids(w)
    embeddings(w)
    detection(w)
