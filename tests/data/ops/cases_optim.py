# SPDX-License-Identifier: Apache-2.0
"""The fused optimiser steps, against torch.optim with the same state. tests/data/optim has whole trajectories."""
import torch

F32, F64 = torch.float32, torch.float64
FIXED = {"grad": False, "layouts": "contiguous"}  # parameters and state are contiguous


def stepper(kind, options, names, extra=None):
    """One step of an optimiser of torch.optim whose state is what the row gets after the gradient."""
    def step(param, grad, *state):
        param.requires_grad_()
        param.grad = grad
        optimizer = kind([param], foreach=False, **options)
        optimizer.state[param].update({n: s for n, s in zip(names, state) if s is not None})
        optimizer.state[param].update({n: s.clone() for n, s in (extra or {}).items()})
        optimizer.step()
        return param.detach()
    return step


def attrs(*values):
    return [("bool" if isinstance(v, bool) else "float", v) for v in values]


def randn(w, sizes, dtype):
    return w.randn(*(sizes or (1,)), dtype=dtype).reshape(sizes)


def rand(w, sizes, dtype, **limits):
    return w.rand(*(sizes or (1,)), dtype=dtype, **limits).reshape(sizes)


def steps_so_far(count):
    return torch.tensor(float(count), dtype=F64)


def sgd_cases(w):
    for label, dtype, sizes, lr, momentum, dampening, decay, nesterov, maximize in [
            ("plain", F32, (3, 4), 0.1, 0.0, 0.0, 0.0, False, False),
            ("decay", F64, (5,), 0.1, 0.0, 0.0, 0.2, False, False),
            ("momentum", F32, (2, 3), 0.05, 0.9, 0.0, 0.01, False, False),
            ("dampening", F64, (2, 3), 0.05, 0.9, 0.25, 0.0, False, False),
            ("nesterov", F64, (7,), 0.05, 0.8, 0.0, 0.1, True, False),
            ("maximize", F64, (4,), 0.05, 0.8, 0.0, 0.1, False, True),
            ("empty", F32, (0, 3), 0.1, 0.9, 0.0, 0.1, False, False),
            ("scalar", F64, (), 0.1, 0.9, 0.0, 0.1, True, True)]:
        buffer = randn(w, sizes, dtype) if momentum else None
        options = dict(lr=lr, momentum=momentum, dampening=dampening, weight_decay=decay, nesterov=nesterov, maximize=maximize)
        w.case("sgd_step_", label, stepper(torch.optim.SGD, options, ["momentum_buffer"]),
               [randn(w, sizes, dtype), randn(w, sizes, dtype), buffer],
               attrs(lr, momentum, dampening, decay, nesterov, maximize), **FIXED)


def adam_cases(w):
    for label, kind, dtype, sizes, before, decay, amsgrad, maximize in [
            ("first", torch.optim.Adam, F32, (3, 4), 0, 0.0, False, False),
            ("later", torch.optim.Adam, F64, (3, 4), 9, 0.0, False, False),
            ("decay", torch.optim.Adam, F64, (3, 4), 4, 0.3, False, False),
            ("decoupled", torch.optim.AdamW, F64, (3, 4), 4, 0.3, False, False),
            ("decoupled_f32", torch.optim.AdamW, F32, (3, 4), 2, 0.1, False, False),
            ("amsgrad", torch.optim.Adam, F64, (6,), 4, 0.1, True, False),
            ("amsgrad_decoupled", torch.optim.AdamW, F32, (2, 3), 3, 0.1, True, True),
            ("maximize", torch.optim.Adam, F64, (6,), 4, 0.1, False, True),
            ("empty", torch.optim.Adam, F32, (0,), 1, 0.1, False, False),
            ("scalar", torch.optim.AdamW, F64, (), 1, 0.1, True, False)]:
        lr, beta1, beta2, eps = 0.02, 0.85, 0.95, 1e-6
        zero = torch.zeros(sizes, dtype=dtype)
        state = [randn(w, sizes, dtype), rand(w, sizes, dtype)] if before else [zero, zero]
        state.append(rand(w, sizes, dtype) if amsgrad else None)
        options = dict(lr=lr, betas=(beta1, beta2), eps=eps, weight_decay=decay, amsgrad=amsgrad, maximize=maximize)
        decoupled = kind is torch.optim.AdamW
        names = ["exp_avg", "exp_avg_sq", "max_exp_avg_sq"]
        w.case("adam_step_", label, stepper(kind, options, names, {"step": steps_so_far(before)}),
               [randn(w, sizes, dtype), randn(w, sizes, dtype)] + state,
               attrs(lr / (1 - beta1 ** (before + 1)), beta1, beta2, eps, 0.0 if decoupled else decay,
                     1 - lr * decay if decoupled else 1.0, 1 - beta2 ** (before + 1), maximize), **FIXED)


