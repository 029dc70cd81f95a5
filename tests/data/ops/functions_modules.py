# SPDX-License-Identifier: Apache-2.0
"""torch.nn modules: the inputs of a case are the module's, then its parameters in their order; text= holds the parameters' names."""
import torch
from torch import nn

F64 = torch.float64


def cases(w):
    torch.manual_seed(5)
    d = lambda *s: w.randn(*s)

    def module(name, label, m, run, *inputs):
        m = m.eval()
        names = ";".join(n for n, _ in m.named_parameters())
        parameters = [w.randn(*p.shape) * 0.5 for _, p in m.named_parameters()]
        with torch.no_grad():
            for p, value in zip(m.parameters(), parameters):
                p.copy_(value)
            result = run(m, *inputs)
        result = result if isinstance(result, tuple) else (result,)
        w.case(name, label, lambda *_: result, [*inputs, *parameters], grad=False, text=names, tol="2e-5", layouts="contiguous")

    def flat(m, *x):
        y, state = m(*x)
        return (y, *state) if isinstance(state, tuple) else (y, state)

    module("RNN", "tanh", nn.RNN(3, 2), flat, d(3, 2, 3))
    module("RNN", "relu_layers", nn.RNN(3, 2, num_layers=2, nonlinearity="relu"), flat, d(3, 2, 3))
    module("GRU", "both_ways", nn.GRU(3, 2, num_layers=2, bidirectional=True, batch_first=True), flat, d(2, 3, 3))
    module("LSTM", "layers", nn.LSTM(3, 2, num_layers=2), flat, d(3, 2, 3))
    module("LSTM", "no_bias_one", nn.LSTM(3, 2, bias=False), flat, d(3, 3))
    module("LSTM", "state", nn.LSTM(3, 2), lambda m, x, h, c: flat(m, x, (h, c)), d(3, 2, 3), d(1, 2, 2), d(1, 2, 2))
    module("RNNCell", "plain", nn.RNNCell(3, 2), lambda m, x, h: m(x, h), d(2, 3), d(2, 2))
    module("GRUCell", "no_state", nn.GRUCell(3, 2), lambda m, x: m(x), d(2, 3))
    module("LSTMCell", "plain", nn.LSTMCell(3, 2), lambda m, x, h, c: m(x, (h, c)), d(2, 3), d(2, 2), d(2, 2))
    self = lambda m, x: m(x, x, x)
    module("MultiheadAttention", "self", nn.MultiheadAttention(4, 2), self, d(3, 2, 4))
    module("MultiheadAttention", "batch_first", nn.MultiheadAttention(4, 2, batch_first=True), self, d(2, 3, 4))
    module("MultiheadAttention", "other_sizes", nn.MultiheadAttention(4, 2, kdim=3, vdim=2, add_bias_kv=True, bias=False),
           lambda m, q, k, v: m(q, k, v), d(2, 2, 4), d(3, 2, 3), d(3, 2, 2))
    layer = dict(d_model=4, nhead=2, dim_feedforward=3)
    plain = lambda m, *x: m(*x)
    causal = lambda m, x: m(x, nn.Transformer.generate_square_subsequent_mask(x.shape[1]), is_causal=True)
    module("TransformerEncoderLayer", "plain", nn.TransformerEncoderLayer(**layer), plain, d(3, 2, 4))
    module("TransformerEncoderLayer", "norm_first_gelu_causal",
           nn.TransformerEncoderLayer(**layer, norm_first=True, activation="gelu", batch_first=True), causal, d(2, 3, 4))
    module("TransformerDecoderLayer", "plain", nn.TransformerDecoderLayer(**layer), plain, d(3, 2, 4), d(2, 2, 4))
    module("TransformerDecoderLayer", "norm_first", nn.TransformerDecoderLayer(**layer, norm_first=True), plain, d(3, 2, 4), d(2, 2, 4))
    module("TransformerEncoder", "final_norm", nn.TransformerEncoder(nn.TransformerEncoderLayer(**layer), 2, nn.LayerNorm(4)), plain,
           d(3, 2, 4))
    module("Transformer", "plain", nn.Transformer(4, 2, 1, 1, 3), plain, d(3, 2, 4), d(2, 2, 4))
