# SPDX-License-Identifier: Apache-2.0
"""The fused optimiser steps, against torch.optim with the same state. tests/data/optim has whole trajectories."""
import torch

F64 = torch.float64


def sgd(options):
    def step(param, grad, buffer):
        param.requires_grad_()
        param.grad = grad
        optimizer = torch.optim.SGD([param], **options)
        if buffer is not None:
            optimizer.state[param]["momentum_buffer"] = buffer
        optimizer.step()
        return param.detach()
    return step


def adam(kind, options, steps_before):
    def step(param, grad, exp_avg, exp_avg_sq):
        param.requires_grad_()
        param.grad = grad
        optimizer = kind([param], **options)
        optimizer.state[param] = {"step": torch.tensor(float(steps_before)), "exp_avg": exp_avg, "exp_avg_sq": exp_avg_sq}
        optimizer.step()
        return param.detach()
    return step


def cases(w):
    fixed = {"grad": False, "layouts": "contiguous"}  # parameters and state are contiguous
    for label, dtype, sizes, lr, momentum, dampening, decay, nesterov in [
            ("plain", torch.float32, (3, 4), 0.1, 0.0, 0.0, 0.0, False),
            ("decay", F64, (5,), 0.1, 0.0, 0.0, 0.2, False),
            ("momentum", torch.float32, (2, 3), 0.05, 0.9, 0.0, 0.01, False),
            ("dampening", F64, (2, 3), 0.05, 0.9, 0.25, 0.0, False),
            ("nesterov", F64, (7,), 0.05, 0.8, 0.0, 0.1, True)]:
        buffer = w.randn(*sizes, dtype=dtype) if momentum else None
        options = dict(lr=lr, momentum=momentum, dampening=dampening, weight_decay=decay, nesterov=nesterov)
        w.case("sgd_step_", label, sgd(options), [w.randn(*sizes, dtype=dtype), w.randn(*sizes, dtype=dtype), buffer],
               [("float", lr), ("float", momentum), ("float", dampening), ("float", decay), ("bool", nesterov)], **fixed)
    for label, kind, dtype, before, decay in [("first", torch.optim.Adam, torch.float32, 0, 0.0),
                                              ("later", torch.optim.Adam, F64, 9, 0.0),
                                              ("decay", torch.optim.Adam, F64, 4, 0.3),
                                              ("decoupled", torch.optim.AdamW, F64, 4, 0.3),
                                              ("decoupled_f32", torch.optim.AdamW, torch.float32, 2, 0.1)]:
        lr, beta1, beta2, eps = 0.02, 0.85, 0.95, 1e-6
        state = [torch.zeros(3, 4, dtype=dtype)] * 2
        if before:
            state = [w.randn(3, 4, dtype=dtype), w.rand(3, 4, dtype=dtype)]
        options = dict(lr=lr, betas=(beta1, beta2), eps=eps, weight_decay=decay)
        w.case("adam_step_", label, adam(kind, options, before),
               [w.randn(3, 4, dtype=dtype), w.randn(3, 4, dtype=dtype)] + state,
               [("float", lr), ("float", beta1), ("float", beta2), ("float", eps), ("float", decay),
                ("float", 1 - beta1 ** (before + 1)), ("float", 1 - beta2 ** (before + 1)),
                ("bool", kind is torch.optim.AdamW)], **fixed)
