# SPDX-License-Identifier: Apache-2.0
import math

import torch
import torch.nn.functional as F

F64 = torch.float64
CODES = list(enumerate(("none", "mean", "sum")))


def ints(values):
    return torch.tensor(values, dtype=torch.int64)


def signs(w, *sizes):
    return w.randint(0, 2, sizes).to(torch.float32) * 2 - 1


def classification(w):
    r = w.randn
    attrs = lambda code, ignore=-100: [("int", code), ("int", ignore)]
    for code, reduction in CODES:
        for label, xs, target, weight, ignore in [
                ("weighted", (4, 3), ints([0, 2, 1, 2]), w.rand(3, low=0.5, high=2.0), -100),
                ("ignored", (4, 3), ints([0, -100, 1, -100]), None, -100),
                ("ignored_class", (4, 3), ints([0, 1, 1, 2]), w.rand(3, low=0.5, high=2.0), 1),
                ("images", (2, 3, 2, 2), ints([[[0, 2], [1, -1]], [[2, 2], [0, 1]]]), w.rand(3, low=0.5, high=2.0), -1),
                ("one_row", (4,), torch.tensor(2), None, -100)]:
            inputs = [r(*xs), target, weight]
            w.case("nll_loss", f"{label}_{reduction}",
                   lambda x, t, v: F.nll_loss(x, t, v, ignore_index=ignore, reduction=reduction), inputs, attrs(code, ignore),
                   constant="2", tol="4e-6")
            loss = lambda x, t, v: F.nll_loss(x, t, v, ignore_index=ignore, reduction=reduction)
            shape = loss(*inputs).shape
            g = r(*shape) if shape else torch.tensor(-1.25)

            def back(g, t, v):
                leaf = inputs[0].to(g.dtype).requires_grad_(True)
                return torch.autograd.grad(loss(leaf, t, v), leaf, g, create_graph=True)[0]
            w.case("nll_loss_backward", f"{label}_{reduction}", back, [g, target, weight],
                   [("dims", list(xs))] + attrs(code, ignore), constant="2", tol="4e-6")
            for smoothing in (0.0, 0.2):
                w.case("cross_entropy", f"{label}_{reduction}_{smoothing}",
                       lambda x, t, v: F.cross_entropy(x, t, v, ignore_index=ignore, reduction=reduction,
                                                       label_smoothing=smoothing), [r(*xs), target, weight],
                       attrs(code, ignore) + [("float", smoothing)], constant="2", tol="1e-5")
        for label, xs, smoothing in [("probabilities", (3, 4), 0.0), ("probabilities_smooth", (2, 3, 2), 0.1),
                                     ("probabilities_row", (3,), 0.0)]:
            c = 0 if len(xs) == 1 else 1
            weight = None if label == "probabilities_row" else w.rand(xs[c], low=0.5, high=2.0)
            w.case("cross_entropy", f"{label}_{reduction}",
                   lambda x, t, v: F.cross_entropy(x, t, v, reduction=reduction, label_smoothing=smoothing),
                   [r(*xs), r(*xs).softmax(c), weight], attrs(code) + [("float", smoothing)], constant="2", tol="1e-5")
    w.case("nll_loss", "nothing_counts", lambda x, t, v: F.nll_loss(x, t, v), [r(2, 3), ints([-100, -100]), None], attrs(1),
           gradcheck="no")
    w.case("cross_entropy", "nothing_counts", lambda x, t, v: F.cross_entropy(x, t, v), [r(2, 3), ints([-100, -100]), None],
           attrs(1) + [("float", 0.0)], gradcheck="no")
    w.case("cross_entropy", "nothing_counts_sum", lambda x, t, v: F.cross_entropy(x, t, v, reduction="sum"),
           [r(2, 3), ints([-100, -100]), None], attrs(2) + [("float", 0.0)])
    w.case("cross_entropy", "float64", lambda x, t, v: F.cross_entropy(x, t, v), [r(3, 4, dtype=F64), ints([0, 3, 1]), None],
           attrs(1) + [("float", 0.0)])
    w.case("nll_loss", "empty", lambda x, t, v: F.nll_loss(x, t, v, reduction="sum"), [r(0, 3), ints([]), None], attrs(2))


