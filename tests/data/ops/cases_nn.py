# SPDX-License-Identifier: Apache-2.0
import math

import torch
import torch.nn.functional as F

from cases_random import words

F64 = torch.float64
NAN = math.nan
INF = math.inf


def dims(*values):
    return [("dims", list(v)) for v in values]


def convolutions(w):
    r = w.randn
    for label, xs, ws, bias, stride, padding, dilation, groups in [
            ("3x3_pad", (2, 2, 5, 5), (3, 2, 3, 3), True, (1, 1), (1, 1), (1, 1), 1),
            ("stride", (1, 2, 6, 5), (2, 2, 3, 2), True, (2, 1), (0, 1), (1, 1), 1),
            ("stride_rest", (1, 1, 6, 6), (1, 1, 3, 3), False, (2, 2), (0, 0), (1, 1), 1),
            ("dilated", (1, 1, 6, 7), (2, 1, 2, 3), False, (1, 1), (1, 0), (2, 2), 1),
            ("groups", (2, 4, 4, 4), (4, 2, 3, 3), True, (1, 1), (1, 1), (1, 1), 2),
            ("depthwise", (1, 3, 4, 4), (3, 1, 3, 3), True, (1, 1), (1, 1), (1, 1), 3),
            ("1x1", (2, 3, 3, 3), (2, 3, 1, 1), False, (1, 1), (0, 0), (1, 1), 1),
            ("blocked", (2, 8, 5, 5), (16, 8, 3, 3), True, (1, 1), (1, 1), (1, 1), 1)]:
        conv = lambda x, v, b: F.conv2d(x, v, b, stride, padding, dilation, groups)
        params = dims(stride, padding, dilation) + [("int", groups)]
        options = {"tol": "2e-5"}
        if label == "blocked":
            options["gradcheck"] = "no"  # for oneDNN's layouts; thousands of differences else
        for dtype, suffix in ((torch.float32, ""), (F64, "_float64")):
            if dtype == F64:
                if label == "blocked":
                    continue
                options = {}
            x, v = r(*xs, dtype=dtype), r(*ws, dtype=dtype)
            b = r(ws[0], dtype=dtype) if bias else None
            if dtype == F64:
                options["gradcheck"] = "no"  # the float32 case's are made in float64 already
            w.case("conv2d", label + suffix, conv, [x, v, b], params, **options)
            g = r(*conv(x, v, b).shape, dtype=dtype)
            back = lambda g, x, v, mask: torch.ops.aten.convolution_backward(
                g, x, v, [0], list(stride), list(padding), list(dilation), False, [0, 0], groups, mask)
            w.case("conv2d_input_grad", label + suffix, lambda g, v: back(g, x, v, [True, False, False])[0], [g, v],
                   dims(xs) + params, **options)
            w.case("conv2d_weight_grad", label + suffix, lambda g, x: back(g, x, v, [False, True, False])[1], [g, x],
                   dims(ws) + params, **options)
    plain = dims((1, 1), (0, 0), (1, 1)) + [("int", 1)]
    w.case("conv2d", "empty_batch", F.conv2d, [r(0, 2, 4, 4), r(3, 2, 3, 3), r(3)], plain)


def pools(w):
    r = w.randn
    for label, xs, kernel, stride, padding in [("2x2", (2, 2, 4, 4), (2, 2), (2, 2), (0, 0)),
                                               ("3x3_overlap", (1, 2, 6, 7), (3, 3), (2, 2), (1, 1)),
                                               ("3x2_stride1", (1, 1, 5, 4), (3, 2), (1, 1), (0, 1))]:
        x = w.permutation(*xs)
        params = dims(kernel, stride, padding)
        y, where = F.max_pool2d(x, kernel, stride, padding, return_indices=True)
        g = r(*y.shape)
        w.case("max_pool2d", label, lambda x: torch.ops.aten.max_pool2d_with_indices(x, kernel, stride, padding), [x],
               params)
        w.case("max_pool2d_backward", label,
               lambda g, i: torch.ops.aten.max_pool2d_with_indices_backward(g, x, kernel, stride, padding, (1, 1), False,
                                                                            i), [g, where], dims(xs))
        w.case("avg_pool2d", label, lambda x: F.avg_pool2d(x, kernel, stride, padding), [r(*xs)], params, tol="2e-6")
        w.case("avg_pool2d_backward", label,
               lambda g: torch.ops.aten.avg_pool2d_backward(g, x, kernel, stride, padding, False, True, None), [g],
               dims(xs) + params, tol="2e-6")
    special = torch.tensor([[[[1.0, NAN, 2.0, 2.0], [3.0, 0.5, 2.0, 1.0]],
                             [[-INF, -INF, NAN, 0.0], [-INF, -INF, NAN, 5.0]]]])
    w.case("max_pool2d", "specials", lambda x: torch.ops.aten.max_pool2d_with_indices(x, (2, 2), (2, 2), (0, 0)), [special],
           dims((2, 2), (2, 2), (0, 0)), grad=False, gradcheck="no")
    w.case("max_pool2d", "wide", lambda x: torch.ops.aten.max_pool2d_with_indices(x, (2, 2), (2, 2), (0, 0)),
           [w.permutation(1, 1, 4, 70)], dims((2, 2), (2, 2), (0, 0)), gradcheck="no")
    for label, xs, out in [("1x1", (2, 3, 4, 5), (1, 1)), ("uneven", (1, 2, 5, 7), (3, 4)), ("larger", (1, 1, 2, 3), (4, 3))]:
        x = r(*xs)
        w.case("adaptive_avg_pool2d", label, lambda x: F.adaptive_avg_pool2d(x, out), [x],
               [("int", out[0]), ("int", out[1])], tol="2e-6")
        w.case("adaptive_avg_pool2d_backward", label, lambda g: torch.ops.aten._adaptive_avg_pool2d_backward(g, x),
               [r(xs[0], xs[1], *out)], dims(xs), tol="2e-6")


