# SPDX-License-Identifier: Apache-2.0
"""Writes variants.txt, lbfgs.txt and rates.txt beside itself with PyTorch (made with 2.15): python3 make_variants.py

variants.txt: `case NAME KIND DTYPE key=value ...`, then `param STEP P values`: the parameter number P before step 0 and after
each step. The gradient of element k of parameter p in step s is sin(1.3 k + 0.7 s + p) (1 + 0.1 s).
lbfgs.txt: `case NAME key=value ...`, then `point STEP loss x0 x1 ...` on Rosenbrock's function of four variables.
rates.txt: `NAME lr0 lr1 ...` as schedules.txt, over 50 steps; NAME.momentum has the momentum beside it.
"""
import math
import pathlib

import torch

torch.set_default_dtype(torch.float64)  # numbers that PyTorch keeps as tensors (mu_product, eta) in full precision
HERE = pathlib.Path(__file__).parent
SHAPES = [(2, 3), (3,)]
STEPS = 20
F32, F64 = torch.float32, torch.float64


class Lion:
    """PyTorch has none: the algorithm of the paper (Chen et al. 2023)."""

    def __init__(self, params, lr, betas=(0.9, 0.99), weight_decay=0.0, maximize=False):
        self.params, self.lr, self.betas, self.decay, self.maximize = params, lr, betas, weight_decay, maximize
        self.averages = [torch.zeros_like(p) for p in params]

    @torch.no_grad()
    def step(self):
        for p, m in zip(self.params, self.averages):
            g = -p.grad if self.maximize else p.grad
            p.mul_(1 - self.lr * self.decay)
            p.sub_(self.lr * torch.sign(self.betas[0] * m + (1 - self.betas[0]) * g))
            m.mul_(self.betas[1]).add_((1 - self.betas[1]) * g)


KINDS = dict(sgd=torch.optim.SGD, adam=torch.optim.Adam, adamw=torch.optim.AdamW, rmsprop=torch.optim.RMSprop,
             adagrad=torch.optim.Adagrad, adadelta=torch.optim.Adadelta, adamax=torch.optim.Adamax, rprop=torch.optim.Rprop,
             nadam=torch.optim.NAdam, radam=torch.optim.RAdam, lion=Lion, asgd=torch.optim.ASGD)


def text(tensor):
    return " ".join(repr(v) for v in tensor.detach().double().flatten().tolist())


def trajectory(out, name, kind, dtype=F64, **options):
    generator = torch.Generator().manual_seed(7)
    params = [torch.randn(s, generator=generator, dtype=F64).to(dtype).requires_grad_() for s in SHAPES]
    print("case", name, kind, {F64: "float64", F32: "float32"}[dtype], *(f"{k}={float(v)!r}" for k, v in options.items()), file=out)
    given = dict(options)
    if "beta1" in given:
        given["betas"] = (given.pop("beta1"), given.pop("beta2"))
    if "etaminus" in given:
        given["etas"] = (given.pop("etaminus"), given.pop("etaplus"))
        given["step_sizes"] = (given.pop("step_size_min"), given.pop("step_size_max"))
    optimizer = KINDS[kind](params, **given)
    for step in range(STEPS + 1):
        for i, p in enumerate(params):
            print("param", step, i, text(p), file=out)
            values = [math.sin(1.3 * k + 0.7 * step + i) * (1 + 0.1 * step) for k in range(p.numel())]
            p.grad = torch.tensor(values, dtype=F64).reshape(p.shape).to(dtype)
        optimizer.step()