def binary(w):
    r = w.randn
    for code, reduction in CODES:
        attr = [("int", code)]
        p, y = w.rand(3, 4, low=0.05, high=0.95), w.rand(3, 4, low=0.05, high=0.95)
        w.case("binary_cross_entropy", reduction, lambda x, y, v: F.binary_cross_entropy(x, y, v, reduction=reduction),
               [p, y, None], attr, tol="1e-5")
        w.case("binary_cross_entropy", f"weighted_{reduction}",
               lambda x, y, v: F.binary_cross_entropy(x, y, v, reduction=reduction), [p, y, w.rand(4, low=0.5, high=2.0)], attr,
               constant="2", tol="1e-5")
        logits = lambda x, y, v, q: F.binary_cross_entropy_with_logits(x, y, v, reduction=reduction, pos_weight=q)
        for label, v, q in [("weight", w.rand(3, 1, low=0.5, high=2.0), None), ("pos_weight", None, w.rand(4, low=0.5, high=2.0)),
                            ("both", w.rand(3, 4, low=0.5, high=2.0), w.rand(4, low=0.5, high=2.0))]:
            w.case("binary_cross_entropy_with_logits", f"{label}_{reduction}", logits, [r(3, 4) * 2, w.rand(3, 4), v, q], attr,
                   constant="2,3", tol="1e-5")
            # PyTorch has no gradient for the weights; ours is checked by differences.
            w.case("binary_cross_entropy_with_logits", f"{label}_by_weights_{reduction}", logits,
                   [r(3, 4) * 2, w.rand(3, 4), v, q], attr, grad=False, tol="1e-5")
        w.case("multilabel_soft_margin_loss", reduction,
               lambda x, y, v: F.multilabel_soft_margin_loss(x, y, v, reduction=reduction),
               [r(3, 4), w.rand(3, 4), w.rand(4, low=0.5, high=2.0)], attr, constant="2", tol="1e-5")
        w.case("soft_margin_loss", reduction, lambda x, y: F.soft_margin_loss(x, y, reduction=reduction),
               [r(3, 4), signs(w, 3, 4)], attr, constant="1", tol="1e-5")
        for label, xs, target in [("rows", (3, 4), ints([[0, 2, -1, 1], [3, -1, 0, 0], [-1, 0, 0, 0]])),
                                  ("row", (4,), ints([1, 3, -1, 0]))]:
            w.case("multilabel_margin_loss", f"{label}_{reduction}",
                   lambda x, t: F.multilabel_margin_loss(x, t, reduction=reduction), [r(*xs), target], attr, tol="1e-5")
        for label, xs, target, p, margin, weight in [("p1", (3, 4), ints([0, 3, 1]), 1, 1.0, None),
                                                     ("p2", (3, 4), ints([0, 3, 1]), 2, 0.5, w.rand(4, low=0.5, high=2.0)),
                                                     ("row", (4,), torch.tensor(2), 1, 1.0, None)]:
            w.case("multi_margin_loss", f"{label}_{reduction}",
                   lambda x, t, v: F.multi_margin_loss(x, t, p, margin, v, reduction=reduction), [r(*xs), target, weight],
                   [("int", p), ("float", margin), ("int", code)], constant="2", tol="1e-5")
    w.case("binary_cross_entropy", "extreme", lambda x, y, v: F.binary_cross_entropy(x, y, v, reduction="none"),
           [torch.tensor([0.0, 1.0, 0.0, 1.0]), torch.tensor([0.0, 1.0, 1.0, 0.0]), None], [("int", 0)], constant="1",
           gradcheck="no", tol="1e-5")
    w.case("binary_cross_entropy_with_logits", "pos_weight_extreme",
           lambda x, y, v, q: F.binary_cross_entropy_with_logits(x, y, v, pos_weight=q),
           [torch.tensor([80.0, -80.0, 0.0]), torch.tensor([0.0, 1.0, 1.0]), None, torch.tensor([2.0, 3.0, 0.5])], [("int", 1)],
           constant="1,3", gradcheck="no", tol="1e-5")


