# SPDX-License-Identifier: Apache-2.0
"""PyTorch draws other numbers, so these come from the independent Philox of cases_random.py and from the definitions in
engine/cpu/random_draws.h."""
import math

import torch

import cases_random as base

F64 = torch.float64
SEED = 0x1234567890ABCDEF


def uniforms(seed, x):
    return base.uniforms(seed, x.numel(), x.dtype)[:x.numel()]


def put(x, values):
    """values, row-major, written into x."""
    return x.copy_(torch.tensor(values, dtype=F64).reshape(x.shape))


def pairs(seed, n):
    """Two 53-bit uniform numbers an element, from four words."""
    u = base.uniforms(seed, 2 * n, F64)
    return list(zip(u[0::2], u[1::2]))[:n]


def poisson(rate, u, v):
    if rate == 0:
        return 0.0
    if rate > 1e8:
        z = math.sqrt(-2 * math.log(1 - u)) * math.cos(2 * math.pi * v)
        return max(0.0, math.floor(rate + math.sqrt(rate) * z + 0.5))
    mode = math.floor(rate)
    peak = math.exp(mode * math.log(rate) - rate - math.lgamma(mode + 1))
    up, p_up, down, p_down = mode, peak, mode, peak
    u -= peak
    while u >= 0 and (p_up > 0 or p_down > 0):
        up += 1
        p_up *= rate / up
        if u < p_up:
            return float(up)
        u -= p_up
        if down == 0:
            p_down = 0
            continue
        p_down *= down / rate
        down -= 1
        if u < p_down:
            return float(down)
        u -= p_down
    return float(mode)


def multinomial(seed, weights, samples, replacement):
    rows = weights.double().reshape(-1, weights.shape[-1]).tolist()
    n = len(rows[0])
    per_row = samples if replacement else n
    u = base.uniforms(seed, len(rows) * per_row, F64)
    result = []
    for r, row in enumerate(rows):
        draws = u[r * per_row:(r + 1) * per_row]
        if replacement:
            sums = []
            for value in row:
                sums.append((sums[-1] if sums else 0.0) + value)
            result += [next(i for i, s in enumerate(sums) if s > d * sums[-1]) for d in draws]
        else:
            keys = [(-math.log(1 - d) / value if value > 0 else math.inf) for d, value in zip(draws, row)]
            result += sorted(range(n), key=lambda i: (keys[i], i))[:samples]
    return torch.tensor(result, dtype=torch.int64).reshape(*weights.shape[:-1], samples)


def randint(seed, low, high, sizes, dtype):
    n = math.prod(sizes)
    w = base.words(seed, 2 * n)
    values = [low + ((w[2 * i] << 32 | w[2 * i + 1]) * (high - low) >> 64) for i in range(n)]
    return torch.tensor(values, dtype=torch.int64).reshape(sizes).to(dtype)


def in_place(w):
    samples = [("matrix", w.randn(2, 5)), ("float64", w.randn(3, dtype=F64)), ("empty", w.randn(0)),
               ("zero_dim", w.randn(1).reshape(()))]
    for label, x in samples:
        floats = lambda *v: [("float", float(a)) for a in v]
        w.case("uniform_", label, lambda t: put(t, [-1.5 + 3.5 * u for u in uniforms(SEED, t)]), [x], floats(-1.5, 2.0), seed=SEED)
        w.case("normal_", label, lambda t: put(t, (base.randn(SEED, t.shape, F64 if t.dtype == F64 else torch.float32).double()
                                                   * 2.5 + 0.5).reshape(-1).tolist()),
               [x], floats(0.5, 2.5), seed=SEED, tol=2e-6)
        w.case("exponential_", label, lambda t: put(t, [-math.log(1 - u) / 2.5 for u in uniforms(SEED, t)]), [x], floats(2.5),
               seed=SEED)
        w.case("bernoulli_", label, lambda t: put(t, [float(v * 2.0**-32 < 0.3) for v in base.words(SEED, t.numel())]), [x],
               floats(0.3), seed=SEED)
        w.case("random_", label, lambda t: t.copy_(randint(SEED, -5, 9, t.shape, t.dtype)), [x], [("int", -5), ("int", 9)], seed=SEED)
    flags = torch.zeros(7, dtype=torch.bool)
    w.case("bernoulli_", "bool", lambda t: put(t, [float(v * 2.0**-32 < 0.5) for v in base.words(3, 7)]), [flags], [("float", 0.5)],
           seed=3)
    w.case("random_", "int", lambda t: t.copy_(randint(3, 0, 10**12, t.shape, t.dtype)), [w.randint(0, 5, (2, 3))],
           [("int", 0), ("int", 10**12)], seed=3)


def cases(w):
    in_place(w)
    for low, high, sizes, dtype in [(0, 10, (3, 4), torch.int64), (-(2**63), 2**63 - 1, (5,), torch.int64), (5, 6, (), torch.int64),
                                    (-3, 3, (2, 3), torch.float32), (0, 2, (0, 3), torch.int64)]:
        label = f"{low}_to_{high}_{len(sizes)}d".replace("-", "minus")
        w.case("randint", label, lambda a=low, b=high, s=sizes, d=dtype: randint(SEED, a, b, s, d), [],
               [("int", low), ("int", high), ("dims", list(sizes)), ("dtype", dtype)], seed=SEED)

    def normal(mean, std):
        mean, std = torch.as_tensor(mean), torch.as_tensor(std)
        dtype = torch.promote_types(mean.dtype, std.dtype)
        z = base.randn(SEED, torch.broadcast_shapes(mean.shape, std.shape), dtype)
        return (mean.double() + std.double() * z.double()).to(dtype)

    w.case("normal", "tensors", normal, [w.randn(3, 4), w.rand(3, 4)], seed=SEED, grad=False)
    w.case("normal", "broadcast", normal, [w.randn(3, 1), w.rand(4)], seed=SEED, grad=False)
    w.case("normal", "float64", normal, [w.randn(4, dtype=F64), w.rand(4, dtype=F64)], seed=SEED, grad=False)
    w.case("normal", "empty", normal, [w.randn(0), w.rand(1)], seed=SEED, grad=False)

    def draw(rates):
        u = pairs(SEED, rates.numel())
        return torch.tensor([poisson(r, *p) for r, p in zip(rates.double().reshape(-1).tolist(), u)], dtype=rates.dtype).reshape(rates.shape)

    w.case("poisson", "matrix", draw, [w.rand(3, 7, high=5.0)], seed=SEED, grad=False)
    w.case("poisson", "sizes", draw, [torch.tensor([0.0, 1e-3, 0.5, 20.0, 300.0, 800.0, 12345.5, 3e9], dtype=F64)], seed=SEED, grad=False)
    w.case("poisson", "empty", draw, [torch.zeros(0)], seed=SEED, grad=False)

    for label, weights in [("vector", w.rand(6)), ("rows", w.rand(3, 5)), ("float64", w.rand(4, dtype=F64)),
                           ("zeros", torch.tensor([0.0, 2.0, 0.0, 1.0, 3.0, 0.0]))]:
        for samples, replacement in [(3, False), (7, True), (1, False)]:
            w.case("multinomial", f"{label}_{samples}_{replacement}".lower(),
                   lambda x, s=samples, r=replacement: multinomial(SEED, x, s, r), [weights],
                   [("int", samples), ("bool", replacement)], seed=SEED, grad=False)
