#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes amp.txt: what PyTorch's autocast and GradScaler (CPU) make of small models.

One record per line: NAME DTYPE SIZES ... | VALUES ...; inputs and weights are those of seq() below, which the test computes too.
"""
import pathlib

import torch
import torch.nn.functional as F

HERE = pathlib.Path(__file__).resolve().parent
NAMES = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16", torch.bool: "bool", torch.int64: "i64"}
lines = []


def record(name, t):
    words = " ".join("%.9g" % v for v in t.detach().double().reshape(-1).tolist())
    lines.append(" ".join([name, NAMES[t.dtype]] + [str(s) for s in t.shape]) + " | " + words)


def seq(*sizes, salt=0.0):
    n = 1
    for s in sizes:
        n *= s
    return torch.sin(torch.arange(n, dtype=torch.float64) * 1.3 + salt).reshape(sizes).float()


def mlp(dtype):
    name = NAMES[dtype]
    w1, b1 = seq(5, 4, salt=0.1).requires_grad_(), seq(5, salt=0.2).requires_grad_()
    w2, b2 = seq(3, 5, salt=0.3).requires_grad_(), seq(3, salt=0.4).requires_grad_()
    x, y = seq(6, 4, salt=0.5), seq(6, 3, salt=0.6)
    with torch.autocast("cpu", dtype=dtype):
        h = F.linear(x, w1, b1)
        a = torch.relu(h)
        z = F.linear(a, w2, b2)
        loss = F.mse_loss(z, y)
        with torch.autocast("cpu", enabled=False):
            full = F.linear(a.float(), w2, b2)
        joined = torch.cat([z, y])
        twice = F.linear(F.linear(x, w1, b1), w1.t())
    loss.backward()
    for key, t in dict(h=h, a=a, z=z, loss=loss, full=full, joined=joined, twice=twice, w1=w1.grad, b1=b1.grad, w2=w2.grad,
                       b2=b2.grad).items():
        record(f"{name}.{key}", t)


def classes(dtype):
    name = NAMES[dtype]
    w = seq(3, 4, salt=0.7).requires_grad_()
    image, kernel = seq(1, 2, 5, 5, salt=0.8), seq(3, 2, 3, 3, salt=0.9).requires_grad_()
    norm, shift = seq(3, salt=1.0).requires_grad_(), seq(3, salt=1.1).requires_grad_()
    with torch.autocast("cpu", dtype=dtype):
        logits = F.linear(seq(6, 4, salt=0.5), w)
        loss = F.cross_entropy(logits, torch.tensor([0, 1, 2, 2, 1, 0]))
        maps = F.conv2d(image, kernel, padding=1)
        normed = F.batch_norm(maps, None, None, norm, shift, training=True)
        layered = F.layer_norm(logits, (3,), norm, shift)
        heads = F.softmax(torch.bmm(seq(2, 3, 4), seq(2, 4, 3, salt=2.0)), -1)
        product = torch.prod(heads, -1)
    (loss + normed.float().square().mean() + layered.float().square().mean()).backward()
    for key, t in dict(logits=logits, ce=loss, maps=maps, normed=normed, layered=layered, heads=heads, product=product, w=w.grad, norm=norm.grad,
                       shift=shift.grad).items():
        record(f"{name}.{key}", t)


def main():
    for dtype in (torch.bfloat16, torch.float16):
        mlp(dtype)
        classes(dtype)
    note = "# PyTorch %s; made by make_amp.py, see there for the format.\n" % torch.__version__
    (HERE / "amp.txt").write_text(note + "\n".join(lines) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