def regression(w):
    r = w.randn
    for code, reduction in CODES:
        attr = ("int", code)
        o = {"tol": "1e-5"}
        x, y = w.permutation(2, 4, 3)
        for beta in (1.0, 0.4, 0.0):
            w.case("smooth_l1_loss", f"beta{beta}_{reduction}",
                   lambda x, y: F.smooth_l1_loss(x, y, reduction=reduction, beta=beta), [x, y], [attr, ("float", beta)], **o)
        w.case("huber_loss", reduction, lambda x, y: F.huber_loss(x, y, reduction=reduction, delta=0.7), [x, y],
               [attr, ("float", 0.7)], **o)
        p = r(3, 4).softmax(1)
        w.case("kl_div", reduction, lambda x, y: F.kl_div(x, y, reduction=reduction), [r(3, 4).log_softmax(1), p],
               [attr, ("bool", False)], **o)
        w.case("kl_div", f"log_{reduction}", lambda x, y: F.kl_div(x, y, reduction=reduction, log_target=True),
               [r(3, 4).log_softmax(1), p.log()], [attr, ("bool", True)], **o)
        for log_input, full in [(True, False), (True, True), (False, True)]:
            x = r(3, 3) if log_input else w.rand(3, 3, low=0.3, high=3.0)
            w.case("poisson_nll_loss", f"{'log' if log_input else 'plain'}_{'full' if full else 'short'}_{reduction}",
                   lambda x, y: F.poisson_nll_loss(x, y, log_input, full, eps=1e-8, reduction=reduction),
                   [x, torch.tensor([[0.0, 1.0, 2.0], [3.5, 0.4, 1.3], [7.0, 1.0, 0.0]])],
                   [("bool", log_input), ("bool", full), ("float", 1e-8), attr], constant="1", **o)
        for label, vs, full in [("each", (3, 4), False), ("rows", (3,), True), ("ones", (3, 1), False)]:
            w.case("gaussian_nll_loss", f"{label}_{reduction}",
                   lambda x, y, v: F.gaussian_nll_loss(x, y, v, full=full, eps=1e-6, reduction=reduction),
                   [r(3, 4), r(3, 4), w.rand(*vs, low=0.3, high=2.0)], [("bool", full), ("float", 1e-6), attr], **o)
    w.case("kl_div", "batchmean", lambda x, y: F.kl_div(x, y, reduction="batchmean"), [r(3, 4).log_softmax(1), r(3, 4).softmax(1)],
           [("int", 3), ("bool", False)], tol="1e-5")
    w.case("kl_div", "zero_target", lambda x, y: F.kl_div(x, y, reduction="sum"),
           [r(3).log_softmax(0), torch.tensor([0.0, 0.25, 0.75])], [("int", 2), ("bool", False)], constant="1", tol="1e-5")
    w.case("gaussian_nll_loss", "lifted", lambda x, y, v: F.gaussian_nll_loss(x, y, v, eps=0.5),
           [r(4), r(4), torch.tensor([0.0, 0.1, 0.7, 2.0])], [("bool", False), ("float", 0.5), ("int", 1)], gradcheck="no",
           tol="1e-5")
    for op in ("smooth_l1_loss", "huber_loss"):
        w.case(op, "broadcast", lambda x, y: getattr(F, op)(*torch.broadcast_tensors(x, y)), [r(3, 1), r(4)],
               [("int", 1), ("float", 1.0)], tol="1e-5")
        w.case(op, "empty", getattr(F, op), [r(0), r(0)], [("int", 1), ("float", 1.0)])
        w.case(op, "float64", getattr(F, op), [r(5, dtype=F64), r(5, dtype=F64)], [("int", 1), ("float", 1.0)])