def norms(w):
    r = w.randn

    def batch(training):
        def run(x, v, b, m=None, s=None):
            copies = [None if t is None else t.clone() for t in (m, s)]
            y, mean, invstd = torch.native_batch_norm(x, v, b, *copies, training, 0.1, 1e-5)
            # Like ours: the statistics used, without a gradient.
            return (y, mean, invstd) if training else (y, m.detach(), (s + 1e-5).rsqrt().detach())
        return run

    attrs = lambda training: [("bool", training), ("float", 0.1), ("float", 1e-5)]
    options = {"tol": "2e-5", "gradoutputs": 1}  # the statistics are for inspection
    for label, xs in [("4d", (3, 2, 2, 3)), ("2d", (5, 3)), ("3d", (2, 3, 4))]:
        c = xs[1]
        x, v, b, m, s = r(*xs), r(c), r(c), r(c), r(c).abs() + 0.5
        w.case("batch_norm", "train_" + label, lambda x, v, b, m, s: batch(True)(x, v, b, m.detach(), s.detach()),
               [x, v, b, m, s], attrs(True), constant="3,4", **options)
        w.case("batch_norm", "plain_" + label, batch(True), [x, None, None, None, None], attrs(True), **options)
        w.case("batch_norm", "eval_" + label, lambda x, v, b, m, s: batch(False)(x, v, b, m.detach(), s.detach()),
               [x, v, b, m, s], attrs(False), constant="3,4", **options)
        mean = x.transpose(0, 1).reshape(c, -1).mean(1)
        invstd = (x.transpose(0, 1).reshape(c, -1).var(1, unbiased=False) + 1e-5).rsqrt()
        for training in (True, False):
            w.case("batch_norm_backward", ("train_" if training else "eval_") + label,
                   lambda g, x, mean, invstd, v: torch.ops.aten.native_batch_norm_backward(
                       g, x, v, mean, invstd.pow(-2) - 1e-5, mean, invstd, training, 1e-5, [True, True, True]),
                   [r(*xs), x, mean, invstd, v], [("bool", training)], grad=False, **options)
    for label, xs, shape in [("last", (3, 4), (4,)), ("two", (2, 3, 2), (3, 2)), ("all", (5,), (5,)), ("long", (2, 300), (300,))]:
        x, v, b = r(*xs), r(*shape), r(*shape)
        lead = xs[:len(xs) - len(shape)]
        norm = lambda x, v, b: torch.native_layer_norm(x, shape, v, b, 1e-5)
        plain = lambda y, mean, invstd: (y, mean.detach().reshape(lead), invstd.detach().reshape(lead))
        more = dict(options, gradcheck="no") if label == "long" else options
        w.case("layer_norm", label, lambda x, v, b: plain(*norm(x, v, b)), [x, v, b], dims(shape) + [("float", 1e-5)], **more)
        w.case("layer_norm", label + "_plain", lambda x, v, b: plain(*norm(x, None, None)), [x, None, None],
               dims(shape) + [("float", 1e-5)], **more)
        _, mean, invstd = norm(x, v, b)
        w.case("layer_norm_backward", label,
               lambda g, x, m, s, v: torch.ops.aten.native_layer_norm_backward(
                   g, x, shape, m.reshape(mean.shape), s.reshape(mean.shape), v, torch.zeros(shape), [True, True, True]),
               [r(*xs), x, mean.reshape(lead), invstd.reshape(lead), v], dims(shape), grad=False, **options)