def trajectories(out):
    trajectory(out, "rmsprop", "rmsprop", lr=0.01)
    trajectory(out, "rmsprop_f32", "rmsprop", F32, lr=0.01)
    trajectory(out, "rmsprop_all", "rmsprop", lr=0.02, alpha=0.9, eps=1e-6, weight_decay=0.1, momentum=0.8, centered=True, maximize=True)
    trajectory(out, "rmsprop_centered", "rmsprop", lr=0.01, centered=True)
    trajectory(out, "adagrad", "adagrad", lr=0.1)
    trajectory(out, "adagrad_all", "adagrad", lr=0.1, lr_decay=0.05, weight_decay=0.1, initial_accumulator_value=0.3, eps=1e-6, maximize=True)
    trajectory(out, "adagrad_f32", "adagrad", F32, lr=0.1, weight_decay=0.1)
    trajectory(out, "adadelta", "adadelta", lr=1.0)
    trajectory(out, "adadelta_all", "adadelta", lr=0.5, rho=0.8, eps=1e-4, weight_decay=0.1, maximize=True)
    trajectory(out, "adadelta_f32", "adadelta", F32, lr=1.0)
    trajectory(out, "adamax", "adamax", lr=0.02)
    trajectory(out, "adamax_all", "adamax", lr=0.02, beta1=0.8, beta2=0.9, eps=1e-5, weight_decay=0.1, maximize=True)
    trajectory(out, "adamax_f32", "adamax", F32, lr=0.02)
    trajectory(out, "rprop", "rprop", lr=0.01)
    trajectory(out, "rprop_all", "rprop", lr=0.05, etaminus=0.4, etaplus=1.4, step_size_min=0.01, step_size_max=0.2, maximize=True)
    trajectory(out, "nadam", "nadam", lr=0.02)
    trajectory(out, "nadam_all", "nadam", lr=0.02, beta1=0.8, beta2=0.9, eps=1e-5, weight_decay=0.1, momentum_decay=0.02, maximize=True)
    trajectory(out, "nadam_decoupled", "nadam", lr=0.02, weight_decay=0.1, decoupled_weight_decay=True)
    trajectory(out, "nadam_f32", "nadam", F32, lr=0.02)
    trajectory(out, "radam", "radam", lr=0.02)
    trajectory(out, "radam_all", "radam", lr=0.02, beta1=0.8, beta2=0.9, eps=1e-5, weight_decay=0.1, maximize=True)
    trajectory(out, "radam_decoupled", "radam", lr=0.02, weight_decay=0.1, decoupled_weight_decay=True)
    trajectory(out, "radam_f32", "radam", F32, lr=0.02)
    trajectory(out, "lion", "lion", lr=0.01)
    trajectory(out, "lion_all", "lion", lr=0.02, beta1=0.8, beta2=0.95, weight_decay=0.1, maximize=True)
    trajectory(out, "asgd", "asgd", lr=0.05)
    trajectory(out, "asgd_all", "asgd", lr=0.05, lambd=0.01, alpha=0.6, t0=5, weight_decay=0.1, maximize=True)
    trajectory(out, "sgd_maximize", "sgd", lr=0.05, momentum=0.9, weight_decay=0.1, maximize=True)
    trajectory(out, "adam_amsgrad", "adam", lr=0.02, weight_decay=0.1, amsgrad=True)
    trajectory(out, "adamw_amsgrad", "adamw", lr=0.02, weight_decay=0.1, amsgrad=True, maximize=True)


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def lbfgs(out, name, steps, **options):
    print("case", name, *(f"{k}={float(v == 'strong_wolfe') if isinstance(v, str) else float(v)!r}" for k, v in options.items()), file=out)
    x = torch.tensor([-1.2, 1.0, -0.5, 0.8], dtype=F64, requires_grad=True)
    optimizer = torch.optim.LBFGS([x], **options)

    def closure():
        optimizer.zero_grad()
        loss = rosenbrock(x)
        loss.backward()
        return loss
    for step in range(steps):
        loss = optimizer.step(closure)
        print("point", step, repr(loss.item()), text(x), file=out)


