# SPDX-License-Identifier: Apache-2.0
import math

import torch
import torch.nn.functional as F

F64 = torch.float64


def dims(*values):
    return [("dims", list(v)) for v in values]


def backwards(w):
    """The *_backward rows by their definition, mean and invstd being inputs like the others."""
    r = w.randn

    def norm_backward(stats, shared, shape, training):
        def run(g, x, mean, invstd, v):
            mean, invstd = mean.reshape(shape), invstd.reshape(shape)
            along = (1,) * (x.dim() - v.dim()) + tuple(v.shape) if stats[0] != 0 or 1 in stats or x.dim() == 1 else shape
            gw = g * v.reshape(along)
            c = x - mean
            m = lambda t: t.mean(stats, keepdim=True)
            dx = invstd * (gw - m(gw)) - invstd**3 * c * m(gw * c) if training else gw * invstd
            total = lambda t: (t.sum(shared) if shared else t).reshape(v.shape)
            return dx, total(g * c * invstd), total(g)
        return run

    for label, xs in [("4d", (3, 2, 2, 2)), ("2d", (4, 3)), ("5d", (2, 2, 1, 2, 2))]:
        c = xs[1]
        over = [0] + list(range(2, len(xs)))
        shape = [1, c] + [1] * (len(xs) - 2)
        for training in (True, False):
            w.case("batch_norm_backward", f"{'train' if training else 'eval'}_all_{label}", norm_backward(over, over, shape, training),
                   [r(*xs), r(*xs), r(c) * 0.1, r(c).abs() + 0.5, r(c)], [("bool", training)], tol="2e-5")
    for label, xs, n in [("last", (3, 4), 1), ("two", (2, 3, 2), 2), ("all", (5,), 1)]:
        lead = xs[:len(xs) - n]
        over = list(range(len(lead), len(xs)))
        shared = list(range(len(lead)))
        shape = list(lead) + [1] * n
        w.case("layer_norm_backward", f"all_{label}", norm_backward(over, shared, shape, True),
               [r(*xs), r(*xs), r(*lead) * 0.1 if lead else torch.tensor(0.05), r(*lead).abs() + 0.5 if lead else torch.tensor(0.9),
                r(*xs[len(lead):])], dims(xs[len(lead):]), tol="2e-5")


def group(groups):
    """With the statistics, which get no gradient."""
    def run(x, v, b):
        rows = x.detach().reshape(x.shape[0], groups, -1) if x.numel() else x.new_zeros(0, groups, 1)
        return (F.group_norm(x, groups, v, b, 1e-5), rows.mean(2), (rows.var(2, unbiased=False) + 1e-5).rsqrt())
    return run