def distances(w):
    r = w.randn
    o = {"tol": "1e-5"}
    for label, a, b, d in [("rows", (3, 4), (3, 4), 1), ("first", (3, 2), (3, 2), 0), ("broadcast", (2, 1, 3), (4, 3), -1)]:
        w.case("cosine_similarity", label, lambda a, b: F.cosine_similarity(a, b, d), [r(*a), r(*b)],
               [("int", d), ("float", 1e-8)], **o)
    w.case("cosine_similarity", "zero", lambda a, b: F.cosine_similarity(a, b, 0), [torch.zeros(3), r(3)],
           [("int", 0), ("float", 1e-8)], gradcheck="no", **o)
    for p in (2.0, 1.0, 3.0, math.inf):
        w.case("pairwise_distance", f"p{p}", lambda a, b: F.pairwise_distance(a, b, p), [r(3, 4), r(3, 4)],
               [("float", p), ("float", 1e-6), ("bool", False)], **o)
    w.case("pairwise_distance", "keepdim", lambda a, b: F.pairwise_distance(a, b, 2.0, 1e-6, True), [r(2, 1, 3), r(4, 3)],
           [("float", 2.0), ("float", 1e-6), ("bool", True)], **o)
    w.case("pairwise_distance", "row", lambda a, b: F.pairwise_distance(a, b), [r(3), r(3)],
           [("float", 2.0), ("float", 1e-6), ("bool", False)], **o)
    for code, reduction in CODES:
        attr = ("int", code)
        w.case("hinge_embedding_loss", reduction, lambda x, y: F.hinge_embedding_loss(x, y, 0.8, reduction=reduction),
               [r(3, 4), signs(w, 3, 4)], [("float", 0.8), attr], constant="1", **o)
        w.case("margin_ranking_loss", reduction, lambda a, b, y: F.margin_ranking_loss(a, b, y, 0.3, reduction=reduction),
               [r(5), r(5), signs(w, 5)], [("float", 0.3), attr], constant="2", **o)
        w.case("cosine_embedding_loss", reduction, lambda a, b, y: F.cosine_embedding_loss(a, b, y, 0.2, reduction=reduction),
               [r(4, 3), r(4, 3), torch.tensor([1.0, -1.0, -1.0, 1.0])], [("float", 0.2), attr], constant="2", **o)
        for label, p, swap in [("plain", 2.0, False), ("swap", 2.0, True), ("p1", 1.0, False)]:
            w.case("triplet_margin_loss", f"{label}_{reduction}",
                   lambda a, b, c: F.triplet_margin_loss(a, b, c, 1.5, p, 1e-6, swap, reduction=reduction),
                   [r(4, 3), r(4, 3), r(4, 3)], [("float", 1.5), ("float", p), ("float", 1e-6), ("bool", swap), attr], **o)
    w.case("cosine_embedding_loss", "row", lambda a, b, y: F.cosine_embedding_loss(a, b, y), [r(3), r(3), torch.tensor(1.0)],
           [("float", 0.0), ("int", 1)], constant="2", **o)


def ctc_of_probabilities(blank, reduction, zero=False):
    """F.ctc_loss with the derivative by log_probs alone: PyTorch's own adds that of the log_softmax before it, exp(x)."""
    def run(x, t, i, l):
        terms = F.ctc_loss(x, t, i, l, blank, "none", zero)
        batched = x if x.dim() == 3 else x[:, None]
        read = torch.arange(len(x))[:, None, None] < i.reshape(1, -1, 1)
        mass = (batched.exp() * read).sum((0, 2)).reshape(terms.shape)
        terms = terms - mass + mass.detach()
        if reduction == "mean":
            return (terms / l.clamp(min=1)).mean()
        return terms.sum() if reduction == "sum" else terms
    return run


def ctc(w):
    r = w.randn
    for code, reduction in CODES:
        attrs = [("int", 0), ("int", code), ("bool", False)]
        loss = ctc_of_probabilities(0, reduction)
        w.case("ctc_loss", f"padded_{reduction}", loss,
               [r(5, 3, 4).log_softmax(2), ints([[1, 2, 0], [3, 3, 1], [2, 0, 0]]), ints([5, 5, 3]), ints([2, 3, 1])], attrs,
               tol="2e-5", **({} if code == 1 else {"gradcheck": "no"}))
        w.case("ctc_loss", f"joined_{reduction}", loss,
               [r(4, 2, 3).log_softmax(2), ints([1, 2, 2]), ints([4, 3]), ints([1, 2])], attrs, tol="2e-5", gradcheck="no")
    w.case("ctc_loss", "one", ctc_of_probabilities(2, "mean"),
           [r(4, 3).log_softmax(1), ints([0, 1]), torch.tensor(4), torch.tensor(2)], [("int", 2), ("int", 1), ("bool", False)],
           tol="2e-5", layouts="contiguous")
    for zero in (False, True):
        w.case("ctc_loss", f"impossible_{zero}", lambda x, t, i, l: F.ctc_loss(x, t, i, l, reduction="none", zero_infinity=zero),
               [r(2, 2, 3).log_softmax(2), ints([[1, 1], [2, 0]]), ints([2, 2]), ints([2, 1])],
               [("int", 0), ("int", 0), ("bool", zero)], grad=False, gradcheck="no", tol="2e-5")
    w.case("ctc_loss", "empty_target", ctc_of_probabilities(0, "none"),
           [r(3, 2, 3).log_softmax(2), ints([[1], [2]]), ints([3, 3]), ints([0, 1])], [("int", 0), ("int", 0), ("bool", False)],
           tol="2e-5", gradcheck="no")


def cases(w):
    classification(w)
    binary(w)
    regression(w)
    distances(w)
    ctc(w)