def rmsprop_cases(w):
    for label, dtype, sizes, momentum, centered, decay, maximize in [
            ("plain", F32, (3, 4), 0.0, False, 0.0, False), ("decay", F64, (5,), 0.0, False, 0.2, False),
            ("momentum", F64, (2, 3), 0.8, False, 0.0, False), ("centered", F64, (2, 3), 0.0, True, 0.1, False),
            ("both", F32, (6,), 0.9, True, 0.01, True), ("empty", F32, (0, 2), 0.9, True, 0.0, False),
            ("scalar", F64, (), 0.5, False, 0.1, True)]:
        lr, alpha, eps = 0.03, 0.9, 1e-6
        state = [rand(w, sizes, dtype, low=0.5) + 1,
                 randn(w, sizes, dtype) if momentum else None,
                 rand(w, sizes, dtype, low=-0.5, high=0.5) if centered else None]
        options = dict(lr=lr, alpha=alpha, eps=eps, weight_decay=decay, momentum=momentum, centered=centered, maximize=maximize)
        w.case("rmsprop_step_", label,
               stepper(torch.optim.RMSprop, options, ["square_avg", "momentum_buffer", "grad_avg"], {"step": steps_so_far(3)}),
               [randn(w, sizes, dtype), randn(w, sizes, dtype)] + state,
               attrs(lr, alpha, eps, decay, momentum, maximize), **FIXED)


def simple_cases(w):
    shapes = [("f32", F32, (3, 4), 0.0, False), ("decay", F64, (5,), 0.2, False), ("maximize", F64, (2, 3), 0.1, True),
              ("empty", F32, (0,), 0.1, False), ("scalar", F64, (), 0.1, False)]
    for label, dtype, sizes, decay, maximize in shapes:
        def positive():
            return rand(w, sizes, dtype, low=0.1)

        def pair():
            return [randn(w, sizes, dtype), randn(w, sizes, dtype)]
        common = dict(weight_decay=decay, maximize=maximize)
        three = {"step": steps_so_far(3)}
        lr_decay = 0.1
        w.case("adagrad_step_", label, stepper(torch.optim.Adagrad, dict(lr=0.3, lr_decay=lr_decay, eps=1e-6, **common), ["sum"], three),
               pair() + [positive()], attrs(0.3 / (1 + 3 * lr_decay), decay, 1e-6, maximize), **FIXED)
        w.case("adadelta_step_", label,
               stepper(torch.optim.Adadelta, dict(lr=0.7, rho=0.8, eps=1e-4, **common), ["square_avg", "acc_delta"], three),
               pair() + [positive(), positive()], attrs(0.7, 0.8, 1e-4, decay, maximize), **FIXED)
        w.case("adamax_step_", label,
               stepper(torch.optim.Adamax, dict(lr=0.02, betas=(0.8, 0.9), eps=1e-6, **common), ["exp_avg", "exp_inf"], three),
               pair() + [randn(w, sizes, dtype), positive()],
               attrs(0.02 / (1 - 0.8 ** 4), 0.8, 0.9, 1e-6, decay, maximize), **FIXED)
        w.case("rprop_step_", label,
               stepper(torch.optim.Rprop, dict(lr=0.1, etas=(0.4, 1.3), step_sizes=(0.05, 0.9), maximize=maximize),
                       ["prev", "step_size"], three),
               pair() + [randn(w, sizes, dtype), positive()], attrs(0.4, 1.3, 0.05, 0.9, maximize), **FIXED)
        eta, mu, lambd = 0.05, 0.3, 0.01
        w.case("asgd_step_", label,
               stepper(torch.optim.ASGD, dict(lr=0.1, lambd=lambd, **common), ["ax"],
                       {"step": steps_so_far(3), "eta": torch.tensor(eta, dtype=F64), "mu": torch.tensor(mu, dtype=F64)}),
               pair() + [randn(w, sizes, dtype)], attrs(eta, lambd, mu, decay, maximize), **FIXED)
        lion_cases(w, label, dtype, sizes, decay, maximize)