def group_backwards(w):
    r = w.randn
    for label, xs, groups in [("4d", (2, 4, 2, 2), 2), ("2d", (3, 6), 3)]:
        n, c = xs[:2]

        def run(g, x, mean, invstd, v):
            g4, x4, w4 = (t.reshape(-1, groups, c // groups, x[0, 0].numel() if t.dim() > 1 else 1) for t in (g, x, v))
            mean, invstd = mean[:, :, None, None], invstd[:, :, None, None]
            gw, d = g4 * w4, x4 - mean
            m = lambda t: t.mean((2, 3), keepdim=True)
            dx = invstd * (gw - m(gw)) - invstd**3 * d * m(gw * d)
            return dx.reshape(x.shape), (g4 * d * invstd).sum((0, 3)).flatten(), g4.sum((0, 3)).flatten()
        w.case("group_norm_backward", label, run, [r(*xs), r(*xs), r(n, groups) * 0.1, r(n, groups).abs() + 0.5, r(c)],
               [("int", groups)], tol="2e-5")


def batch_norms(w):
    r = w.randn
    xs, c = (2, 3, 2, 1, 2), 3
    for training in (True, False):
        def run(x, v, b, m, s):
            y, mean, invstd = torch.native_batch_norm(x, v, b, m.clone(), s.clone(), training, 0.1, 1e-5)
            return (y, mean, invstd) if training else (y, m.clone(), (s + 1e-5).rsqrt())
        w.case("batch_norm", f"{'train' if training else 'eval'}_5d", run, [r(*xs), r(c), r(c), r(c), r(c).abs() + 0.5],
               [("bool", training), ("float", 0.1), ("float", 1e-5)], constant="3,4", tol="2e-5", gradoutputs=1)


def cases(w):
    r = w.randn
    backwards(w)
    batch_norms(w)
    group_backwards(w)
    for label, xs, groups, affine in [("4d", (2, 4, 2, 2), 2, True), ("2d", (3, 6), 3, True), ("plain", (2, 4, 3), 1, False),
                                      ("each", (2, 3, 3), 3, True)]:
        c = xs[1]
        w.case("group_norm", label, group(groups), [r(*xs), r(c) if affine else None, r(c) if affine else None],
               [("int", groups), ("float", 1e-5)], tol="2e-5", gradoutputs=1)
    w.case("group_norm", "float64", group(2),
           [r(1, 4, 3, dtype=F64), r(4, dtype=F64), r(4, dtype=F64)], [("int", 2), ("float", 1e-5)], gradoutputs=1)
    w.case("group_norm", "empty", group(2), [r(0, 4, 3), r(4), r(4)], [("int", 2), ("float", 1e-5)], gradoutputs=1)
    attrs = lambda stats: [("bool", stats), ("float", 0.2), ("float", 1e-5)]
    for label, xs, affine, running in [("3d", (2, 3, 4), True, True), ("4d", (2, 2, 2, 3), True, False),
                                       ("5d", (1, 2, 2, 1, 3), False, False)]:
        c = xs[1]
        stats = lambda: (r(c), r(c).abs() + 0.5) if running else (None, None)
        copy = lambda t: None if t is None else t.detach().clone()
        for use in ((True, False) if running else (True,)):
            w.case("instance_norm", f"{label}_{'input' if use else 'running'}",
                   lambda x, v, b, m, s: F.instance_norm(x, copy(m), copy(s), v, b, use, 0.2, 1e-5),
                   [r(*xs), r(c) if affine else None, r(c) if affine else None, *stats()], attrs(use), constant="3,4", tol="2e-5")
    for label, xs, shape, weight, eps in [("last", (3, 4), (4,), True, 1e-5), ("two", (2, 3, 2), (3, 2), True, 1e-3),
                                          ("plain", (2, 5), (5,), False, -1.0), ("one", (4,), (4,), True, -1.0)]:
        w.case("rms_norm", label, lambda x, v: F.rms_norm(x, shape, v, None if eps < 0 else eps),
               [r(*xs), r(*shape) if weight else None], dims(shape) + [("float", eps)], tol="1e-5",
               **({"gradcheck": "no"} if label == "one" else {}))
    for label, xs, size in [("3d", (2, 5, 3), 3), ("4d", (1, 4, 2, 2), 2), ("5d", (1, 3, 1, 2, 2), 5)]:
        w.case("local_response_norm", label, lambda x: F.local_response_norm(x, size, 0.3, 0.75, 1.5), [r(*xs)],
               [("int", size), ("float", 0.3), ("float", 0.75), ("float", 1.5)], tol="1e-5")
    for label, p, xs, d in [("rows", 2.0, (3, 4), 1), ("first", 2.0, (3, 4), 0), ("l1", 1.0, (3, 4), -1), ("l3", 3.0, (2, 3), 1),
                            ("max", math.inf, (3, 4), 1)]:
        w.case("normalize", label, lambda x: F.normalize(x, p, d), [w.permutation(*xs)],
               [("float", p), ("int", d), ("float", 1e-12)], tol="1e-5")
    w.case("normalize", "zero", lambda x: F.normalize(x, 2.0, 0), [torch.zeros(3)], [("float", 2.0), ("int", 0), ("float", 1e-12)],
           grad=False, gradcheck="no")
    for label, xs, d in [("rows", (3, 2, 2), 0), ("columns", (3, 4), 1), ("all", (2, 3), -1)]:
        gs = [1] * len(xs)
        if d >= 0:
            gs[d] = xs[d]
        g = r(*gs) if d >= 0 else torch.tensor(1.7)
        w.case("weight_norm", label, lambda v, g: torch._weight_norm(v, g, d) if d >= 0 else v * (g / v.norm()), [r(*xs), g],
               [("int", d)], tol="1e-5")
