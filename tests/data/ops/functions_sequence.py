# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn.functional as F

F64 = torch.float64


def cases(w):
    d = lambda *s: w.randn(*s, dtype=F64) * 0.7
    tol = {"tol": "1e-8", "second": "no"}

    gates = {"rnn_tanh": 1, "rnn_relu": 1, "gru": 3, "lstm": 4}
    cells = {"rnn_tanh_cell": 1, "rnn_relu_cell": 1, "gru_cell": 3}
    for name, k in cells.items():
        fn = getattr(torch, name)
        w.case(name, "biases", lambda x, h, a, b, c, e, f=fn: f(x, h, a, b, c, e), [d(2, 3), d(2, 2), d(2 * k, 3), d(2 * k, 2), d(2 * k),
                                                                                d(2 * k)], tol="1e-8")
        w.case(name, "one", lambda x, h, a, b, c, e, f=fn: f(x[None], h[None], a, b, None, None)[0],
               [d(3), d(2), d(2 * k, 3), d(2 * k, 2), None, None], **tol)
    w.case("lstm_cell", "biases", lambda x, h, c, a, b, e, f: torch.lstm_cell(x, (h, c), a, b, e, f),
           [d(2, 3), d(2, 2), d(2, 2), d(8, 3), d(8, 2), d(8), d(8)], tol="1e-8")

    # attributes: has_biases, num_layers, bidirectional, batch_first
    for name, k in gates.items():
        for label, biases, layers, both, first in [("plain", True, 1, False, False), ("no_bias", False, 1, False, True),
                                                   ("layers", True, 2, False, False), ("both_ways", True, 2, True, True)]:
            directions = 2 if both else 1
            hidden, inputs, times, batch = 2, 3, 3, 2
            x = d(batch, times, inputs) if first else d(times, batch, inputs)
            state = [d(layers * directions, batch, hidden) for _ in range(2 if name == "lstm" else 1)]
            weights = []
            for layer in range(layers):
                for _ in range(directions):
                    size = inputs if layer == 0 else hidden * directions
                    weights += [d(k * hidden, size), d(k * hidden, hidden)] + ([d(k * hidden), d(k * hidden)] if biases else [])

            def fn(x, *rest, name=name, biases=biases, layers=layers, both=both, first=first):
                hx = tuple(rest[:2]) if name == "lstm" else rest[0]
                return getattr(torch, name)(x, hx, list(rest[2 if name == "lstm" else 1:]), biases, layers, 0.0, False, both, first)

            w.case(name, label, fn, [x, *state, *weights], [("bool", biases), ("int", layers), ("bool", both), ("bool", first)], **tol)

    # attributes: num_heads, need_weights, average, add_zero_attn; inputs: query, key, value, in_w, in_b, out_w, out_b, bias_k, bias_v,
    # key_padding_mask, attn_mask
    e = 4

    def mha(q, k, v, iw, ib, ow, ob, bk, bv, padding, mask, need=True, average=True, zero=False):
        out, weights = F.multi_head_attention_forward(
            q, k, v, e, 2, iw, ib, bk, bv, zero, 0.0, ow, ob, training=True, key_padding_mask=padding, need_weights=need,
            attn_mask=mask, average_attn_weights=average)
        return (out, weights) if need else (out,)

    parameters = lambda: [d(3 * e, e), d(3 * e), d(e, e), d(e)]
    attrs = lambda need=True, average=True, zero=False: [("int", 2), ("bool", need), ("bool", average), ("bool", zero)]
    # Not differentiable: masks of -infinity.
    padding = torch.tensor([[False, False, True], [False, False, False]])
    causal = torch.ones(3, 3, dtype=torch.bool).triu(1)
    x = d(3, 2, e)
    none = [None, None]
    w.case("multi_head_attention_forward", "weights", mha, [d(2, 2, e), d(3, 2, e), d(3, 2, e), *parameters(), *none, *none], attrs(), **tol)
    w.case("multi_head_attention_forward", "heads_apart", lambda *a: mha(*a, average=False),
           [d(2, 2, e), d(3, 2, e), d(3, 2, e), *parameters(), *none, *none], attrs(average=False), **tol)
    w.case("multi_head_attention_forward", "masks", mha, [d(3, 2, e), x, x, *parameters(), *none, padding, causal], attrs(), **tol)
    w.case("multi_head_attention_forward", "no_weights", lambda *a: mha(*a, need=False),
           [d(3, 2, e), x, x, *parameters(), *none, padding, causal], attrs(need=False), **tol)
    w.case("multi_head_attention_forward", "bias_and_zero", lambda *a: mha(*a, zero=True),
           [d(2, 2, e), x, x, *parameters(), d(1, 1, e), d(1, 1, e), padding, None], attrs(zero=True), **tol)
    w.case("multi_head_attention_forward", "one_sequence", mha, [d(2, e), d(3, e), d(3, e), *parameters(), *none, *none], attrs(), **tol)
    w.case("multi_head_attention_forward", "float_mask_by_head", mha, [d(2, 2, e), x, x, *parameters(), *none, None, d(4, 2, 3)], attrs(), **tol)
