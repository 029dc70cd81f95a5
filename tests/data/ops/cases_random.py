# SPDX-License-Identifier: Apache-2.0
"""PyTorch draws other numbers, so these come from an independent Philox4x32-10 (Salmon et al., SC 2011), checked below
against the vectors published with Random123."""
import math

import torch

F64 = torch.float64
MASK = 0xFFFFFFFF


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & MASK, (a >> 32) ^ c[3] ^ k[1], a & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


assert philox([0] * 4, [0] * 2) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
assert philox([MASK] * 4, [MASK] * 2) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
assert philox([0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0]) == [
    0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]


def words(seed, count):
    blocks = [philox([i & MASK, i >> 32, 0, 0], [seed & MASK, seed >> 32]) for i in range((count + 3) // 4)]
    return [v for block in blocks for v in block][:count]


def uniforms(seed, n, dtype):
    if dtype == F64:
        w = words(seed, (2 * n + 3) // 4 * 4)
        return [((w[2 * i] << 32 | w[2 * i + 1]) >> 11) * 2.0**-53 for i in range(len(w) // 2)]
    return [(v >> 8) * 2.0**-24 for v in words(seed, (n + 3) // 4 * 4)]


def rand(seed, sizes, dtype):
    n = math.prod(sizes)
    return torch.tensor(uniforms(seed, n, dtype)[:n], dtype=F64).to(dtype).reshape(sizes)


def randn(seed, sizes, dtype):
    n = math.prod(sizes)
    u = uniforms(seed, n, dtype)
    z = []
    for a, b in zip(u[0::2], u[1::2]):
        r = math.sqrt(-2 * math.log(1 - a))
        z += [r * math.cos(2 * math.pi * b), r * math.sin(2 * math.pi * b)]
    return torch.tensor(z[:n], dtype=F64).to(dtype).reshape(sizes)


def randperm(seed, n):
    w, p = words(seed, n), list(range(n))
    for i in range(n - 1, 0, -1):
        j = w[i] * (i + 1) >> 32
        p[i], p[j] = p[j], p[i]
    return torch.tensor(p, dtype=torch.int64)


def bernoulli(seed, p):
    w = words(seed, p.numel())
    flat = p.reshape(-1).tolist()
    return torch.tensor([1.0 if v * 2.0**-32 < q else 0.0 for v, q in zip(w, flat)], dtype=p.dtype).reshape(p.shape)


def cases(w):
    seed = 0x1234567890ABCDEF
    for dtype in (torch.float32, F64):
        label = str(dtype).replace("torch.", "")
        for sizes in ((2, 5), (1,), (0,), ()):
            attrs = [("dims", list(sizes)), ("dtype", dtype)]
            name = f"{label}_{'x'.join(map(str, sizes)) or 'scalar'}"
            w.case("rand", name, lambda s=sizes, d=dtype: rand(seed, s, d), [], attrs, seed=seed)
            w.case("randn", name, lambda s=sizes, d=dtype: randn(seed, s, d), [], attrs, seed=seed)
    for n in (0, 1, 2, 23):
        w.case("randperm", f"n{n}", lambda n=n: randperm(7, n), [], [("int", n)], seed=7)
    p = w.rand(3, 7)
    w.case("bernoulli", "matrix", lambda x: bernoulli(42, x), [p], seed=42)
    w.case("bernoulli", "certain", lambda x: bernoulli(42, x), [torch.tensor([0.0, 1.0, 0.0, 1.0], dtype=F64)], seed=42)
