# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn.functional as F

aten = torch.ops.aten
MAX = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
AVG = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}
ADAPTIVE = {1: F.adaptive_avg_pool1d, 2: F.adaptive_avg_pool2d, 3: F.adaptive_avg_pool3d}
ADAPTIVE_MAX = {1: F.adaptive_max_pool1d, 2: F.adaptive_max_pool2d, 3: F.adaptive_max_pool3d}
LP = {1: F.lp_pool1d, 2: F.lp_pool2d, 3: F.lp_pool3d}


def dims(*values):
    return [("dims", list(v)) for v in values]


def backward_of(fn, x):
    """The gradient of fn at x as a function of the output's gradient, differentiable in it."""
    def run(g):
        leaf = x.clone().requires_grad_(True)
        return torch.autograd.grad(fn(leaf), leaf, g, create_graph=True)[0]
    return run


def max_pools(w):
    for rank, label, xs, kernel, stride, padding, dilation, ceil in [
            (1, "plain", (2, 2, 6), (2,), (2,), (0,), (1,), False),
            (1, "dilated_pad", (1, 2, 9), (3,), (2,), (1,), (2,), False),
            (1, "ceil", (1, 1, 7), (2,), (2,), (0,), (1,), True),
            (1, "ceil_pad", (1, 1, 5), (2,), (3,), (1,), (1,), True),
            (1, "unbatched", (2, 5), (3,), (1,), (1,), (1,), False),
            (2, "dilated", (1, 2, 5, 6), (2, 3), (1, 2), (0, 1), (2, 1), False),
            (2, "ceil", (1, 2, 5, 5), (2, 2), (2, 2), (0, 0), (1, 1), True),
            (2, "unbatched", (2, 4, 4), (2, 2), (2, 2), (0, 0), (1, 1), False),
            (3, "plain", (1, 2, 4, 2, 4), (2, 2, 2), (2, 2, 2), (0, 0, 0), (1, 1, 1), False),
            (3, "mixed", (1, 1, 4, 5, 3), (2, 3, 2), (1, 2, 1), (1, 1, 0), (2, 1, 1), True),
            (3, "unbatched", (2, 2, 3, 2), (2, 1, 2), (1, 1, 1), (0, 0, 0), (1, 1, 1), False)]:
        x = w.permutation(*xs)
        fn = lambda x: MAX[rank](x, kernel, stride, padding, dilation, ceil, True)
        w.case(f"max_pool{rank}d", label, fn, [x], dims(kernel, stride, padding, dilation) + [("bool", ceil)])
        y, where = fn(x)
        w.case(f"max_pool{rank}d_backward", label, lambda g, i: backward_of(lambda x: fn(x)[0], x)(g),
               [w.randn(*y.shape), where], dims(xs))
    for rank, label, xs, kernel, extra in [(1, "plain", (1, 2, 6), (2,), 0), (1, "larger", (2, 5), (2,), 1),
                                           (2, "plain", (1, 2, 4, 4), (2, 2), 0), (2, "larger", (2, 5, 4), (2, 2), 1),
                                           (3, "plain", (1, 1, 2, 4, 2), (2, 2, 2), 0),
                                           (3, "larger", (2, 3, 2, 2), (2, 1, 2), 1)]:
        x = w.permutation(*xs)
        y, where = MAX[rank](x, kernel, return_indices=True)
        size = [s for s in xs[-rank:]]
        unpool = {1: F.max_unpool1d, 2: F.max_unpool2d, 3: F.max_unpool3d}[rank]
        w.case(f"max_unpool{rank}d", label, lambda y, i: unpool(y, i, kernel, output_size=size), [w.randn(*y.shape), where],
               dims(size))
    for rank, label, xs, out in [(1, "uneven", (1, 2, 7), (3,)), (1, "unbatched", (2, 5), (2,)), (1, "larger", (1, 1, 3), (5,)),
                                 (2, "uneven", (1, 2, 5, 7), (3, 2)), (2, "unbatched", (1, 4, 5), (2, 2)),
                                 (3, "uneven", (1, 1, 3, 5, 4), (2, 3, 2)), (3, "unbatched", (1, 2, 3, 4), (1, 2, 2))]:
        w.case(f"adaptive_max_pool{rank}d", label, lambda x: ADAPTIVE_MAX[rank](x, out, return_indices=True),
               [w.permutation(*xs)], dims(out))