def softmaxes(w):
    r = w.randn
    options = {"tol": "1e-5"}
    for label, xs, d in [("last", (3, 5), -1), ("first", (4, 3), 0), ("middle", (2, 3, 2), 1), ("scalar", (), 0),
                         ("long", (2, 150), 1), ("empty", (0, 3), 1)]:
        sample = lambda: r(*xs) if xs else torch.tensor(0.75)
        dim = [("int", d)]
        more = dict(options, gradcheck="no") if label in ("long", "empty") else options
        w.case("softmax", label, lambda x: F.softmax(x, d), [sample() * 2], dim, **more)
        w.case("log_softmax", label, lambda x: F.log_softmax(x, d), [sample() * 2], dim, **more)
        w.case("softmax_backward", label, lambda g, y: y * (g - (g * y).sum(d, keepdim=True)),
               [sample(), F.softmax(sample(), d)], dim, **more)
        w.case("log_softmax_backward", label, lambda g, y: g - y.exp() * g.sum(d, keepdim=True), [sample(), sample()], dim,
               **more)
    large = torch.tensor([[1e4, 1e4 + 1, 0.0], [-1e4, -1e4, -1e4]])
    nonfinite = torch.tensor([[NAN, 1.0], [INF, 1.0], [-INF, 1.0], [-INF, -INF], [1.0, NAN]])
    for name, fn in (("softmax", F.softmax), ("log_softmax", F.log_softmax)):
        w.case(name, "float64", lambda x: fn(x, 1), [r(3, 4, dtype=F64)], [("int", 1)], gradcheck="no")
        w.case(name, "large", lambda x: fn(x, 1), [large], [("int", 1)], gradcheck="no", **options)
        w.case(name, "nonfinite", lambda x: fn(x, 1), [nonfinite], [("int", 1)], grad=False, gradcheck="no")


def losses(w):
    r = w.randn
    I = lambda values: torch.tensor(values, dtype=torch.int64)
    options = {"tol": "1e-5"}
    for code, reduction in enumerate(("none", "mean", "sum")):
        attr = [("int", code)]
        target = I([2, 0, 3])
        w.case("nll_loss", reduction, lambda x, t: F.nll_loss(x, t, reduction=reduction), [r(3, 4), target], attr)
        g = r(3) if code == 0 else torch.tensor(-1.25)
        like = r(3, 4)
        w.case("nll_loss_backward", reduction,
               lambda g, t: torch.ops.aten.nll_loss_backward(g, like, t, None, code, -100, torch.tensor(3.0)), [g, target],
               dims((3, 4)) + attr)
        p = w.permutation(2, 4, 3)
        w.case("mse_loss", reduction, lambda x, y: F.mse_loss(x, y, reduction=reduction), [r(3, 4), r(3, 4)], attr, **options)
        w.case("l1_loss", reduction, lambda x, y: F.l1_loss(x, y, reduction=reduction), [p[0], p[1]], attr, **options)
        w.case("binary_cross_entropy_with_logits", reduction,
               lambda x, y: F.binary_cross_entropy_with_logits(x, y, reduction=reduction), [r(3, 4) * 3, w.rand(3, 4)], attr,
               **options)
    w.case("mse_loss", "broadcast", lambda x, y: ((x - y) ** 2).mean(), [r(3, 4), r(4)], [("int", 1)], **options)
    w.case("mse_loss", "long", F.mse_loss, [r(3000), r(3000)], [("int", 1)], gradcheck="no", **options)
    w.case("mse_loss", "float64", F.mse_loss, [r(5, dtype=F64), r(5, dtype=F64)], [("int", 1)])
    w.case("l1_loss", "broadcast", lambda x, y: (x - y).abs().sum(), [torch.tensor([[1.0], [2.0], [-0.5]]),
                                                                     torch.tensor([[0.25, 3.0, -1.75, 1.5]])],
           [("int", 2)], **options)
    w.case("nll_loss", "empty", F.nll_loss, [r(0, 4), I([])], [("int", 1)], grad=False, gradcheck="no")
    w.case("binary_cross_entropy_with_logits", "extreme", F.binary_cross_entropy_with_logits,
           [torch.tensor([80.0, -80.0, 0.0]), torch.tensor([0.0, 1.0, 1.0])], [("int", 1)], gradcheck="no", **options)


def cases(w):
    convolutions(w)
    pools(w)
    norms(w)
    softmaxes(w)
    losses(w)
    for label, p, training in [("third", 0.3, True), ("none", 0.0, True), ("all", 1.0, True), ("evaluating", 0.3, False)]:
        # The numbers come from the generator of cases_random.py: a word below p * 2^32 drops its element.
        limit = int(p * 2**32) if training else 0
        scale = 1 / (1 - p) if training and p < 1 else float(not training)
        kept = torch.tensor([v >= limit for v in words(99, 15)]).reshape(3, 5)
        w.case("dropout", label, lambda x: (torch.where(kept, x * scale, torch.zeros_like(x)), kept), [w.randn(3, 5)],
               [("float", p), ("bool", training)], seed=99)
    mask = torch.tensor([[True, False, True], [False, True, True]])
    w.case("dropout_backward", "mask", lambda g, m: torch.ops.aten.native_dropout_backward(g, m, 2.0), [w.randn(2, 3), mask],
           [("float", 2.0)])
    I = lambda values: torch.tensor(values, dtype=torch.int64)
    w.case("embedding", "matrix", lambda v, i: F.embedding(i, v), [w.randn(5, 3), I([[4, 0], [4, 2]])])
    w.case("embedding", "vector", lambda v, i: F.embedding(i, v), [w.randn(3, 2), I([1, 1, 0])])
    w.case("embedding", "nothing", lambda v, i: F.embedding(i, v), [w.randn(3, 2), I([])])