def lion_cases(w, label, dtype, sizes, decay, maximize):
    """PyTorch has no Lion: the paper's algorithm, in its tensors."""
    lr, beta1, beta2 = 0.03, 0.85, 0.95

    def lion(param, grad, exp_avg):
        g = -grad if maximize else grad
        return param * (1 - lr * decay) - lr * torch.sign(beta1 * exp_avg + (1 - beta1) * g)
    state = randn(w, sizes, dtype)
    grad = randn(w, sizes, dtype)
    w.case("lion_step_", label, lion, [randn(w, sizes, dtype), grad, state], attrs(lr, beta1, beta2, 1 - lr * decay, maximize), **FIXED)


def moment_cases(w):
    beta1, beta2, eps, lr = 0.85, 0.95, 1e-6, 0.02
    for label, dtype, sizes, before, decay, decoupled, maximize in [
            ("f32", F32, (3, 4), 2, 0.0, False, False), ("decay", F64, (5,), 30, 0.2, False, False),
            ("decoupled", F64, (2, 3), 12, 0.2, True, False), ("maximize", F64, (4,), 40, 0.1, False, True),
            ("empty", F32, (0,), 3, 0.1, False, False), ("scalar", F64, (), 0, 0.1, True, True)]:
        step = before + 1
        state = [randn(w, sizes, dtype), rand(w, sizes, dtype, low=0.1)]
        inputs = [randn(w, sizes, dtype), randn(w, sizes, dtype)] + state
        options = dict(lr=lr, betas=(beta1, beta2), eps=eps, weight_decay=decay, decoupled_weight_decay=decoupled, maximize=maximize)
        names = ["exp_avg", "exp_avg_sq"]
        plain, shrink = (0.0, 1 - lr * decay) if decoupled else (decay, 1.0)
        bc2 = 1 - beta2 ** step

        product = 0.7
        mu = beta1 * (1 - 0.5 * 0.96 ** (step * 4e-3))
        after = beta1 * (1 - 0.5 * 0.96 ** ((step + 1) * 4e-3))
        rate = lr * (1 - mu) / (1 - product * mu) * bc2 ** 0.5
        rate_next = lr * after / (1 - product * mu * after) * bc2 ** 0.5
        w.case("nadam_step_", label,
               stepper(torch.optim.NAdam, options, names, {"step": steps_so_far(before), "mu_product": torch.tensor(product, dtype=F64)}),
               inputs, attrs(rate, rate_next, beta1, beta2, eps * bc2 ** 0.5, plain, shrink, maximize), **FIXED)

        limit = 2 / (1 - beta2) - 1
        length = limit - 2 * step * beta2 ** step / bc2
        size = lr / (1 - beta1 ** step)
        if length > 5:
            size *= (bc2 * (length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length)) ** 0.5
        w.case("radam_step_", label, stepper(torch.optim.RAdam, options, names, {"step": steps_so_far(before)}),
               inputs, attrs(size, beta1, beta2, eps, plain, shrink, length > 5, maximize), **FIXED)


def cases(w):
    sgd_cases(w)
    adam_cases(w)
    rmsprop_cases(w)
    simple_cases(w)
    moment_cases(w)
