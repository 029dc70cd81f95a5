# SPDX-License-Identifier: Apache-2.0
"""Writes trajectories.txt and schedules.txt beside itself with PyTorch (made with 1.13.1): python3 make_values.py

trajectories.txt: `case NAME KIND DTYPE key=value ...`, then `init P values`, and per step `grad STEP P values` (what the
gradient was set to) and `param STEP P values` (the parameter after the step). P numbers the parameters.
schedules.txt: `NAME lr0 lr1 ...`: the rate before the first step and after each scheduler step.
clip.txt: `grads`, `max_norm`, `total`, `clipped` lines of clip_grad_norm_.
"""
import pathlib

import torch

HERE = pathlib.Path(__file__).parent
SHAPES = [(3, 4), (5,)]
STEPS = 12


def text(tensor):
    return " ".join(repr(v) for v in tensor.detach().double().flatten().tolist())


def trajectory(out, name, kind, dtype, **options):
    generator = torch.Generator().manual_seed(7)
    params = [torch.randn(s, generator=generator, dtype=torch.float64).to(dtype).requires_grad_() for s in SHAPES]
    short = {torch.float64: "float64", torch.float32: "float32"}[dtype]
    print("case", name, kind, short, *(f"{k}={float(v)!r}" for k, v in options.items()), file=out)
    for i, p in enumerate(params):
        print("init", i, text(p), file=out)
    torch_options = dict(options)
    if "beta1" in torch_options:
        torch_options["betas"] = (torch_options.pop("beta1"), torch_options.pop("beta2"))
    if "nesterov" in torch_options:
        torch_options["nesterov"] = bool(torch_options["nesterov"])
    optimizer = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[kind](params, **torch_options)
    for step in range(STEPS):
        for i, p in enumerate(params):
            p.grad = torch.randn(p.shape, generator=generator, dtype=torch.float64).to(dtype)
            print("grad", step, i, text(p.grad), file=out)
        optimizer.step()
        for i, p in enumerate(params):
            print("param", step, i, text(p), file=out)


with open(HERE / "trajectories.txt", "w") as out:
    f64, f32 = torch.float64, torch.float32
    trajectory(out, "sgd_plain", "sgd", f64, lr=0.1)
    trajectory(out, "sgd_weight_decay", "sgd", f64, lr=0.05, weight_decay=0.1)
    trajectory(out, "sgd_momentum", "sgd", f64, lr=0.1, momentum=0.9)
    trajectory(out, "sgd_momentum_dampening", "sgd", f64, lr=0.1, momentum=0.8, dampening=0.3, weight_decay=0.02)
    trajectory(out, "sgd_nesterov", "sgd", f64, lr=0.03, momentum=0.9, nesterov=1, weight_decay=0.01)
    trajectory(out, "sgd_momentum_f32", "sgd", f32, lr=0.1, momentum=0.9, weight_decay=0.01)
    trajectory(out, "adam", "adam", f64, lr=0.01)
    trajectory(out, "adam_weight_decay", "adam", f64, lr=0.02, beta1=0.8, beta2=0.95, eps=1e-6, weight_decay=0.1)
    trajectory(out, "adam_f32", "adam", f32, lr=0.01)
    trajectory(out, "adamw", "adamw", f64, lr=0.01)
    trajectory(out, "adamw_weight_decay", "adamw", f64, lr=0.02, beta1=0.85, beta2=0.9, weight_decay=0.3)
    trajectory(out, "adamw_f32", "adamw", f32, lr=0.01, weight_decay=0.05)


def schedule(out, name, make, count=14):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.4)
    scheduler = make(optimizer)
    rates = [optimizer.param_groups[0]["lr"]]
    for _ in range(count):
        optimizer.step()
        scheduler.step()
        rates.append(optimizer.param_groups[0]["lr"])
    print(name, *(repr(r) for r in rates), file=out)


with open(HERE / "schedules.txt", "w") as out:
    lr = torch.optim.lr_scheduler
    schedule(out, "step", lambda o: lr.StepLR(o, step_size=4, gamma=0.5))
    schedule(out, "cosine", lambda o: lr.CosineAnnealingLR(o, T_max=10, eta_min=0.01))
    schedule(out, "linear", lambda o: lr.LinearLR(o, start_factor=0.25, end_factor=0.9, total_iters=8))

with open(HERE / "clip.txt", "w") as out:
    generator = torch.Generator().manual_seed(3)
    params = [torch.zeros(s, dtype=torch.float64, requires_grad=True) for s in SHAPES]
    for p in params:
        p.grad = torch.randn(p.shape, generator=generator, dtype=torch.float64)
        print("grads", text(p.grad), file=out)
    total = torch.nn.utils.clip_grad_norm_(params, 1.5)
    print("total", repr(total.item()), file=out)
    for p in params:
        print("clipped", text(p.grad), file=out)