def avg_pools(w):
    for rank, label, xs, kernel, stride, padding, ceil, include, divisor in [
            (1, "plain", (2, 2, 6), (2,), (2,), (0,), False, True, None),
            (1, "ceil_pad", (1, 2, 6), (3,), (2,), (1,), True, True, None),
            (1, "without_pad", (1, 2, 6), (3,), (2,), (1,), True, False, None),
            (1, "unbatched", (2, 5), (3,), (1,), (1,), False, True, None),
            (2, "ceil", (1, 2, 5, 6), (2, 3), (2, 2), (1, 1), True, True, None),
            (2, "without_pad", (1, 2, 5, 5), (3, 2), (2, 1), (1, 1), False, False, None),
            (2, "divisor", (1, 1, 5, 4), (2, 2), (2, 1), (1, 0), True, False, 3),
            (2, "unbatched", (2, 4, 4), (2, 2), (2, 2), (0, 0), False, True, None),
            (3, "plain", (1, 2, 4, 2, 4), (2, 2, 2), (2, 2, 2), (0, 0, 0), False, True, None),
            (3, "ceil_without_pad", (1, 1, 4, 5, 3), (2, 3, 2), (2, 2, 2), (1, 1, 0), True, False, None),
            (3, "divisor_unbatched", (1, 3, 3, 3), (2, 2, 1), (1, 2, 1), (0, 1, 0), False, True, 5)]:
        if rank == 1:
            fn = lambda x: F.avg_pool1d(x, kernel, stride, padding, ceil, include)
        else:
            fn = lambda x: AVG[rank](x, kernel, stride, padding, ceil, include, divisor)
        params = dims(kernel, stride, padding) + [("bool", ceil), ("bool", include), ("int", divisor or 0)]
        x = w.randn(*xs)
        w.case(f"avg_pool{rank}d", label, fn, [x], params, tol="2e-6")
        w.case(f"avg_pool{rank}d_backward", label, backward_of(fn, x), [w.randn(*fn(x).shape)], dims(xs) + params, tol="2e-6")
    for rank, label, xs, out in [(1, "uneven", (1, 2, 7), (3,)), (1, "unbatched", (2, 5), (2,)), (1, "larger", (1, 1, 3), (5,)),
                                 (2, "unbatched", (2, 4, 5), (2, 3)), (3, "uneven", (1, 1, 3, 5, 4), (2, 3, 2)),
                                 (3, "unbatched", (1, 2, 3, 4), (1, 2, 2))]:
        fn = lambda x: ADAPTIVE[rank](x, out)
        size = [("int", out[0]), ("int", out[1])] if rank == 2 else dims(out)
        x = w.randn(*xs)
        w.case(f"adaptive_avg_pool{rank}d", label, fn, [x], size, tol="2e-6")
        w.case(f"adaptive_avg_pool{rank}d_backward", label, backward_of(fn, x), [w.randn(*fn(x).shape)], dims(xs), tol="2e-6")
    for rank, label, p, xs, kernel, stride, ceil in [
            (1, "l2", 2.0, (1, 2, 6), (2,), (2,), False), (1, "l3_ceil", 3.0, (2, 5), (2,), (2,), True),
            (2, "l2", 2.0, (1, 2, 4, 5), (2, 3), (2, 1), False), (2, "l1", 1.0, (2, 3, 4), (2, 2), (1, 2), False),
            (3, "l2", 2.0, (1, 1, 3, 2, 4), (2, 2, 2), (1, 1, 2), False)]:
        x = w.rand(*xs, low=0.2, high=2.0)
        w.case(f"lp_pool{rank}d", label, lambda x: LP[rank](x, p, kernel if rank > 1 else kernel[0], stride if rank > 1 else stride[0], ceil), [x],
               [("float", p)] + dims(kernel, stride) + [("bool", ceil)], tol="1e-5")


def cases(w):
    max_pools(w)
    avg_pools(w)