def rates(out, name, make, momentum=False, kind=torch.optim.SGD, step=lambda s, i: s.step(), **options):
    if kind is torch.optim.SGD:
        options.setdefault("momentum", 0.5)
    optimizer = kind([torch.zeros(1, requires_grad=True)], lr=0.4, **options)
    scheduler = make(optimizer)
    lrs, momenta = [], []
    for i in range(51):
        group = optimizer.param_groups[0]
        lrs.append(group["lr"])
        momenta.append(group["momentum"] if "momentum" in group else group["betas"][0])
        if i < 50:
            optimizer.step()
            step(scheduler, i)
    print(name, *(repr(float(r)) for r in lrs), file=out)
    if momentum:
        print(name + ".momentum", *(repr(float(m)) for m in momenta), file=out)


def all_rates(out):
    s = torch.optim.lr_scheduler
    rates(out, "step", lambda o: s.StepLR(o, 7, 0.5))
    rates(out, "multistep", lambda o: s.MultiStepLR(o, [30, 4, 4, 17], 0.3))
    rates(out, "constant", lambda o: s.ConstantLR(o, 0.25, 8))
    rates(out, "linear", lambda o: s.LinearLR(o, 0.25, 0.9, 20))
    rates(out, "exponential", lambda o: s.ExponentialLR(o, 0.93))
    rates(out, "polynomial", lambda o: s.PolynomialLR(o, 30, 2.0))
    rates(out, "cosine", lambda o: s.CosineAnnealingLR(o, 15, 0.01))
    rates(out, "restarts", lambda o: s.CosineAnnealingWarmRestarts(o, 5, 2, 0.02))
    rates(out, "lambda", lambda o: s.LambdaLR(o, lambda n: 1 / (1 + 0.1 * n)))
    rates(out, "multiplicative", lambda o: s.MultiplicativeLR(o, lambda n: 0.9 + 0.001 * n))
    rates(out, "onecycle", lambda o: s.OneCycleLR(o, 0.8, 50), momentum=True)
    rates(out, "onecycle_three", lambda o: s.OneCycleLR(o, 0.8, 60, pct_start=0.4, anneal_strategy="linear", three_phase=True),
          momentum=True, kind=torch.optim.Adam)
    rates(out, "cyclic", lambda o: s.CyclicLR(o, 0.1, 0.5, 6), momentum=True)
    rates(out, "cyclic_two", lambda o: s.CyclicLR(o, 0.1, 0.5, 4, 7, mode="triangular2"), momentum=True)
    rates(out, "cyclic_exp", lambda o: s.CyclicLR(o, 0.1, 0.5, 6, mode="exp_range", gamma=0.97, cycle_momentum=False))
    rates(out, "sequential", lambda o: s.SequentialLR(
        o, [s.LinearLR(o, 0.1, 1.0, 5), s.CosineAnnealingLR(o, 20, 0.01), s.ExponentialLR(o, 0.9)], [5, 25]))
    rates(out, "chained", lambda o: s.ChainedScheduler([s.ConstantLR(o, 0.1, 4), s.ExponentialLR(o, 0.95), s.StepLR(o, 9, 0.5)]))

    def metric(i):
        return [3, 2.5, 2.4, 2.4, 2.4, 2.4, 2.4, 2.5, 2.6, 1.0][i % 10] + (i // 10) * 0.001
    rates(out, "plateau", lambda o: s.ReduceLROnPlateau(o, factor=0.5, patience=2, cooldown=1, min_lr=0.003), step=lambda x, i: x.step(metric(i)))
    rates(out, "plateau_max", lambda o: s.ReduceLROnPlateau(o, mode="max", threshold_mode="abs", threshold=0.05, factor=0.7, patience=3),
          step=lambda x, i: x.step(metric(i)))


with open(HERE / "variants.txt", "w") as out:
    trajectories(out)
with open(HERE / "lbfgs.txt", "w") as out:
    lbfgs(out, "fixed_step", 8, lr=0.002, max_iter=6)
    lbfgs(out, "wolfe", 8, lr=1.0, max_iter=5, line_search_fn="strong_wolfe")
    lbfgs(out, "wolfe_short_history", 8, lr=0.5, max_iter=4, history_size=2, max_eval=20, line_search_fn="strong_wolfe")
with open(HERE / "rates.txt", "w") as out:
    all_rates(out)
