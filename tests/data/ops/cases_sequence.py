# SPDX-License-Identifier: Apache-2.0
import math

import torch
import torch.nn.functional as F

F64 = torch.float64


def attention(q, k, v, mask=None, causal=False, scale=None, gqa=False):
    """What the operator gives: the result, and the logsumexp of the scores."""
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal, scale=scale, enable_gqa=gqa)
    with torch.no_grad():
        keys = k.repeat_interleave(q.shape[-3] // k.shape[-3], -3) if gqa else k
        scores = q @ keys.mT * (scale or 1 / math.sqrt(q.shape[-1]))
        if causal:
            scores = scores.masked_fill(~torch.ones(scores.shape[-2:], dtype=torch.bool).tril(), -math.inf)
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else scores + mask
        lse = torch.logsumexp(scores, -1)
    return out, lse


def attention_cases(w):
    r = w.randn
    d = lambda *s: r(*s, dtype=F64)
    attrs = lambda causal=False, scale=0.0, gqa=False: [("bool", causal), ("float", scale), ("bool", gqa)]
    name = "scaled_dot_product_attention"
    some = torch.tensor([[True, False, True, True], [False, True, True, False], [True, True, True, True]])
    blind = torch.tensor([[True, False, True, True], [False, False, False, False], [True, True, True, True]])
    calls = [
        ("plain", [r(2, 3, 4), r(2, 4, 4), r(2, 4, 3)], {}),
        ("matrices", [d(3, 2), d(4, 2), d(4, 2)], {}),
        ("heads", [d(2, 2, 3, 2), d(2, 2, 4, 2), d(2, 2, 4, 2)], {}),
        ("causal", [d(1, 2, 4, 2), d(1, 2, 4, 2), d(1, 2, 4, 2)], {"causal": True}),
        ("causal_more_keys", [d(1, 2, 2), d(1, 4, 2), d(1, 4, 2)], {"causal": True}),
        ("causal_fewer_keys", [d(1, 4, 2), d(1, 2, 2), d(1, 2, 2)], {"causal": True}),
        ("scale", [r(1, 3, 4), r(1, 2, 4), r(1, 2, 2)], {"scale": 0.3}),
        ("bool_mask", [d(2, 3, 2), d(2, 4, 2), d(2, 4, 2), some], {}),
        ("blind_row", [d(2, 3, 2), d(2, 4, 2), d(2, 4, 2), blind], {}),
        ("float_mask", [d(2, 2, 3, 2), d(2, 2, 4, 2), d(2, 2, 4, 2), d(2, 1, 3, 4)], {}),
        ("grouped", [d(2, 4, 3, 2), d(2, 2, 4, 2), d(2, 2, 4, 2)], {"gqa": True}),
        ("grouped_causal", [d(1, 4, 3, 2), d(1, 1, 3, 2), d(1, 1, 3, 2)], {"gqa": True, "causal": True}),
        ("long", [r(1, 2, 70, 3), r(1, 2, 70, 3), r(1, 2, 70, 2)], {"causal": True}),
        ("empty_batch", [r(0, 3, 2), r(0, 4, 2), r(0, 4, 2)], {}),
    ]
    for label, inputs, options in calls:
        kinds = {"causal": False, "scale": 0.0, "gqa": False, **options}
        def fn(q, k, v, mask=None, o=options):
            return attention(q, k, v, mask, **o)
        mask = inputs[3] if len(inputs) > 3 else None
        single = inputs[0].dtype == torch.float32
        extra = {"tol": "2e-5" if single else "1e-9", "gradoutputs": "1"}
        if label == "long":
            extra["gradcheck"] = "no"
        w.case(name, label, fn, inputs, attrs(**kinds), **extra)
        if label == "long":
            continue
        tensors = [x.clone().requires_grad_(x.is_floating_point()) for x in inputs[:3]]
        out, lse = fn(*tensors, mask)
        g = torch.cos(torch.arange(out.numel(), dtype=F64) * 1.3 + 0.2).reshape(out.shape).to(out.dtype)
        grads = torch.autograd.grad(out, tensors, g)
        w.case(name + "_backward", label, lambda *_, y=grads: y,
               [g, *inputs[:3], mask, out.detach(), lse.detach()], attrs(**kinds), grad=False, tol=extra["tol"])


def lstm(gates, h, c, weight, reverse=False):
    outputs, cells, kept = [], [], []
    order = range(gates.shape[0])
    for t in reversed(order) if reverse else order:
        i, f, g, o = (gates[t] + h @ weight.T).chunk(4, -1)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        c = f * c + i * g
        h = o * c.tanh()
        outputs.append(h)
        cells.append(c)
        kept.append(torch.cat([i, f, g, o], -1))
    if reverse:
        outputs, cells, kept = outputs[::-1], cells[::-1], kept[::-1]
    return torch.stack(outputs), torch.stack(cells), torch.stack(kept).detach()


def gru(gates, h, weight, bias=None, reverse=False):
    outputs, kept = [], []
    order = range(gates.shape[0])
    for t in reversed(order) if reverse else order:
        xr, xz, xn = gates[t].chunk(3, -1)
        hr, hz, hn = F.linear(h, weight, bias).chunk(3, -1)
        r, z = (xr + hr).sigmoid(), (xz + hz).sigmoid()
        n = (xn + r * hn).tanh()
        h = (1 - z) * n + z * h
        outputs.append(h)
        kept.append(torch.cat([r, z, n, hn], -1))
    if reverse:
        outputs, kept = outputs[::-1], kept[::-1]
    return torch.stack(outputs), torch.stack(kept).detach()


def rnn(gates, h, weight, relu=False, reverse=False):
    outputs = []
    order = range(gates.shape[0])
    for t in reversed(order) if reverse else order:
        h = gates[t] + h @ weight.T
        h = h.relu() if relu else h.tanh()
        outputs.append(h)
    return torch.stack(outputs[::-1] if reverse else outputs)


def backward_of(w, name, label, result, leaves, arguments, attrs, **options):
    """The gradients of leaves (of result, for a fixed gradient) as outputs of the backward operator."""
    outputs = [result] if torch.is_tensor(result) else [y for y in result if y.requires_grad]
    given = [torch.cos(torch.arange(y.numel(), dtype=F64) * 1.3 + k).reshape(y.shape).to(y.dtype) for k, y in enumerate(outputs)]
    grads = torch.autograd.grad(outputs, leaves, given)
    w.case(name, label, lambda *_, y=grads: y, [*given, *[a.detach() for a in arguments]], attrs, grad=False, **options)


def recurrent_cases(w):
    d = lambda *s: w.randn(*s, dtype=F64)
    f = w.randn
    flag = lambda *v: [("bool", x) for x in v]
    tol = {"tol": "1e-9"}
    single = {"tol": "2e-5"}
    for reverse in (False, True):
        side = "backwards" if reverse else "forwards"
        for relu in (False, True):
            kind = ("relu_" if relu else "tanh_") + side
            inputs = [d(3, 2, 2), d(2, 2), d(2, 2)]
            w.case("rnn_layer", kind, lambda *x, a=relu, b=reverse: rnn(*x, relu=a, reverse=b), inputs, flag(relu, reverse), **tol)
            g, h, weight = [x.clone().requires_grad_(True) for x in inputs]
            y = rnn(g, h, weight, relu, reverse)
            backward_of(w, "rnn_layer_backward", kind, y, [g, h], [y, weight], flag(relu, reverse), **tol)
        inputs = [d(3, 2, 8), d(2, 2), d(2, 2), d(8, 2)]
        w.case("lstm_layer", side, lambda *x, b=reverse: lstm(*x, reverse=b), inputs, flag(reverse), gradoutputs=2, **tol)
        g, h, c, weight = [x.clone().requires_grad_(True) for x in inputs]
        y = lstm(g, h, c, weight, reverse)
        backward_of(w, "lstm_layer_backward", side, y, [g, h, c], [y[2], y[1], c, weight], flag(reverse), **tol)
        inputs = [d(3, 2, 6), d(2, 2), d(6, 2), d(6)]
        w.case("gru_layer", side, lambda *x, b=reverse: gru(*x, reverse=b), inputs, flag(reverse), gradoutputs=1, **tol)
        g, h, weight, bias = [x.clone().requires_grad_(True) for x in inputs]
        y, kept = gru(g, h, weight, bias, reverse)
        share = torch.zeros(3, 2, 6, dtype=F64, requires_grad=True)
        # The state's share enters through a term of its own, whose gradient is its.
        order = range(3)
        state, outputs = h, []
        for t in reversed(order) if reverse else order:
            xr, xz, xn = g[t].chunk(3, -1)
            hr, hz, hn = (F.linear(state, weight, bias) + share[t]).chunk(3, -1)
            r, z = (xr + hr).sigmoid(), (xz + hz).sigmoid()
            n = (xn + r * hn).tanh()
            state = (1 - z) * n + z * state
            outputs.append(state)
        z = torch.stack(outputs[::-1] if reverse else outputs)
        backward_of(w, "gru_layer_backward", side, z, [g, share, h], [kept, y, h, weight], flag(reverse), **tol)
    w.case("rnn_layer", "float", rnn, [f(2, 3, 5), f(3, 5), f(5, 5)], flag(False, False), gradcheck="no", **single)
    w.case("lstm_layer", "float", lstm, [f(2, 3, 20), f(3, 5), f(3, 5), f(20, 5)], flag(False), gradoutputs=2, gradcheck="no", **single)
    w.case("gru_layer", "float", lambda g, h, v, b: gru(g, h, v), [f(2, 3, 15), f(3, 5), f(15, 5), None], flag(False), gradoutputs=1,
           gradcheck="no", **single)
    w.case("lstm_layer", "empty_batch", lstm, [f(2, 0, 8), f(0, 2), f(0, 2), f(8, 2)], flag(False), gradoutputs=2, gradcheck="no")


def cases(w):
    attention_cases(w)
    recurrent_cases(w)
